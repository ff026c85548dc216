"""
A batch as a file: one JSON object for each call, ``{"tool", "arguments", "id"}``.

What the gate refuses it shall refuse here too: a key given twice, a number beyond all
bounds. So arguments are not decoded here but handed on as the text that they are.
"""

from __future__ import annotations

import json
import re

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from .. import ToolCall


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """
    One line of the file.

    Attributes:
        number: Its number, from 1.
        call_id: The id that was given; one made of the number, where there is none.
        call: The call that it asks for; None where it asks for none.
        text: What to refuse in the place of it, as a request without its id.
    """

    number: int
    call_id: str
    call: ToolCall | None
    text: str | bytes


@final
class _Token(str):
    """
    A piece of JSON text, as it was written.
    """

    __slots__ = ()


Members: TypeAlias = Sequence[tuple[str, object]]


@final
class _Object:
    """
    A JSON object with all of its members, also those of one name.
    """

    __slots__ = ("members",)

    def __init__(self, members: Members) -> None:
        self.members = members

    def all_of(self, name: str) -> list[object]:
        """
        Return the values of one name.
        """
        return [value for key, value in self.members if key == name]


_WHOLE = re.compile(r"-?\d{1,40}")

_DECODER = json.JSONDecoder(
    object_pairs_hook=_Object,
    parse_float=_Token,
    parse_int=_Token,
    parse_constant=_Token,
    strict=False,
)


def lines_in(content: bytes) -> list[Line]:
    """
    Read a batch; blank lines are none of it.
    """
    return [
        _line(number, line.strip(b" \t\r"))
        for number, line in enumerate(content.split(b"\n"), 1)
        if line.strip()
    ]


def _line(number: int, content: bytes) -> Line:
    call_id = f"line-{number}"
    try:
        found: object = _DECODER.decode(content.decode())
    except (ValueError, RecursionError):
        return Line(number=number, call_id=call_id, call=None, text=content)
    if not isinstance(found, _Object):
        return Line(number=number, call_id=call_id, call=None, text=content)
    ids = found.all_of("id")
    members = found.members
    if len(ids) == 1 and (given := _id_in(ids[0])) is not None:
        call_id = given or call_id
        members = [member for member in members if member[0] != "id"]
    if not found.all_of("arguments"):
        members = [*members, ("arguments", _Object(()))]
    text = _written(_Object(members))

    return Line(number=number, call_id=call_id, call=_call(members, call_id), text=text)


def _id_in(value: object) -> str | None:
    """
    Return an id that is text or a number; an empty text where it is null.
    """
    if value is None:
        return ""
    if isinstance(value, _Token) and not _WHOLE.fullmatch(value):
        return None

    return str(value) if isinstance(value, str) else None


def _call(members: Members, call_id: str) -> ToolCall | None:
    if sorted(name for name, _ in members) != ["arguments", "tool"]:
        return None
    given = dict(members)
    name, arguments = given["tool"], given["arguments"]
    if not isinstance(name, str) or isinstance(name, _Token):
        return None
    if arguments is not None and not isinstance(arguments, _Object):
        return None

    return ToolCall(str(name), _written(arguments), call_id)


def _written(value: object) -> str:
    """
    Write decoded text as it was, but for blanks between its pieces.
    """
    if isinstance(value, _Token):
        return str(value)
    if isinstance(value, _Object):
        members = (f"{json.dumps(k)}: {_written(v)}" for k, v in value.members)
        return "{" + ", ".join(members) + "}"
    if isinstance(value, list):
        items: list[object] = [*value]
        return "[" + ", ".join(map(_written, items)) + "]"

    return json.dumps(value)
