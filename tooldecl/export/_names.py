"""
Names from elsewhere, as every provider takes them.

Invariants:

1. A name that is safe stays as it is.
2. No two names become one, so that the mapping can be read backwards.
3. The order in which names are given changes nothing.
"""

from __future__ import annotations

import hashlib
import re

from collections import Counter
from collections.abc import Iterable

from .._meta import NAME


LONGEST = 64

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """
    Map each name to one that every provider takes, so that it can be mapped back.

    Whatever providers have no letter for becomes ``_``. Where that says too little
    (letters of another script, a long name, two names that become one), a few digits
    that are made of the whole name stand behind it.

    Args:
        names: Names of tools from elsewhere, with dots, slashes or spaces, say.

    Returns:
        The safe names by the given ones, in the order in which these were given.

    Raises:
        ValueError: A name is given twice: nobody could tell the two tools apart.
        TypeError: The names are one text, or one of them is no text.
    """
    given = _listed(names)
    plain = {name: _plain(name) for name in given}
    counts = Counter(plain.values())
    taken = {name for name in given if plain[name] == name}
    safe = {
        name: plain[name] if name in taken or counts[plain[name]] == 1 else ""
        for name in given
    }
    taken.update(safe.values())
    for name in sorted(given, key=_digest):
        if not safe[name] or (not NAME.fullmatch(safe[name])):
            safe[name] = _numbered(name, taken)
            taken.add(safe[name])

    return safe


def _listed(names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise TypeError("safe_names takes a list of names, got one text.")
    given = list(names)
    for name in given:
        text: object = name
        if not isinstance(text, str):
            raise TypeError(f"A name is a text, got {type(text).__name__}.")
    twice = sorted(name for name, count in Counter(given).items() if count > 1)
    if twice:
        raise ValueError(f"Names are given twice: {', '.join(map(repr, twice))}.")

    return given


def _plain(name: str) -> str:
    """
    Return what a name looks like without what is unsafe; "" where it says too little.
    """
    if not name.isascii():
        return ""
    plain = _UNSAFE.sub("_", name)
    if plain[:1].isdigit() or plain[:1] == "-":
        plain = f"_{plain}"

    return plain if NAME.fullmatch(plain) else ""


def _numbered(name: str, taken: set[str]) -> str:
    """
    Return a safe name that is nobody's yet.
    """
    head = _UNSAFE.sub("_", name)
    if not NAME.match(head):
        head = f"_{head}"
    digest = _digest(name)
    for digits in range(8, LONGEST):
        short = digest[:digits]
        made = f"{head[: LONGEST - 1 - len(short)]}_{short}"
        if made not in taken:
            return made

    raise ValueError(f"There is no safe name left for {name!r}.")


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
