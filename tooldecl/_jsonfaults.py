"""
Name what is wrong with a JSON text, by its path or its position and in our own words.

Nothing here runs for a text in order: `_strictjson` comes here when it has a reason.
The texts are listed in docs/reference/json-rules.md.
"""

from __future__ import annotations

import json
import math
import re

from collections.abc import Sequence
from json import JSONDecodeError, JSONDecoder
from typing import Any, Final, NoReturn

from .exceptions import MalformedJSONError


SMALLEST_INT: Final = -(2**63)
LARGEST_INT: Final = 2**64 - 1
SPACE: Final = " \t\n\r"

NOT_FINITE: Final = "NaN and Infinity have no JSON form"
TOO_LARGE: Final = "a number is too large to be exchanged safely"
UNREADABLE_DEPTH: Final = "it is too deep to be read here"
HALF_CHARACTER: Final = "half of a surrogate pair stands for no character"

_SURROGATE = re.compile("[\ud800-\udfff]")
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")

_KINDS: dict[type, str] = {
    bool: "a boolean",
    dict: "an object",
    float: "a number",
    int: "a number",
    list: "an array",
    str: "a string",
    type(None): "null",
}

_BAD_ESCAPE = "Invalid \\uXXXX escape"
_EXTRA_COMMA = "a comma stands before a closing bracket"
_SYNTAX = {
    "Expecting ',' delimiter": "a comma or a closing bracket was expected",
    "Expecting ':' delimiter": "a colon was expected after the name of a member",
    "Expecting property name enclosed in double quotes": (
        "the name of a member was expected, in double quotes"
    ),
    "Expecting value": "a value was expected",
    "Invalid \\escape": "a string holds an escape that JSON does not have",
    _BAD_ESCAPE: "a string holds an escape that JSON does not have",
    "Invalid control character at": (
        "a control character (such as a line break or a tab) stands in a string; "
        "write it as an escape"
    ),
    "Unterminated string starting at": (
        "a string is not closed; the text may have been cut off"
    ),
}


def kind_of(value: object) -> str:
    """
    Say what kind of JSON value this is.
    """
    return _KINDS[type(value)]


def show_path(path: Sequence[str | int]) -> str:
    """
    Render a path as in ``$.a[0]``; long keys and long paths are cut.
    """
    shown = "$"
    for step in path:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif _PLAIN_KEY.fullmatch(step):
            shown += f".{step}"
        else:
            shown += f"[{json.dumps(step if len(step) <= 40 else step[:37] + '...')}]"

    return shown if len(shown) <= 120 else f"{shown[:80]}...{shown[-37:]}"


def refuse(reason: str, path: Sequence[str | int]) -> NoReturn:
    """
    Raise the refusal of what stands at *path*.
    """
    raise MalformedJSONError(reason=reason, path=show_path(path))


def too_long(most: int) -> str:
    """
    Say that there are more than *most* characters.
    """
    return f"the text is longer than the limit of {most} characters"


def too_deep(room: int) -> str:
    """
    Say that more than *room* lists and objects stand inside of each other.
    """
    return f"it is nested deeper than the limit of {room} levels"


def refuse_depth(body: str, start: int, room: int) -> None:
    """
    Refuse a text that is nested too deep; *start* is its offset in what was sent.
    """
    if body.count("[") + body.count("{") <= room:
        return
    depth = 0
    for match in _BRACKETS.finditer(body):
        bracket = body[match.start()]
        if bracket in "[{":
            depth += 1
        elif bracket in "]}":
            depth -= 1
        if depth > room:
            offset = start + match.start()
            raise MalformedJSONError(reason=too_deep(room), offset=offset)


def syntax_error(exc: JSONDecodeError, start: int) -> MalformedJSONError:
    """
    Put the decoder's complaint in our own words: its own change between versions.
    """
    doc, offset = exc.doc, exc.pos
    before, after = doc[:offset].rstrip(SPACE), doc[offset:].lstrip(SPACE)
    if exc.msg == "Extra data":
        reason = "there is more text after the JSON value"
        offset = len(doc) - len(after)
    elif not after or (exc.msg == _BAD_ESCAPE and len(doc) < offset + 5):
        reason = "the text ends too early; it may have been cut off"
    elif before.endswith(",") and after[0] in "]}":
        reason, offset = _EXTRA_COMMA, len(before) - 1
    else:
        # Python 3.13 has messages of its own for the comma, at the comma.
        reason = _SYNTAX.get(exc.msg, _EXTRA_COMMA)

    return MalformedJSONError(reason=reason, offset=start + offset)


class _Members(list[tuple[str, Any]]):
    """
    An object with every member that was written.
    """


class _Constant(str):
    """
    NaN, Infinity or -Infinity.
    """

    __slots__ = ()


class _HugeInt(str):
    """
    A whole number with so many digits that it need not be read.
    """

    __slots__ = ()


def _whole(text: str) -> int | _HugeInt:
    return int(text) if len(text) <= 20 else _HugeInt(text)


_LIST: Any = list  # typed so that checkers do not narrow to a list of unknown things
_DECODERS = {
    raw: JSONDecoder(
        object_pairs_hook=_Members,
        parse_constant=_Constant,
        parse_int=_whole,
        strict=not raw,
    )
    for raw in (False, True)
}


def judge(body: str, *, raw: bool) -> None:
    """
    Refuse the first fault of a text that is not nested too deep.

    Raises:
        MalformedJSONError: A fault with a path.
        JSONDecodeError: A fault of syntax.
    """
    _judge(_DECODERS[raw].decode(body), [])


def _judge(value: Any, path: list[str | int]) -> None:
    kind = value.__class__
    if kind is _Members:
        seen: set[str] = set()
        for name, inner in value:
            path.append(name)
            if name in seen:
                refuse("a member is given twice", path)
            seen.add(name)
            _judge(name, path)
            _judge(inner, path)
            path.pop()
    elif kind is _LIST:
        for index, inner in enumerate(value):
            path.append(index)
            _judge(inner, path)
            path.pop()
    elif reason := fault_of(value):
        refuse(reason, path)


def fault_of(value: Any) -> str | None:
    """
    Say why a text, a number or a constant is refused, if it is.
    """
    if isinstance(value, _Constant):
        return NOT_FINITE
    if isinstance(value, _HugeInt):
        return TOO_LARGE
    if isinstance(value, str):
        return HALF_CHARACTER if _SURROGATE.search(value) else None
    if isinstance(value, float):
        return TOO_LARGE if math.isinf(value) else None
    if isinstance(value, int) and not SMALLEST_INT <= value <= LARGEST_INT:
        return TOO_LARGE

    return None


def of_request(error: MalformedJSONError) -> MalformedJSONError:
    """
    Let an error say of a whole request what it says of arguments alone.
    """
    error.args = (str(error).replace("The arguments were", "The request was", 1),)

    return error
