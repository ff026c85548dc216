"""
The modules that the page about executors shows, for the tests that run them.
"""

from __future__ import annotations

import importlib.util
import sys

from pathlib import Path
from types import ModuleType

from pages import fences
from source import ROOT


PAGE = ROOT / "docs" / "how-to" / "use-an-executor.md"


def text_of(name: str) -> str:
    """
    Return the text of a module that the page shows.
    """
    [text] = [f.text for f in fences(PAGE) if f.info == f"python {name}.py"]

    return text


def recipe(name: str) -> ModuleType:
    """
    Return the module itself.
    """
    found = sys.modules.get(name)
    if found is not None:
        return found
    spec = importlib.util.spec_from_loader(name, loader=None)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(text_of(name), f"{PAGE.name}:{name}.py", "exec"), vars(module))  # noqa: S102
    sys.modules[name] = module

    return module


def write(name: str, folder: Path) -> None:
    """
    Write the module to a folder, for another process to import.
    """
    (folder / f"{name}.py").write_text(f"{text_of(name)}\n", encoding="utf-8")
