"""
What a client is built with besides its tools, checked as a whole.
"""

from __future__ import annotations

import dataclasses
import random

from collections.abc import Callable, Iterable, Mapping
from typing import Any, final

from ._budget import Budget
from ._charging import meter_of
from ._clock import Clock, SystemClock
from ._faults import (
    Faults,
    check_limit,
    check_overflow,
    check_reducers,
    check_slots,
    is_async,
)
from ._meta import Overflow
from ._meter import BudgetMeter
from ._readonly import ReadOnlyDict, frozen_mapping
from ._records import record
from ._state import Reducer
from ._stores import ResultStore
from ._strictjson import JSONLimits
from .engines import Engine, SequentialEngine
from .engines._options import check_options
from .exceptions import (
    DeclarationError,
)
from .filters._approval import Approval
from .filters._chain import Layered, check_filter
from .telemetry import Hook


@final
@record(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    The options of a client; derived clients share them.
    """

    engine: Engine
    filters: tuple[Layered, ...]
    approvals: tuple[Approval, ...]
    json_limits: JSONLimits
    result_limit: int | None
    external_limit: int | None
    on_overflow: Overflow
    store: ResultStore | None
    meter: BudgetMeter | None  # derived clients share it: they are the same run
    state: Mapping[str, Any]
    reducers: Mapping[str, Reducer]
    hooks: tuple[Hook, ...]
    stop_on: tuple[type[BaseException], ...]
    clock: Clock
    rng: Callable[[], float]
    groups: object  # whose serial groups: derived clients share them


# Typed so that checkers do not narrow to containers of unknown things.
_MAPPING: Any = Mapping
_ITERABLE: Any = Iterable
_TUPLE: Any = tuple
_NO_LISTS: Any = (str, bytes, Mapping)


def read_settings(
    *,
    engine: Any,
    filters: Any,
    json_limits: Any,
    result_limit: Any,
    on_overflow: Any,
    state: Any,
    external_limit: Any = None,
    store: Any = None,
    budget: Any = None,
    reducers: Any = None,
    hooks: Any,
    stop_on: Any,
    clock: Clock | None,
    rng: Callable[[], float] | None,
) -> tuple[Settings | None, list[DeclarationError]]:
    """
    Check and copy a client's options; return them, or None and everything that is wrong.
    """
    faults = Faults()
    _check_engine(engine, faults)
    _check_sources(clock, rng, faults)
    faults.check(
        json_limits is None or isinstance(json_limits, JSONLimits),
        "ToolClient(json_limits=...) takes a JSONLimits",
        json_limits,
    )
    check_limit("result_limit", result_limit, faults)
    check_limit("external_limit", external_limit, faults)
    check_overflow(on_overflow, store, faults)
    rule = "ToolClient(budget=...) takes a Budget"
    faults.check(budget is None or isinstance(budget, Budget), rule, budget)
    check_slots("state", state, faults)
    check_reducers({} if reducers is None else reducers, faults)
    checked_filters, approvals = _filters(filters, faults)
    checked_hooks = _hooks(hooks, faults)
    checked_types = _types(stop_on, faults)
    if faults.found:
        return None, faults.found
    clock = SystemClock() if clock is None else clock

    return (
        Settings(
            engine=SequentialEngine() if engine is None else engine,
            filters=checked_filters,
            approvals=approvals,
            json_limits=JSONLimits() if json_limits is None else json_limits,
            result_limit=result_limit,
            external_limit=external_limit,
            on_overflow=on_overflow,
            store=store,
            meter=meter_of(budget, "client", clock),
            state=frozen_mapping(state),
            reducers=ReadOnlyDict(reducers or {}),
            hooks=checked_hooks,
            stop_on=checked_types,
            clock=clock,
            rng=random.random if rng is None else rng,
            groups=object(),
        ),
        [],
    )


def hearing(settings: Settings, hooks: tuple[Hook, ...]) -> Settings:
    """
    Return *settings* with further hooks.

    Raises:
        DeclarationError: One is no hook; several faults come as one ExceptionGroup.
    """
    faults = Faults()
    added = _hooks(hooks, faults)
    if faults.found:
        raise as_one(faults.found)

    return dataclasses.replace(settings, hooks=(*settings.hooks, *added))


def _check_engine(engine: object, faults: Faults) -> None:
    """
    Check an engine as a host may have written it.
    """
    if engine is None:
        return
    if not isinstance(engine, Engine):
        faults.check(False, "ToolClient(engine=...) takes an engine", engine)
        return
    try:
        check_options(engine)
    except DeclarationError as error:
        faults.found.append(error)


def _check_sources(clock: object, rng: object, faults: Faults) -> None:
    methods = [getattr(clock, name, None) for name in ("monotonic", "sleep", "asleep")]
    faults.check(
        clock is None or all(callable(method) for method in methods),
        "ToolClient(clock=...) takes an object with monotonic(), sleep() and asleep()",
        clock,
    )
    faults.check(
        rng is None or callable(rng),
        "ToolClient(rng=...) takes a callable that gives numbers",
        rng,
    )


def listed(given: Any) -> Any:
    """
    Return what is some list as a tuple, and anything else as it is.
    """
    if isinstance(given, _ITERABLE) and not isinstance(given, _NO_LISTS):
        return tuple(given)

    return given


def asks_anybody(filters: Any) -> bool:
    """
    Whether somebody is asked among filters that were listed.
    """
    return isinstance(filters, _TUPLE) and any(
        isinstance(layer, Approval) for layer in filters
    )


def _items(given: Any, what: str, faults: Faults) -> tuple[Any, ...]:
    items = listed(given)
    if isinstance(items, _TUPLE):
        found: tuple[Any, ...] = items
        return found
    faults.check(False, f"ToolClient({what}=...) takes a list", given)

    return ()


def _filters(
    given: Any, faults: Faults
) -> tuple[tuple[Layered, ...], tuple[Approval, ...]]:
    """
    Return the layers of the onion, and apart from them those who are asked last.
    """
    checked: list[Layered] = []
    approvals: list[Approval] = []
    for candidate in _items(given, "filters", faults):
        if isinstance(candidate, Approval):
            approvals.append(candidate)
            continue
        try:
            checked.append(check_filter(candidate))
        except DeclarationError as error:
            faults.found.append(error)

    return tuple(checked), tuple(approvals)


def _hooks(given: Any, faults: Faults) -> tuple[Hook, ...]:
    hooks = _items(given, "hooks", faults)
    rule = "A hook is a callable of one event that waits for nothing"
    for hook in hooks:
        faults.check(callable(hook) and not is_async(hook), rule, hook)

    return hooks


def _types(given: Any, faults: Faults) -> tuple[type[BaseException], ...]:
    types = _items(given, "stop_on", faults)
    rule = "ToolClient(stop_on=...) takes exception types, and no StopIteration"
    for kind in types:
        faults.check(_is_exception_type(kind), rule, kind)

    return types


def _is_exception_type(value: object) -> bool:
    if not (isinstance(value, type) and issubclass(value, BaseException)):
        return False

    # Python turns these two into a RuntimeError wherever they would leave unchanged.
    return not issubclass(value, (StopIteration, StopAsyncIteration))


def as_one(faults: list[DeclarationError]) -> Exception:
    """
    Return one fault as itself, several as a group.
    """
    if len(faults) == 1:
        return faults[0]

    return ExceptionGroup(f"The client cannot be built: {len(faults)} faults.", faults)
