"""
Hold a text to its limit: refuse it, or keep its head and its tail around a visible mark.

The limit counts characters (code points), the mark included.
"""

from __future__ import annotations

import unicodedata

from typing import final

from ._meta import Overflow
from ._records import record
from .exceptions import ResultTooLargeError


# Longer ones are no writing; looking for their ends would take as long as they are.
LONGEST_GRAPHEME = 256

_JOINER = "\u200d"
_MARKS = ("Mn", "Me", "Mc")  # combining marks, variation selectors among them
_EXTENDING = (
    ("\u1160", "\u11ff"),  # vowels and finals of Hangul written in parts
    ("\u200c", _JOINER),
    ("\U0001f3fb", "\U0001f3ff"),  # skin tones
    ("\U000e0020", "\U000e007f"),  # tags, as in the flag of Wales
)
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))


@final
@record(frozen=True, slots=True, kw_only=True)
class Fitted:
    """
    A text within its limit.

    Attributes:
        content: The text.
        truncated: Whether it was cut.
        original_size: Characters before the cut, None where there was none.
    """

    content: str
    truncated: bool = False
    original_size: int | None = None


def fit(content: str, *, tool: str, limit: int | None, overflow: Overflow) -> Fitted:
    """
    Return *content* within *limit* characters.

    Raises:
        ResultTooLargeError: It is longer and may not be cut, or the limit has no room
            for the mark and a character beside it.
    """
    size = len(content)
    if limit is None or size <= limit:
        return Fitted(content=content)
    mark = f"[text cut, {size} chars in all]"
    room = limit - len(mark)
    if overflow == "truncate":
        head = head_of(content, room - room // 2)
        tail = _tail(content, room // 2)
        if head or tail:
            cut = f"{head}{mark}{tail}"
            return Fitted(content=cut, truncated=True, original_size=size)

    raise ResultTooLargeError(tool=tool, limit=limit, size=size)


def head_of(text: str, most: int) -> str:
    """
    Return at most *most* characters from the start, up to the end of a grapheme.
    """
    for end in range(most, max(0, most - LONGEST_GRAPHEME), -1):
        if _is_boundary(text, end):
            return text[:end]

    return ""


def _tail(text: str, most: int) -> str:
    """
    Return at most *most* characters from the end, from the start of a grapheme.
    """
    first = len(text) - most
    for start in range(first, min(len(text), first + LONGEST_GRAPHEME)):
        if _is_boundary(text, start):
            return text[start:]

    return ""


def _is_boundary(text: str, place: int) -> bool:
    """
    Tell whether a text may be cut before the character at *place*.
    """
    before, after = text[place - 1], text[place]
    if after < "\u0300" and before != _JOINER:
        return not (before == "\r" and after == "\n")
    if before == _JOINER or _extends(after):
        return False
    if after in _FLAG_LETTERS:
        return _flags_before(text, place) % 2 == 0
    if "\udc00" <= after <= "\udfff":
        return not "\ud800" <= before <= "\udbff"

    return True


def _extends(character: str) -> bool:
    """
    Tell whether a character belongs to the one before it.
    """
    if unicodedata.category(character) in _MARKS:
        return True

    return any(first <= character <= last for first, last in _EXTENDING)


def _flags_before(text: str, place: int) -> int:
    """
    Count the letters of flags just before *place*: two of them make a flag.
    """
    before = text[:place]

    return place - len(before.rstrip(_FLAG_LETTERS))
