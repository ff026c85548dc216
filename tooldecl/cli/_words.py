"""
Words of others on our terminal: whatever could move the cursor is made visible.
"""

from __future__ import annotations

import json
import unicodedata


# Controls, formats (which turn the direction of the text), surrogates, not assigned,
# and the two separators that some terminals take for the end of a line.
_HOSTILE = {"Cc", "Cf", "Cs", "Cn", "Zl", "Zp"}


def plain(text: str, *, lines: bool = False) -> str:
    """
    Return *text* with every character that is not to be seen in its escaped form.

    Args:
        text: Words of others.
        lines: Let the ends of lines stand.
    """
    return "".join(
        character if _is_harmless(character, lines=lines) else _escaped(character)
        for character in text
    )


def in_json(text: str, encoding: str) -> str:
    """
    Return a JSON text that says the same and cannot do harm on a terminal.

    Args:
        text: What stands between its strings is ASCII, as `json.dumps` writes it.
        encoding: What it does not have is escaped too.
    """
    return "".join(
        character
        if _is_harmless(character, lines=True) and _is_in(encoding, character)
        else json.dumps(character)[1:-1]
        for character in text
    )


def _is_in(encoding: str, character: str) -> bool:
    if character.isascii():
        return True
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return False

    return True


def _is_harmless(character: str, *, lines: bool) -> bool:
    if character.isascii():
        return character.isprintable() or (lines and character == "\n")

    return unicodedata.category(character) not in _HOSTILE


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
