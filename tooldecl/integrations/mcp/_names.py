"""
Names and descriptions of foreign tools, brought into the form that every provider takes.
"""

from __future__ import annotations

import hashlib
import re

from collections.abc import Iterable


_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64
_MARK = 8
_LONGEST_DESCRIPTION = 1024
_CUT = " [...]"


def wire_names(names: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """
    Map each name to one that is safe, and no two to the same.

    A name that is safe stays as it is. In the others each unsafe character becomes an
    underscore; one that is too long is cut, and one that is taken by then gets a mark
    that comes from the whole of the name.
    """
    given = list(names)
    found = {name: name for name in given if _safe(name) == name}
    used = {*found.values(), *taken}
    for name in given:
        if name in found:
            continue
        wire = _safe(name)
        if wire in used:
            wire = _marked(wire, name)
        found[name] = wire
        used.add(wire)

    return found


def _safe(name: str) -> str:
    safe = _UNSAFE.sub("_", name)
    if not safe or not (safe[0].isalpha() or safe[0] == "_"):
        safe = f"_{safe}"

    return safe if len(safe) <= _LONGEST_NAME else _marked(safe, name)


def _marked(wire: str, name: str) -> str:
    mark = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_MARK]

    return f"{wire[: _LONGEST_NAME - _MARK - 1]}_{mark}"


def described(description: str | None, title: str | None, name: str) -> str:
    """
    Return a description that is not empty, no longer than providers take, and text.
    """
    for text in (description, title):
        clean = (text or "").encode(errors="replace").decode().strip()
        if clean:
            longest = _LONGEST_DESCRIPTION - len(_CUT)
            return (
                clean
                if len(clean) <= _LONGEST_DESCRIPTION
                else clean[:longest].rstrip() + _CUT
            )

    return f"The tool {name[:200]!r} of an MCP server, which says nothing about it."
