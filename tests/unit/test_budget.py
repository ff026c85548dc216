"""
A budget refuses what makes no sense, and its meter counts what was spent.
"""

from __future__ import annotations

import dataclasses
import json
import sys
import threading

from datetime import timedelta
from types import MappingProxyType

import pytest

from engine_tools import VAIN
from tooldecl import Budget
from tooldecl._charging import Charge
from tooldecl._meter import BudgetMeter
from tooldecl.exceptions import (
    BudgetExceededError,
    DeclarationError,
    InvalidArgumentsError,
    NotRunError,
)
from tooldecl.testing import FakeClock


COUNTS = ("calls", "per_turn", "repeats")
NO_COUNTS = [-1, True, 1.0, "3", float("nan"), [1]]


def meter_of(level="client", clock=None, **limits):
    """
    Make a meter.
    """
    return BudgetMeter(Budget(**limits), level, clock or FakeClock())


def spend(*meters, tool="f", place=0, take=True, **arguments):
    """
    Look at one call, take what it costs, and return its charge.
    """
    charge = Charge(meters, place)
    charge.look(tool, arguments, take=take)
    charge.begin()

    return charge


def refusal_of(*meters, tool="f", **arguments):
    """
    Return why a call is refused.
    """
    with pytest.raises(BudgetExceededError) as caught:
        spend(*meters, tool=tool, **arguments)
    error = caught.value

    return error.level, error.limit_name, error.limit, error.spent


@pytest.mark.parametrize("field", COUNTS)
@pytest.mark.parametrize("value", NO_COUNTS)
def test_a_limit_that_is_no_count_is_refused(field, value):
    """
    VAL-05, VAL-06: the error names the class, the field and the rule.
    """
    with pytest.raises(DeclarationError) as caught:
        Budget(**{field: value})

    assert (
        f"Budget({field}=...) takes a whole number from 0, or None, got {value!r}."
        == str(caught.value)
    )


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ([("a", 1)], "[('a', 1)]"),
        (3, "3"),
        ({"a": -1}, "{'a': -1}"),
        ({"a": True}, "{'a': True}"),
        ({"a": None}, "{'a': None}"),
        ({1: 1}, "{1: 1}"),
    ],
)
def test_limits_of_tools_are_a_mapping_of_counts(given, shown):
    """
    VAL-05: the pair at fault is shown.
    """
    with pytest.raises(DeclarationError) as caught:
        Budget(per_tool=given)

    assert (
        "Budget(per_tool=...) takes a mapping from names of tools to whole numbers from "
        f"0, or None, got {shown}." == str(caught.value)
    )


@pytest.mark.parametrize(
    "value", [-0.1, True, "5", float("nan"), float("inf"), 10**400, timedelta(-1)]
)
def test_seconds_are_a_finite_number_from_zero(value):
    """
    VAL-02: the same rule as for every limit of time, but that there may be no time at all.
    """
    with pytest.raises(DeclarationError) as caught:
        Budget(seconds=value)

    assert str(caught.value).startswith(
        "Budget(seconds=...) takes seconds from 0, or None, got "
    )


def test_an_unknown_limit_is_pythons_own_error():
    """
    E-01: a misspelt limit would limit nothing.
    """
    with pytest.raises(TypeError):
        Budget(call=3)


@pytest.mark.parametrize("value", [timedelta(seconds=2), 2])
def test_seconds_are_kept_as_a_float(value):
    """
    Durations are seconds as float everywhere.
    """
    assert (2.0, 2.0) == (Budget(seconds=value).seconds, Budget(seconds=value).duration)


def test_limits_are_copied_and_frozen():
    """
    R148: the caller goes on using its dict.
    """
    given = {"a": 1}
    budget = Budget(per_tool=given)
    given["a"] = 2
    with pytest.raises(TypeError):
        budget.per_tool["a"] = 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.calls = 3

    assert {"a": 1} == budget.per_tool


def test_an_empty_budget_limits_nothing():
    """
    BUD-04: nothing set, no stop.
    """
    meter = meter_of()
    for _ in range(100):
        spend(meter)

    assert (100, {"f": 100}, None) == (meter.calls, meter.per_tool, meter.stopped_by)


@pytest.mark.parametrize("most", [0, 1, 3])
def test_calls_are_counted_to_the_last(most):
    """
    GATE-12, BUD-05: zero and one work, and the refusal says how many were made.
    """
    meter = meter_of(calls=most)
    for _ in range(most):
        spend(meter)

    assert ("client", "calls", most, most) == refusal_of(meter)
    assert (most, "calls") == (meter.calls, meter.stopped_by)


def test_a_limit_of_one_tool_leaves_the_others_alone():
    """
    R129: other tools go on working.
    """
    meter = meter_of("loop", per_tool={"a": 1})
    spend(meter, tool="a")

    assert ("loop", "per_tool", 1, 1) == refusal_of(meter, tool="a")
    spend(meter, tool="b")
    assert ({"a": 1, "b": 1}, "per_tool") == (meter.per_tool, meter.stopped_by)


def test_seconds_run_from_the_first_use():
    """
    BUD-03: a meter that waits for its first call spends nothing, and the refusal says how
    much time has passed.
    """
    clock = FakeClock()
    meter = meter_of(clock=clock, seconds=10)
    clock.advance(100)
    spend(meter)
    clock.advance(9.5)
    spend(meter)
    clock.advance(1.5)

    assert ("client", "seconds", 10, 11) == refusal_of(meter)
    assert (11, "seconds") == (meter.elapsed, meter.stopped_by)


def test_no_seconds_are_no_time():
    """
    Zero works: nothing may begin.
    """
    assert ("client", "seconds", 0, 0) == refusal_of(meter_of(seconds=0))


def test_equal_calls_in_a_row_are_stopped():
    """
    R128: the same tool and arguments, whatever the order of the keys.
    """
    meter = meter_of(repeats=2)
    spend(meter, a=1, b={"c": 1, "d": 2})
    before = meter.stopped_by
    spend(meter, b={"d": 2, "c": 1}, a=1)

    assert (None, "repeats") == (before, meter.stopped_by)
    assert ("client", "repeats", 2, 2) == refusal_of(meter, a=1, b={"c": 1, "d": 2})


@pytest.mark.parametrize("other", [{"tool": "g"}, {"a": 2}, {"a": "1"}, {"b": 1}])
def test_another_call_begins_another_row(other):
    """
    R128: only what follows itself repeats itself.
    """
    meter = meter_of(repeats=2)
    for arguments in ({"a": 1}, other, {"a": 1}, {"a": 1}):
        spend(meter, **arguments)

    assert (4, "repeats") == (meter.calls, meter.stopped_by)


def test_what_stopped_first_stays_readable():
    """
    R126: a host reads one reason, that of the first stop.
    """
    clock = FakeClock()
    meter = meter_of(clock=clock, calls=1, seconds=5)
    spend(meter)
    refusal_of(meter)
    clock.advance(9)
    refusal_of(meter)

    assert "calls" == meter.stopped_by


def test_all_meters_are_charged_or_none():
    """
    A call that one level refuses costs the others nothing.
    """
    client, loop = meter_of(calls=9), meter_of("loop", calls=1)
    spend(loop, client)

    assert ("loop", "calls", 1, 1) == refusal_of(client, loop)
    assert (1, 1) == (client.calls, loop.calls)


def test_a_call_is_charged_once():
    """
    E-36: a filter that runs the body again costs nothing more.
    """
    meter = meter_of(calls=2)
    charge = spend(meter)
    charge.begin()
    charge.settle(ran=True)

    assert 1 == meter.calls


@pytest.mark.parametrize("take", [True, False])
def test_what_never_began_is_given_back(take):
    """
    BUD-07: once, however often it is settled, and out of the row as well.
    """
    meter = meter_of(calls=1, repeats=1)
    charge = Charge([meter])
    charge.look("f", {}, take=take)
    during = meter.calls
    charge.settle(ran=False)
    charge.settle(ran=False)

    assert (int(take), 0, {}, None) == (
        during,
        meter.calls,
        meter.per_tool,
        meter.stopped_by,
    )
    spend(meter)


def test_what_was_followed_by_another_call_leaves_its_row_alone():
    """
    Of two calls that were looked at, the first never began: the row is the second's.
    """
    meter = meter_of(repeats=2)
    first = Charge([meter])
    first.look("f", {"a": 1}, take=True)
    spend(meter, a=2)
    first.settle(ran=False)
    spend(meter, a=2)

    assert (2, "repeats") == (meter.calls, meter.stopped_by)


def test_a_free_look_takes_nothing_yet():
    """
    Of two calls that were both let through, the one whose body begins first has it.
    """
    meter = meter_of(calls=1)
    first, second = Charge([meter]), Charge([meter])
    first.look("f", {}, take=False)
    second.look("f", {}, take=False)
    second.begin()
    with pytest.raises(BudgetExceededError):
        first.begin()
    first.settle(ran=False)

    assert 1 == meter.calls


def test_time_is_looked_at_again_before_the_body():
    """
    A call may have waited for its place until the time was over; it is given back.
    """
    clock = FakeClock()
    meter = meter_of(clock=clock, seconds=5)
    charge = Charge([meter])
    charge.look("f", {}, take=True)
    clock.advance(5)
    with pytest.raises(BudgetExceededError):
        charge.begin()
    charge.settle(ran=False)

    assert (0, "seconds") == (meter.calls, meter.stopped_by)


@pytest.mark.parametrize(
    ("most", "text"),
    [
        (0, "it is beyond the 0 calls that the client's budget allows in one turn"),
        (1, "it is beyond the 1 call that the client's budget allows in one turn"),
    ],
)
def test_what_is_beyond_a_turn_is_not_run(most, text):
    """
    R56: a call's place in its turn decides, and the text says so.
    """
    meter = meter_of(per_turn=most)
    with pytest.raises(NotRunError) as caught:
        spend(meter, place=most)

    assert (f"Tool 'f' was not run: {text}.", None) == (
        str(caught.value),
        meter.stopped_by,
    )


@pytest.mark.parametrize(
    "given", ['{"a": 1', "[" * 9_999, b"\xff", {"a": object()}, {1: 2, "a": 3}]
)
def test_what_the_gate_refuses_is_a_row_as_well(given):
    """
    R124, R128: a model that sends the same unusable call again and again is stopped,
    though none of them costs anything.
    """
    meter = meter_of(calls=1, repeats=2)
    error = InvalidArgumentsError(tool="f", problems=[("$", "no")])
    for _ in range(2):
        charge = Charge([meter])
        charge.refused("f", given, error)
        charge.settle(ran=False)

    assert (0, "repeats") == (meter.calls, meter.stopped_by)


def test_text_and_mapping_of_one_call_are_equal():
    """
    R128: what is compared is the call, not how it was written.
    """
    meter = meter_of(repeats=3)
    error = InvalidArgumentsError(tool="f", problems=[("$", "no")])
    Charge([meter]).refused("f", '{"b": 2, "a": 1}', error)
    Charge([meter]).refused("f", {"a": 1, "b": 2}, error)
    Charge([meter]).refused("f", MappingProxyType({"a": 1, "b": 2}), error)

    assert "repeats" == meter.stopped_by


def test_what_is_refused_for_another_reason_is_no_row():
    """
    A call that found the engine full may be sent again.
    """
    meter = meter_of(repeats=1)
    Charge([meter]).refused("f", {}, NotRunError(tool="f", reason="no"))
    Charge([meter]).refused(
        "", None, InvalidArgumentsError(tool="f", problems=[("$", "no")])
    )

    assert meter.stopped_by is None


def test_a_meter_goes_on_in_another_process():
    """
    BUD-07: what was spent is plain JSON; the time of the pause does not count.
    """
    clock, later = FakeClock(), FakeClock(1_000)
    meter = meter_of("loop", clock, calls=3, per_tool={"f": 2}, seconds=10, repeats=2)
    spend(meter, a=1)
    clock.advance(4)
    plain = json.loads(json.dumps(meter.to_plain()))
    other = BudgetMeter.from_plain(plain, meter.budget, "loop", later)
    spend(other, a=1)

    assert (2, {"f": 2}, 4, "repeats") == (
        other.calls,
        other.per_tool,
        other.elapsed,
        other.stopped_by,
    )
    assert (
        plain == BudgetMeter.from_plain(plain, meter.budget, "loop", later).to_plain()
    )


def test_a_meter_that_was_never_used_goes_on_unused():
    """
    Its time has not begun.
    """
    meter = meter_of(seconds=5)
    other = BudgetMeter.from_plain(
        meter.to_plain(), meter.budget, "client", FakeClock()
    )

    assert (0.0, None) == (other.elapsed, other.until)


@pytest.mark.parametrize(
    "change",
    [
        {"calls": -1},
        {"per_tool": {"a": "1"}},
        {"elapsed": "1"},
        {"row": ["a"]},
        {"row": [1, 1]},
        {"stopped_by": "turns"},
    ],
)
def test_what_is_no_meter_is_refused(change):
    """
    A suspension comes from outside: what it says was spent is not taken on trust.
    """
    plain = {**meter_of().to_plain(), **change}
    with pytest.raises(ValueError, match="This is not what a BudgetMeter had spent"):
        BudgetMeter.from_plain(plain, Budget(), "client", FakeClock())


def race(meter, threads=8, rounds=200):
    """
    Charge from several threads at once, and return how many calls were let through.
    """
    together, passed = threading.Barrier(threads), []

    def run():
        together.wait()
        for _ in range(rounds):
            try:
                spend(meter)
            except BudgetExceededError:
                continue
            passed.append(1)

    workers = [threading.Thread(target=run) for _ in range(threads)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    finally:
        sys.setswitchinterval(interval)

    return len(passed)


def test_never_one_too_many_is_let_through():
    """
    BUD-01, BUD-06: eight threads begin together and want sixteen times what there is.
    """
    meter = meter_of(calls=100)

    assert (100, 100) == (race(meter), meter.calls)


def test_locks_of_several_meters_are_taken_in_one_order():
    """
    Two calls that are charged to the same meters, given in other orders, never wait for
    each other.
    """
    first, second = meter_of(calls=10**6), meter_of("loop", calls=10**6)
    done = []

    def run(meters):
        for _ in range(300):
            spend(*meters)
        done.append(1)

    threads = [
        threading.Thread(target=run, args=(meters,), daemon=True)
        for meters in ((first, second), (second, first)) * 2
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert (4, 1200, 1200) == (len(done), first.calls, second.calls)


class NoLock:
    """
    What a meter would have that takes no lock.
    """

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        return None


class Meeting:
    """
    A clock at which two threads meet, between a look at the calls and their charge.
    """

    def __init__(self):
        self._barrier = threading.Barrier(2)
        self.met = False
        self.open = False

    def monotonic(self):
        """
        Return always the same time, once the other one is here or has not come.
        """
        if self.open:
            try:
                self._barrier.wait(VAIN)
                self.met = True
            except threading.BrokenBarrierError:
                pass

        return 0.0


@pytest.mark.parametrize(
    ("lock", "met", "passed"), [(None, False, 1), (NoLock(), True, 2)]
)
def test_looking_and_charging_are_one_step(lock, met, passed):
    """
    BUD-01: nobody looks while somebody else has looked and not charged; without the lock
    two meet there, and both are let through.
    """
    clock = Meeting()
    meter = meter_of(clock=clock, calls=2, seconds=9)
    spend(meter)
    clock.open = True
    if lock is not None:
        meter.lock = lock
    through = []

    def run():
        charge = Charge([meter])
        try:
            charge.look("f", {}, take=True)
        except BudgetExceededError:
            return
        through.append(charge)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (met, passed) == (clock.met, len(through))
