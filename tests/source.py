"""
The package as text: what the tests about the code itself read.
"""

from __future__ import annotations

import importlib.util

from importlib.metadata import entry_points
from pathlib import Path


ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "tooldecl"

# Every module of the package by its place in it (``engines/_base.py``).
SOURCES = {
    path.relative_to(PACKAGE).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(PACKAGE.rglob("*.py"))
}

# The modules that users import from, besides the facade.
PUBLIC_MODULES = [
    "engines",
    "exceptions",
    "export",
    "filters",
    "integrations",
    "models",
    "report",
    "telemetry",
    "testing",
]


def is_found(name: str) -> bool:
    """
    Tell whether a package is there, or a module in one.
    """
    top = name.partition(".")[0]

    return bool(importlib.util.find_spec(top) and importlib.util.find_spec(name))


# In a checkout that is not installed, pytest does not find our plugin by itself.
IS_INSTALLED = any(e.name == "tooldecl" for e in entry_points(group="pytest11"))
WITH_PLUGIN = [] if IS_INSTALLED else ["-p", "tooldecl._pytest_plugin"]
