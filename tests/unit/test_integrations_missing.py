"""
An integration whose package is not installed.
"""

from __future__ import annotations

import subprocess
import sys

from pathlib import Path

import pytest

import tooldecl


@pytest.mark.parametrize(("module", "extra"), [("opentelemetry", "otel")])
def test_a_missing_package_is_named_with_its_extra(module, extra):
    """
    Whoever reads the error knows what to type.
    """
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "try:\n"
        f"    import tooldecl.integrations.{module}\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
        env={"PYTHONPATH": str(Path(tooldecl.__file__).parent.parent)},
    )

    assert (
        "tooldecl.integrations.opentelemetry needs opentelemetry-api. Install the extra "
        f'that brings it: pip install "tooldecl[{extra}]"\n'
    ) == done.stdout
