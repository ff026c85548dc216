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

    The record has the name of the file alone. Its folder is that of the module that the
    function is in; a spec may be made in another one, which is looked for from here.
    """
    name, _, line = meta.site.rpartition(":")
    if not name:
        return "", 0
    own = _file_of(sys.modules.get(meta.ref.partition(":")[0]))
    if own is not None and own.name == name:
        return _from_here(own), int(line)
    loaded = {_file_of(module) for module in list(sys.modules.values())}
    found = [file for file in loaded if file and file.name == name and _is_ours(file)]

    return _from_here(found[0]) if len(found) == 1 else name, int(line)


def _file_of(module: object) -> Path | None:
    file = getattr(module, "__file__", None)

    return Path(file) if isinstance(file, str) else None


def _is_ours(file: Path) -> bool:
    """
    Whether a file is one of the project in the current folder, and not installed there.
    """
    return file.is_relative_to(Path.cwd()) and "site-packages" not in file.parts


def _from_here(file: Path) -> str:
    here = Path.cwd()

    return str(file.relative_to(here)) if file.is_relative_to(here) else str(file)
