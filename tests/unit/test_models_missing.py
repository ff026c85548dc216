"""
Without the SDK of a provider, its model says which extra brings it.
"""

from __future__ import annotations

import os
import subprocess
import sys

from pathlib import Path

import pytest

import tooldecl


PROGRAM = """if True:
    import sys
    sys.modules[sys.argv[2]] = None
    from tooldecl import models
    made = getattr(models, sys.argv[1])
    try:
        made("m", api_key="x")
    except ModuleNotFoundError as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("model", "module", "package", "extra"),
    [
        ("OpenAIModel", "openai", "openai", "openai"),
        ("AnthropicModel", "anthropic", "anthropic", "anthropic"),
        ("GeminiModel", "google", "google-genai", "gemini"),
        ("GeminiModel", "google.genai", "google-genai", "gemini"),
    ],
)
def test_a_missing_sdk_is_named_with_its_extra(model, module, package, extra):
    """
    The module is importable without any SDK; only making a model of it needs one.
    """
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, model, module],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(Path(tooldecl.__file__).parent.parent)},
    )

    assert "" == done.stderr
    assert (
        f"{model} needs the package {package!r}, which is not installed. Install it "
        f"with: pip install 'tooldecl[{extra}]'"
    ) == done.stdout.strip()
