"""
Collect what is wrong with what a client is given: all of it is reported at once.
"""

from __future__ import annotations

import inspect

from collections.abc import Mapping
from typing import Any, final

from ._policy import shown
from ._state import Reducer
from .exceptions import DeclarationError


_MAPPING: Any = Mapping


@final
class Faults:
    """
    What is wrong so far.

    Attributes:
        found: The faults, in the order they were found.
    """

    def __init__(self) -> None:
        self.found: list[DeclarationError] = []

    def check(self, holds: object, rule: str, got: object) -> None:
        """
        Note that *rule* was broken, unless it holds.
        """
        if not holds:
            self.found.append(DeclarationError(f"{rule}, got {shown(got)}."))


def is_async(called: object) -> bool:
    """
    Whether what is called would have to be awaited.
    """
    call = getattr(type(called), "__call__", None)  # noqa: B004 (its kind, not whether)

    return inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(call)


def check_limit(option: str, limit: object, faults: Faults) -> None:
    """
    Check a number of characters.
    """
    faults.check(
        limit is None or (type(limit) is int and limit > 0),
        f"ToolClient({option}=...) takes characters from 1, or None",
        limit,
    )


def check_overflow(on_overflow: object, store: object, faults: Faults) -> None:
    """
    Check what is to happen beyond a limit, and what keeps the rest.
    """
    rule = "ToolClient(on_overflow=...) takes 'fail', 'truncate' or 'offload'"
    choices = ("fail", "truncate", "offload")
    faults.check(
        isinstance(on_overflow, str) and on_overflow in choices, rule, on_overflow
    )
    methods = [getattr(store, name, None) for name in ("put", "get")]
    rule = "ToolClient(store=...) takes an object with put() and get()"
    usable = all(callable(method) and not is_async(method) for method in methods)
    faults.check(store is None or (usable and not isinstance(store, type)), rule, store)


def check_slots(option: str, given: object, faults: Faults) -> None:
    """
    Check a mapping by slots.
    """
    rule = f"ToolClient({option}=...) takes a mapping with text keys"
    slots: Any = given
    if not isinstance(slots, _MAPPING):
        faults.check(False, rule, type(given))
        return
    for slot in slots:
        faults.check(isinstance(slot, str), rule, slot)


def check_reducers(given: Any, faults: Faults) -> None:
    """
    Check that each slot has a reducer.
    """
    check_slots("reducers", given, faults)
    rule = "ToolClient(reducers=...) takes a Reducer for each slot"
    for reducer in given.values() if isinstance(given, _MAPPING) else ():
        faults.check(isinstance(reducer, Reducer), rule, reducer)
