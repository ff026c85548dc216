"""
Read JSON so that what is let through means one thing to every parser.

The text is decoded by the standard library without hooks, which is fast, and
`_may_be_odd` looks at the outcome. Only where that finds a reason, the text is decoded
once more with every member kept, and `judge` names the fault or finds that there is
none.
The matching page is docs/reference/json-rules.md.
"""

from __future__ import annotations

import json
import math
import re
import sys

from collections.abc import Callable
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NoReturn, final

from ._jsonfaults import (
    HALF_CHARACTER,
    LARGEST_INT,
    SMALLEST_INT,
    SPACE,
    UNREADABLE_DEPTH,
    judge,
    kind_of,
    refuse,
    refuse_depth,
    syntax_error,
    too_long,
)
from ._records import record
from .exceptions import DeclarationError, MalformedJSONError


__all__ = ["JSONLimits", "loads_any", "loads_strict", "object_in", "text_of"]

DEEPEST: Final = 200  # pydantic's own reader takes no more

# Up to Python 3.11 nothing but the recursion limit keeps the decoder from using up the
# stack; a host that raised the limit would be ended by a text of brackets.
_SAFE_RECURSION = 5_000

_COLON = re.compile(r"\\u003[aA]")
_ESCAPES = re.compile(r"\\u(?:003[aA]|[dD][89a-fA-F])")  # a colon or a surrogate
# Typed so that checkers do not narrow to a dict or list of unknown things.
DICT: Any = dict
LIST: Any = list
_class_of: Callable[[object], type] = type


@final
@record(frozen=True, slots=True, kw_only=True)
class JSONLimits:
    """
    What JSON text a client reads.

    Attributes:
        max_chars: Characters of a text, checked before it is parsed.
        max_depth: Lists and objects inside of each other, the outermost counted; at
            most 200.
        control_characters: Also take line breaks, tabs and other control characters
            that stand raw in a string: JSON forbids them, some models write them.

    Raises:
        DeclarationError: A value that makes no sense.
    """

    max_chars: int = 1_000_000
    max_depth: int = 64
    control_characters: bool = False

    def __post_init__(self) -> None:
        if type(self.max_chars) is not int or self.max_chars < 1:
            self._refuse("max_chars", "a whole number from 1", self.max_chars)
        if type(self.max_depth) is not int or not 1 <= self.max_depth <= DEEPEST:
            rule = f"a whole number from 1 to {DEEPEST}"
            self._refuse("max_depth", rule, self.max_depth)
        if type(self.control_characters) is not bool:
            self._refuse("control_characters", "True or False", self.control_characters)

    def _refuse(self, field: str, rule: str, got: object) -> NoReturn:
        raise DeclarationError(f"JSONLimits({field}=...) takes {rule}, got {got!r}.")


def loads_strict(
    text: str | bytes, limits: JSONLimits, *, levels_around: int = 0
) -> dict[str, Any]:
    """
    Read one JSON object; empty, blank and ``null`` text is one without members.

    Args:
        text: What was sent.
        limits: What is read.
        levels_around: Objects around the arguments, which do not count as depth.

    Raises:
        MalformedJSONError: The text is anything else, or not every parser would read
            the same from it.
    """
    return object_in(text_of(text, limits), limits, levels_around=levels_around)


def object_in(
    text: str, limits: JSONLimits, *, levels_around: int = 0
) -> dict[str, Any]:
    """
    Read the object in a text that `text_of` approved, as `loads_strict` does.
    """
    value: Any = {}
    if text.strip(SPACE):
        value = _read(text, limits, limits.max_depth + levels_around)
    if value is None:
        return {}
    if type(value) is not DICT:
        refuse(f"an object was expected, not {kind_of(value)}", [])
    found: dict[str, Any] = value

    return found


def loads_any(text: str | bytes, limits: JSONLimits) -> object:
    """
    Read one JSON value of any kind, by the same rules; there is none in blank text.

    Raises:
        MalformedJSONError: The text is not exactly one JSON value.
    """
    return _read(text_of(text, limits), limits, limits.max_depth)


def text_of(text: str | bytes, limits: JSONLimits) -> str:
    """
    Return the text that was sent.

    Raises:
        MalformedJSONError: It is too long, not UTF-8, or starts with a byte order mark.
    """
    most = limits.max_chars
    # A character takes four bytes at most: more of them need not be decoded.
    if isinstance(text, bytes):
        text = b"".join((text,)) if type(text) is not bytes else text
        text = _decoded(text) if len(text) <= 4 * most else text
    elif type(text) is not str:
        text = str.__str__(text)
    if isinstance(text, bytes) or len(text) > most:
        raise MalformedJSONError(reason=too_long(most))
    if text.isascii():
        return text
    if text[0] == "\ufeff":
        raise MalformedJSONError(reason="a byte order mark is no JSON", offset=0)
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise MalformedJSONError(reason=HALF_CHARACTER, offset=exc.start) from None

    return text


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as exc:
        offset = len(data[: exc.start].decode())
        raise MalformedJSONError(
            reason="the text is not valid UTF-8", offset=offset
        ) from None


class _OddError(Exception):
    """
    The text holds NaN or Infinity.
    """


def _stop(_text: str) -> NoReturn:
    raise _OddError


_DECODERS = {
    raw: JSONDecoder(parse_constant=_stop, strict=not raw) for raw in (False, True)
}


def _read(text: str, limits: JSONLimits, room: int) -> Any:
    """
    Read *text*, of which `text_of` approved, and let at most *room* levels through.
    """
    body = text.strip(SPACE)
    start = 0 if body is text else len(text) - len(text.lstrip(SPACE))
    if len(body) > _SAFE_RECURSION < sys.getrecursionlimit():
        refuse_depth(body, start, room)
    try:
        value, odd = _decode(body, room, raw=limits.control_characters)
        if odd:
            refuse_depth(body, start, room)
            judge(body, raw=limits.control_characters)
    except JSONDecodeError as exc:
        # How deep the decoder gets before it gives up depends on the Python.
        refuse_depth(body[: exc.pos], start, room)
        raise syntax_error(exc, start) from None
    except RecursionError:
        refuse_depth(body, start, room)
        raise MalformedJSONError(reason=UNREADABLE_DEPTH) from None

    return value


def _decode(body: str, room: int, *, raw: bool) -> tuple[object, bool]:
    """
    Return the value and whether it needs a judge.
    """
    try:
        value, end = _DECODERS[raw].raw_decode(body)
    except JSONDecodeError:
        raise
    except (_OddError, ValueError):  # ValueError: thousands of digits
        return None, True
    if end != len(body):
        raise JSONDecodeError("Extra data", body, end)

    return value, _may_be_odd(value, body, room)


def _may_be_odd(value: object, body: str, room: int) -> bool:
    """
    Tell whether the text that became *value* needs a judge; no fault is missed.

    Where a name is given twice, one of the two members is lost, and with it its colon:
    the text then has more colons than there are members and colons in strings.
    """
    escapes = "\\" in body and _ESCAPES.search(body) is not None
    if escapes and _COLON.search(body):
        return True
    texts: list[str] = []
    members = _members_of(value, room, texts)
    if members is None:
        return True
    colons = body.count(":")
    if colons != members and colons != members + "".join(texts).count(":"):
        return True

    return escapes and not _is_unicode(value)


def _is_unicode(value: object) -> bool:
    """
    Tell whether all strings and names in *value* consist of characters.
    """
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False

    return True


def _members_of(value: Any, room: int, texts: list[str]) -> int | None:
    """
    Count the members of all objects and collect all strings; None stands for a fault.
    """
    members = 0
    level: Any = [value] if _class_of(value) in (DICT, LIST) else [[value]]
    while level and room:
        room -= 1
        deeper: list[Any] = []
        for container in level:
            values = container
            if _class_of(container) is DICT:
                members += len(container)
                values = container.values()
            for x in values:
                kind = _class_of(x)
                if kind is str:
                    texts.append(x)
                elif kind is int:
                    if not SMALLEST_INT <= x <= LARGEST_INT:
                        return None
                elif kind is DICT or kind is LIST:
                    deeper.append(x)
                elif kind is float and math.isinf(x):
                    return None
        level = deeper

    return None if level else members
