"""
From what a tool returned to the text for the model: JSON, never ``repr``, within its limit.

Text goes out as it is. Everything else is made into plain JSON data first, so that what
has no JSON form is named by its type.
The forms are listed in docs/reference/json-rules.md.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import math

from collections.abc import Callable, Iterable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, TypeAlias, final
from uuid import UUID

from pydantic_core import (
    PydanticSerializationError,
    SchemaSerializer,
    to_jsonable_python,
)

from ._cut import Fitted, fit
from ._jsonfaults import HALF_CHARACTER, NOT_FINITE, too_deep
from ._jsonforms import (
    DICT,
    JSON,
    LIST,
    LISTS,
    SAME_KEYS,
    SETS,
    in_order,
    settled,
    text_of,
)
from .exceptions import UnencodableResultError


__all__ = ["Fitted", "encode", "fit"]

SMALL = 10**15  # far below the digits that Python refuses to write
DEEPEST = 200  # what the strictest reader of ours takes

_MAPPING: Any = Mapping  # typed so that checkers do not narrow to unknown things
_SERIALIZER = "__pydantic_serializer__"
_TOO_DEEP = "it is too deep to be encoded"
_class_of: Callable[[object], type] = type
_name_of = type.__dict__["__name__"].__get__  # whatever a metaclass makes of the name
_AS_IS = frozenset((str, int, bool, type(None)))


def encode(value: object, tool: str) -> str:
    """
    Return the text of *value*: text as it is, everything else as JSON; never empty.

    Raises:
        UnencodableResultError: Something in it has no JSON form.
    """
    if type(value) is int and -SMALL < value < SMALL:
        return repr(value)
    text = value if type(value) is str else _Encoder(tool).text(value)
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UnencodableResultError(
                tool=tool, type_name="str", reason=HALF_CHARACTER
            ) from None

    return text or '""'


@final
class _Encoder:
    """
    Makes plain JSON data of one result; nothing in the result is changed.
    """

    __slots__ = ("_open", "_tool")

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._open: set[int] = set()  # what is being encoded: it may hold itself

    def text(self, value: object) -> str:
        """
        Return the text of the whole result.
        """
        plain = self.plain(value)
        if isinstance(plain, str) and isinstance(value, str):
            return plain
        try:
            return JSON.encode(plain)
        except ValueError:  # Python writes no more than some thousands of digits
            raise self._fault(0, "a whole number has too many digits") from None

    def plain(self, value: Any) -> Any:
        """
        Return *value* as str, int, float, bool, None, dict and list.
        """
        kind = _class_of(value)
        if kind in _AS_IS:
            return value
        try:
            if kind is dict:
                return self.members(value, value.items())
            if kind is list or kind is tuple:
                return self.items(value)
            return self._foreign(value)
        except UnencodableResultError:
            raise
        except BaseException as exc:  # the value's own code may raise anything
            fault = self._fault_of(value, exc)
            raise fault from fault.__cause__

    def items(self, value: Iterable[Any]) -> list[Any]:
        """
        Return an array.
        """
        self._enter(value)
        made = [x if type(x) in _AS_IS else self.plain(x) for x in value]
        self._open.remove(id(value))

        return made

    def members(
        self, value: object, pairs: Iterable[tuple[Any, Any]]
    ) -> dict[str, Any]:
        """
        Return an object.
        """
        self._enter(value)
        made: dict[str, Any] = {}
        for key, x in pairs:
            name = key if type(key) is str else self._name(key)
            if name in made:
                raise self._fault(value, SAME_KEYS)
            made[name] = x if type(x) in _AS_IS else self.plain(x)
        self._open.remove(id(value))

        return made

    def in_order(self, value: Iterable[Any]) -> list[Any]:
        """
        Return the array of a set.
        """
        return in_order(self.items(value))

    def number(self, value: float) -> float:
        """
        Return a float that JSON has.
        """
        if not math.isfinite(value):
            raise self._fault(value, NOT_FINITE)

        return float.__float__(value)

    def decimal(self, value: Decimal) -> str:
        """
        Return the exact digits.
        """
        if not value.is_finite():
            raise self._fault(value, NOT_FINITE)

        return str(value)

    def _enter(self, value: object) -> None:
        if id(value) in self._open:
            raise self._fault(value, "it contains itself")
        if len(self._open) == DEEPEST:
            raise self._fault(value, too_deep(DEEPEST))
        self._open.add(id(value))

    def _fault(self, value: object, reason: str) -> UnencodableResultError:
        kind = type if isinstance(value, type) else type(value)
        name: str = _name_of(kind)

        return UnencodableResultError(
            tool=self._tool, type_name=name[:80], reason=reason
        )

    def _fault_of(self, value: object, exc: BaseException) -> BaseException:
        """
        Return what to raise where the code of *value* raised *exc*.
        """
        if isinstance(exc, PydanticSerializationError) and exc.__cause__ is not None:
            exc = exc.__cause__
        if isinstance(exc, (UnencodableResultError, MemoryError, KeyboardInterrupt)):
            return exc
        reason = f"encoding it raised {type(exc).__name__}"
        if isinstance(exc, RecursionError):
            reason = _TOO_DEEP
        fault = self._fault(value, reason)
        fault.__cause__ = exc

        return fault

    def _name(self, key: object) -> str:
        """
        Return the text of a key: that of its JSON form.
        """
        plain = self.plain(key)
        if isinstance(plain, str):
            return plain
        if isinstance(plain, (DICT, LIST)):
            raise self._fault(key, "it cannot be the name of a member")

        return JSON.encode(plain)

    def _foreign(self, value: Any) -> Any:
        kind = _class_of(value)
        for types, form in _FORMS:
            if issubclass(kind, types):
                return form(self, value)
        if hasattr(kind, _SERIALIZER):
            return self._model(value)
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
            return self.members(value, [(n, getattr(value, n)) for n in names])
        if issubclass(kind, _MAPPING):
            return self.members(value, value.items())

        raise self._fault(value, "a value of this type has no JSON form")

    def _model(self, value: object) -> Any:
        """
        Return the JSON form that a pydantic model declares for itself.
        """
        self._enter(value)
        form = to_jsonable_python(
            value, by_alias=True, inf_nan_mode="constants", fallback=self.plain
        )
        serializer: SchemaSerializer = getattr(value, _SERIALIZER)
        source = serializer.to_python(
            value, mode="python", by_alias=True, warnings=False
        )
        plain = self.plain(settled(form, source, self._fault))
        self._open.remove(id(value))

        return plain


_Form: TypeAlias = Callable[[_Encoder, Any], Any]

_ADDRESSES = (
    ipaddress.IPv4Address,
    ipaddress.IPv4Interface,
    ipaddress.IPv4Network,
    ipaddress.IPv6Address,
    ipaddress.IPv6Interface,
    ipaddress.IPv6Network,
)

# The first that fits: an enum may be a text or a number as well.
_FORMS: tuple[tuple[type | tuple[type, ...], _Form], ...] = (
    (Enum, lambda encoder, value: encoder.plain(value.value)),
    (str, lambda _, value: str.__str__(value)),
    (int, lambda _, value: int.__index__(value)),
    (float, _Encoder.number),
    ((date, time, timedelta), lambda _, value: to_jsonable_python(value)),
    (Decimal, _Encoder.decimal),
    ((UUID, PurePath, *_ADDRESSES), lambda _, value: str(value)),
    ((bytes, bytearray), lambda _, value: text_of(value)),
    (LISTS, _Encoder.items),
    (SETS, _Encoder.in_order),
)
