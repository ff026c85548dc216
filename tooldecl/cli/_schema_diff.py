"""
What has changed between two lists of definitions.
"""

from __future__ import annotations

import difflib
import json

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ._plain import is_object


Definition: TypeAlias = Mapping[str, object]


def name_of(definition: Definition) -> str:
    """
    Return the name of a tool in any of the formats, or "" where there is none.
    """
    inner = definition.get("function", definition)
    name = inner.get("name") if is_object(inner) else None

    return name if isinstance(name, str) else ""


def differences(
    before: Sequence[Definition], after: Sequence[Definition]
) -> dict[str, list[object]]:
    """
    Return which tools came and went, and the paths at which the others changed.
    """
    old = {name_of(one): one for one in before}
    new = {name_of(one): one for one in after}
    changed = {n: paths(old[n], new[n]) for n in new if n in old and new[n] != old[n]}

    return {
        "added": [name for name in new if name not in old],
        "removed": [name for name in old if name not in new],
        "changed": [{"name": n, "paths": where} for n, where in changed.items()],
    }


def paths(old: object, new: object, at: str = "$") -> list[str]:
    """
    List where two pieces of JSON are not the same, outermost first.
    """
    if is_object(old) and is_object(new):
        found: list[str] = []
        for key in dict.fromkeys([*old, *new]):
            inside = f"{at}.{key}"
            if key in old and key in new:
                found += paths(old[key], new[key], inside)
            else:
                found.append(inside)
        return found

    return [] if json.dumps(old) == json.dumps(new) else [at]


def unified(
    before: Sequence[Definition], after: Sequence[Definition], name: str
) -> str:
    """
    Write the changes line by line, as `diff` does.
    """
    return "\n".join(
        difflib.unified_diff(_lines(before), _lines(after), name, "now", lineterm="")
    )


def _lines(shown: Sequence[Definition]) -> list[str]:
    text = json.dumps(shown, indent=2, ensure_ascii=False)

    return text.splitlines()
