"""
Hooks: what they are told, in which order, and that they can neither change nor break a call.
"""

from __future__ import annotations

import contextvars
import dataclasses
import logging

import pytest

from fronts import call, call_batch
from scenarios.watched_tools import add, flaky, kinds, write
from tooldecl import NotFound, Retry, ToolCall, ToolClient, ToolContext, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.filters import Approval, approve_all
from tooldecl.telemetry import (
    AttemptFailed,
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
    Progress,
    WriteConflict,
)
from tooldecl.testing import FakeClock, RecordingHook


def test_the_life_of_a_call_in_events(front):
    """
    OBS-05: started, each failed attempt, progress where it was made, finished; with the
    times of the client's own clock, which never go back.
    """
    hook, clock = RecordingHook(), FakeClock(5)
    client = ToolClient([flaky], hooks=[hook], clock=clock)
    result = call(front, client, "flaky", call_id="c1")
    started, first, failed, second, finished = hook.events

    assert [CallStarted, Progress, AttemptFailed, Progress, CallFinished] == kinds(hook)
    assert [("c1", "flaky")] * 5 == [(e.call_id, e.name) for e in hook.events]
    assert [5, 5, 5, 6, 6] == [e.at for e in hook.events]
    assert (None, result) == (started.arguments, finished.result)
    assert [(1, 2, "trying"), (2, 2, "trying")] == [
        (e.done, e.total, e.message) for e in (first, second)
    ]
    assert (1, "no route", "transient", 1) == (
        failed.attempt,
        str(failed.error),
        failed.error_class,
        failed.retry_in,
    )


@pytest.mark.parametrize(
    ("name", "arguments"), [("add", {"a": "x"}), ("add", "{"), ("nothing", None)]
)
def test_a_refused_call_has_a_beginning_and_an_end(front, name, arguments):
    """
    A dashboard that only hears of calls that ran would not see a model's mistakes.
    """
    hook = RecordingHook()
    result = call(front, ToolClient([add], hooks=[hook]), name, arguments)

    assert ([CallStarted, CallFinished], result, arguments) == (
        kinds(hook),
        hook.events[1].result,
        hook.events[0].arguments,
    )


def test_a_finding_is_no_failed_attempt(front, caplog):
    """
    GATE-10: a tool that ran well and found nothing alarms nobody.
    """

    @tool
    def look_up() -> None:
        """Find nothing."""
        raise NotFound

    hook = RecordingHook()
    result = call(front, ToolClient([look_up], hooks=[hook]), "look_up")

    assert ("not_found", [CallStarted, CallFinished], []) == (
        result.status,
        kinds(hook),
        caplog.records,
    )


def test_a_batch_is_framed(front):
    """
    OBS-05: with the conflict of its writes before its end.
    """
    hook = RecordingHook()
    client = ToolClient([write], hooks=[hook])
    call_batch(front, client, [ToolCall("write", None, i) for i in "ab"])

    assert [
        BatchStarted,
        *[CallStarted, CallFinished] * 2,
        WriteConflict,
        BatchFinished,
    ] == kinds(hook)
    assert ("x", ("a", "b")) == (hook.events[5].slot, hook.events[5].call_ids)


def test_a_hook_gets_a_copy_of_the_arguments(front):
    """
    OBS-03: a watcher is told before the gate has read them, and could rewrite the call
    under everybody's eyes.
    """
    given = {"a": 1, "b": 2}

    def meddle(event):
        if isinstance(event, CallStarted):
            event.arguments["a"] = 100

    def meddle_deep(event):
        if isinstance(event, CallStarted):
            dict.__setitem__(event.arguments, "a", 100)

    client = ToolClient([add], hooks=[meddle, meddle_deep])

    assert (3, {"a": 1, "b": 2}) == (call(front, client, "add", given).value, given)


def circle():
    """
    Make arguments that contain themselves.
    """
    made = {"a": 1}
    made["b"] = made

    return made


class Broken(dict):
    """
    Arguments that cannot be read.
    """

    def items(self):
        """
        Fail.
        """
        raise RuntimeError("locked")


@pytest.mark.parametrize("given", [circle(), Broken(a=1)], ids=["circle", "broken"])
def test_arguments_that_cannot_be_copied_are_not_shown(front, given):
    """
    The gate refuses them one step later; telling of the call must not fail first.
    """
    hook = RecordingHook()
    result = call(front, ToolClient([add], hooks=[hook]), "add", given)

    assert (None, True) == (
        hook.events[0].arguments,
        result.status in ("invalid", "ok"),
    )


def test_a_hook_that_raises_changes_nothing(front, caplog):
    """
    R131, OBS-04: at every event, and each failure is logged once with its place.
    """

    def broken(event):
        raise RuntimeError(type(event).__name__)

    good = RecordingHook()
    client = ToolClient([flaky], hooks=[broken, good], clock=FakeClock())
    result = call(front, client, "flaky")
    failures = [r for r in caplog.records if r.levelno == logging.ERROR]

    assert ("ok", 5) == (result.status, len(good.events))
    assert [
        "CallStarted",
        "Progress",
        "AttemptFailed",
        "Progress",
        "CallFinished",
    ] == [str(record.exc_info[1]) for record in failures]


@pytest.mark.parametrize("event", [CallStarted, CallFinished, AttemptFailed, Progress])
def test_a_hook_cannot_change_an_event_for_the_next_one(front, event):
    """
    OBS: all hooks are told the same.
    """
    errors = []

    def meddle(told):
        if type(told) is event:
            try:
                told.name = "other"
            except dataclasses.FrozenInstanceError as error:
                errors.append(error)

    call(front, ToolClient([flaky], hooks=[meddle], clock=FakeClock()), "flaky")

    assert errors


def test_without_hooks_nothing_is_told(front):
    """
    A body may report progress whoever listens.
    """
    assert "done" == call(front, ToolClient([flaky], clock=FakeClock()), "flaky").value


def test_several_hooks_are_told_in_order(front):
    """
    FLT-12: the first in the list first, each once for each event; nothing is registered
    anywhere else.
    """
    log = []
    hooks = [lambda e: log.append(("a", type(e))), lambda e: log.append(("b", type(e)))]
    call(front, ToolClient([add], hooks=hooks), "add", {"a": 1, "b": 2})

    assert [
        ("a", CallStarted),
        ("b", CallStarted),
        ("a", CallFinished),
        ("b", CallFinished),
    ] == log


@tool(sensitive=True)
def pay(card: str) -> str:
    """Pay."""
    return card


def test_events_tell_when_each_attempt_began_and_ended(front):
    """
    A picture of a run is drawn from them; what lies outside of the attempts was spent
    in queues, filters and waits.
    """
    hook, clock = RecordingHook(), FakeClock(5)

    def slowly(request):
        clock.advance(10)
        result = yield request
        clock.advance(100)
        return result

    @tool(retry=Retry(attempts=2, delay=1, jitter=0))
    def work(ctx: ToolContext) -> None:
        """Fail once, after two seconds; then take three."""
        clock.advance(1 + ctx.attempt)
        if ctx.attempt == 1:
            raise ConnectionError

    client = ToolClient([work], hooks=[hook], clock=clock, filters=[slowly])
    call(front, client, "work")
    started, failed, finished = hook.events

    assert (5, 15, 17) == (started.at, failed.began, failed.at)
    assert (18, 21, 121) == (finished.began, finished.ended, finished.at)


@pytest.mark.parametrize(("name", "arguments"), [("add", {"a": "x"}), ("no", None)])
def test_where_no_body_began_no_attempt_has_a_time(front, name, arguments):
    """
    A refused call has no bar in the picture.
    """
    hook = RecordingHook()
    call(front, ToolClient([add], hooks=[hook]), name, arguments)

    assert (None, None) == (hook.events[-1].began, hook.events[-1].ended)


def test_the_last_attempt_ends_with_its_failure(front):
    """
    The same moment, not a later one.
    """
    hook, clock = RecordingHook(), FakeClock(5)

    @tool
    def fail() -> None:
        """Fail after a second."""
        clock.advance(1)
        raise ValueError

    call(front, ToolClient([fail], hooks=[hook], clock=clock), "fail")
    _, failed, finished = hook.events

    assert (5, 6, 6) == (failed.began, failed.at, finished.ended)


def test_an_event_says_that_its_tool_is_sensitive(front):
    """
    A hook that keeps contents has nothing else to know it by: no arguments are None too.
    """
    hook = RecordingHook()
    client = ToolClient([add, pay], hooks=[hook], filters=[Approval(approve_all)])
    call(front, client, "pay", {"card": "4111"})
    call(front, client, "add", {"a": 1, "b": 2})
    starts = hook.of(CallStarted)

    assert [(True, None), (False, {"a": 1, "b": 2})] == [
        (event.meta.sensitive, event.arguments) for event in starts
    ]


def test_the_start_of_a_call_says_what_was_declared():
    """
    A hook that is given to many clients knows the tool without any of them.
    """
    hook = RecordingHook()
    client = ToolClient([add], hooks=[hook])
    client.invoke("add", {"a": 1, "b": 2})
    client.invoke("sub")

    assert [client.table["add"], None] == [e.meta for e in hook.of(CallStarted)]


SPAN = contextvars.ContextVar("span", default="none")


@tool
def where(ctx: ToolContext) -> list[str]:
    """Tell what is set here, and in the call it makes itself."""
    inner = ctx.deps.invoke("where") if ctx.deps else None
    return [SPAN.get(), *(inner.value if inner else [])]


@pytest.mark.parametrize("engine", [SequentialEngine, ThreadEngine, AsyncioEngine])
@pytest.mark.parametrize("filters", [0, 1])
def test_what_a_hook_sets_at_the_start_is_seen_by_the_body(
    front, engine, filters, caplog
):
    """
    Both ends of a call are told in the context variables of whoever called, so that a
    hook can open something around the call and close it again.
    """
    before = []

    def open_and_close(event):
        if isinstance(event, CallStarted):
            before.append((event.call_id, SPAN.set(event.call_id)))
        if isinstance(event, CallFinished):
            [token] = [token for key, token in before if key == event.call_id]
            SPAN.reset(token)  # fails, and is logged, in another context

    def around(request):
        seen.append(SPAN.get() == request.call_id)
        return (yield request)

    seen = []
    hooks, layers = [open_and_close], [around] * filters
    client = ToolClient([where], hooks=hooks, filters=layers, engine=engine())
    calls = [ToolCall("where", {}, f"c{n}") for n in range(20)]
    inner = ToolClient([where], hooks=hooks)
    results = call_batch(front, client, calls, deps=inner)

    assert [f"c{n}" for n in range(20)] == [r.value[0] for r in results]
    assert all(r.value[1].startswith("call_") for r in results)
    assert ("none", [True] * 20 * filters) == (SPAN.get(), seen)
    assert [] == caplog.records
