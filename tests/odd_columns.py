"""
The table of odd arguments in docs/explanation/coming-from.md, beside what is seen now.
"""

from __future__ import annotations

import importlib.util

from typing import Any

from pages import table
from source import ROOT


PAGE = ROOT / "docs" / "explanation" / "coming-from.md"


def written(heading: str) -> dict[str, str]:
    """
    Return a column of the page, by the text that was sent.
    """
    headings, *rows = table(PAGE, "arguments", headed=True)
    place = headings.index(heading)

    return {row[0].strip("`"): row[place] for row in rows}


def seen(heading: str) -> dict[str, str]:
    """
    Return what a framework does now.
    """
    path = ROOT / "bench" / "odd_json.py"
    spec = importlib.util.spec_from_file_location("odd_json", path)
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    return dict(zip(module.TEXTS, module.column(heading), strict=True))
