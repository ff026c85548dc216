"""
What the tests of the models share: every wire, whole and streamed.
"""

from __future__ import annotations

from pathlib import Path

import certifi
import pytest

from wires import WIRES


@pytest.fixture(scope="session", autouse=True)
def _one_certificate(tmp_path_factory):
    """
    Let each client read one certificate, and not all there are: nothing here is TLS, and
    reading them is most of what these tests would take.
    """
    text = Path(certifi.where()).read_text(encoding="utf-8")
    last = "-----END CERTIFICATE-----"
    one = text[text.index("-----BEGIN") : text.index(last) + len(last)]
    path = tmp_path_factory.mktemp("certificates") / "one.pem"
    path.write_text(f"{one}\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        yield


@pytest.fixture(params=WIRES)
def wire(request):
    """
    Run the test over every wire.
    """
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    """
    Run the test with whole and with streamed answers.
    """
    return request.param
