"""
Where a tool is declared, as a path that editors and code hosts can open.
"""

from __future__ import annotations

import sys

from pathlib import Path

from .. import ToolMeta


def place_of(meta: ToolMeta) -> tuple[str, int]:
    """
    Return file and line; ("", 0) for what has no source.

    The record has the name of the file alone, its folder is that of a loaded module: of
    the one that the function is in, else of any that has such a file.
    """
    name, _, line = meta.site.rpartition(":")
    if not name:
        return "", 0
    first = sys.modules.get(meta.ref.partition(":")[0])
    for module in (first, *list(sys.modules.values())):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and Path(file).name == name:
            return _from_here(Path(file)), int(line)

    return name, int(line)


def _from_here(file: Path) -> str:
    here = Path.cwd()

    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
