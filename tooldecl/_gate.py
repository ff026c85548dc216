"""
From what a model sent to arguments that a body may be run with.

The first failure ends the call, in this order: length of the text, strict JSON, known
tool, valid arguments. A mapping goes the same way: it becomes text, so that there is
one validation and not two.
The matching page is docs/explanation/the-life-of-a-call.md.
"""

from __future__ import annotations

import heapq
import math
import re

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, NoReturn, final

from ._jsonfaults import (
    LARGEST_INT,
    NOT_FINITE,
    SMALLEST_INT,
    UNREADABLE_DEPTH,
    fault_of,
    kind_of,
    of_request,
    refuse,
    too_deep,
    too_long,
)
from ._jsonforms import DICT, JSON
from ._strictjson import JSONLimits, loads_strict, object_in, text_of
from ._table import ToolEntry, ToolTable
from .exceptions import CallError, MalformedJSONError, UnknownToolError


__all__ = ["Admitted", "admit", "again", "of_request", "split_request"]

# Typed so that checkers do not narrow to containers of unknown things.
ARRAYS: Any = (list, tuple)
MAPPING: Any = Mapping

_class_of: Callable[[object], type] = type

_CONTROL = re.compile("[\0-\x1f]")

_FEW = 8
_LONGEST = 64
_NEAREST = 5
_CANDIDATES = 50


@final
@dataclass(slots=True)
class Admitted:
    """
    A call that passed the gate.

    Attributes:
        entry: The tool.
        arguments: The arguments in JSON form, a copy.
        values: What the body is called with, by parameter.
    """

    entry: ToolEntry
    arguments: dict[str, Any]
    values: dict[str, Any]


def admit(
    table: ToolTable, limits: JSONLimits, name: object, given: object
) -> Admitted:
    """
    Let a call through, or raise why not.

    Args:
        table: The tools there are.
        limits: What JSON is read.
        name: Name of the tool, as it was sent.
        given: Arguments: JSON text, a mapping in JSON form, or None.

    Raises:
        CallError: The call is refused; nothing was run.
    """
    if isinstance(given, (str, bytes)):
        text, arguments = _from_text(given, limits)
    elif given is None:
        text, arguments = "{}", {}
    else:
        text, arguments = _from_mapping(given, limits)
    entry = _entry_of(table, name)
    try:
        values = entry.validate(text, arguments)
        if entry.meta.coerce == "repair":
            # What stood in strings was read under limits of its own.
            _Copy(limits).mapping(arguments, limits.max_depth)
    except RecursionError:
        raise MalformedJSONError(reason=UNREADABLE_DEPTH) from None

    return Admitted(entry, arguments, values)


def again(admitted: Admitted) -> Admitted:
    """
    Let a call through once more, with values that no body has had in its hands.

    Raises:
        InvalidArgumentsError: The arguments do not fit any more.
    """
    entry, arguments = admitted.entry, admitted.arguments

    return Admitted(entry, arguments, entry.validate(JSON.encode(arguments), arguments))


def split_request(
    text: object, limits: JSONLimits
) -> tuple[str, dict[str, Any] | None]:
    """
    Take a whole request apart: ``{"tool": ..., "arguments": {...}}`` and no more.

    Raises:
        MalformedJSONError: It is anything else.
    """
    if not isinstance(text, (str, bytes)):
        kind = type(text).__name__
        raise MalformedJSONError(reason=f"a request is JSON text, not {kind}")
    request = loads_strict(text, limits, levels_around=1)
    for member in request:
        if member not in ("tool", "arguments"):
            refuse('a request has "tool" and "arguments" and no such member', [member])
    for member in ("tool", "arguments"):
        if member not in request:
            refuse(f'the request has no "{member}"', [])
    name, arguments = request["tool"], request["arguments"]
    if not isinstance(name, str):
        refuse(f"a string was expected, not {kind_of(name)}", ["tool"])
    if arguments is not None and not isinstance(arguments, DICT):
        refuse(f"an object was expected, not {kind_of(arguments)}", ["arguments"])

    return name, arguments


def _from_text(given: str | bytes, limits: JSONLimits) -> tuple[str, dict[str, Any]]:
    text = text_of(given, limits)
    arguments = object_in(text, limits)
    # What JSON forbids and only the switch lets through is written anew: the validator
    # has a parser of its own. So is blank text and null.
    if not arguments or (limits.control_characters and _CONTROL.search(text)):
        return JSON.encode(arguments), arguments

    return text, arguments


def _from_mapping(given: Any, limits: JSONLimits) -> tuple[str, dict[str, Any]]:
    try:
        if not isinstance(given, MAPPING):
            kind = type(given).__name__
            refuse(f"arguments are a mapping, JSON text or None, not {kind}", [])
        arguments = _Copy(limits).mapping(given, limits.max_depth)
    except (CallError, MemoryError):
        raise
    except RecursionError:
        raise MalformedJSONError(reason=UNREADABLE_DEPTH) from None
    except Exception as exc:  # the methods of a foreign mapping may raise anything
        kind = type(exc).__name__
        raise MalformedJSONError(reason=f"reading them raised {kind}") from exc

    return text_of(JSON.encode(arguments), limits), arguments


@final
class _Copy:
    """
    Copies JSON data and refuses everything else, by path.
    """

    __slots__ = ("_left", "_limits", "_path")

    def __init__(self, limits: JSONLimits) -> None:
        self._limits = limits
        # A value takes one character at least. Without this bound, data that shares
        # its parts could be without end when written out.
        self._left = limits.max_chars
        self._path: list[str | int] = []

    def mapping(self, given: Mapping[Any, Any], room: int) -> dict[str, Any]:
        self._enter(room)
        copy: dict[str, Any] = {}
        # A dict is read as one, whatever its class makes of its methods.
        items: Any = DICT.items if isinstance(given, DICT) else type(given).items
        for key, value in items(given):
            if not isinstance(key, str):
                kind = type(key).__name__
                self._refuse(f"the name of a member is a string, not {kind}")
            name = key if type(key) is str else str.__str__(key)
            self._path.append(name)
            if name in copy:
                self._refuse("a member is given twice")
            if not name.isascii() and (reason := fault_of(name)):
                self._refuse(reason)
            copy[name] = self._value(value, room - 1)
            self._path.pop()

        return copy

    def _array(self, given: Sequence[Any], room: int) -> list[Any]:
        self._enter(room)
        copy: list[Any] = []
        for index, value in enumerate(given):
            self._path.append(index)
            copy.append(self._value(value, room - 1))
            self._path.pop()

        return copy

    def _value(self, value: Any, room: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise MalformedJSONError(reason=too_long(self._limits.max_chars))
        if value is None or value is True or value is False:
            return value
        kind = _class_of(value)  # most are of two, with nothing wrong about them
        if kind is str and value.isascii():
            return value
        if kind is int and SMALLEST_INT <= value <= LARGEST_INT:
            return value
        if isinstance(value, str):
            value = str.__str__(value)
        elif isinstance(value, int):
            value = int.__index__(value)
        elif isinstance(value, float):
            value = float.__float__(value)
            if not math.isfinite(value):
                self._refuse(NOT_FINITE)
        elif isinstance(value, MAPPING):
            return self.mapping(value, room)
        elif isinstance(value, ARRAYS):
            return self._array(value, room)
        else:
            self._refuse(f"a value of type {kind.__name__} is not JSON data")
        if reason := fault_of(value):
            self._refuse(reason)

        return value

    def _enter(self, room: int) -> None:
        if not room:
            self._refuse(too_deep(self._limits.max_depth))

    def _refuse(self, reason: str) -> NoReturn:
        refuse(reason, self._path)


def _entry_of(table: ToolTable, name: object) -> ToolEntry:
    if isinstance(name, str):
        try:
            return table.entry(name)
        except KeyError:
            pass
    shown = name if isinstance(name, str) else f"<{type(name).__name__}>"

    raise UnknownToolError(name=shown, nearest=_nearest(shown, list(table)))


def _nearest(name: str, names: list[str]) -> list[str]:
    """
    Pick the names to offer, best first: all where there are few, and no more than fit.
    """
    room = 880 - len(repr(name[:80]))
    offered: list[str] = []
    for known in _most_like(name[:_LONGEST].casefold(), names):
        room -= len(known) + 4
        if room >= 0:
            offered.append(known)

    return offered


def _most_like(word: str, names: list[str]) -> list[str]:
    count = _FEW if len(names) <= _FEW else _NEAREST
    if len(names) > _CANDIDATES:
        # Comparing thousands in earnest takes too long.
        pairs = set(pairwise(word))
        names = heapq.nlargest(
            _CANDIDATES,
            names,
            key=lambda known: len(pairs.intersection(pairwise(known.casefold()))),
        )
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(word)

    def likeness(known: str) -> float:
        matcher.set_seq1(known.casefold())
        return matcher.ratio()

    return heapq.nlargest(count, names, key=likeness)
