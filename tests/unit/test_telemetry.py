"""
Events and who is told of them; what the log says, and what it never says.
"""

from __future__ import annotations

import dataclasses
import logging
import pickle

import pytest

from tooldecl import Fate, Status, ToolResult, telemetry
from tooldecl.telemetry import (
    ApprovalAsked,
    ApprovalDecided,
    AttemptFailed,
    BatchFinished,
    BatchStarted,
    CallFinished,
    CallStarted,
    Event,
    LateFinish,
    LoggingHook,
    LoopBlocked,
    LoopFinished,
    LoopStarted,
    ModelAsked,
    Progress,
    WriteConflict,
    emit,
    shape,
)


SECRET = "4111-1111"
CALL = {"at": 1.0, "call_id": "c1", "name": "pay"}


def result(**changes):
    """
    Make the result of a call that went well, or did not.
    """
    fields = {
        "call_id": "c1",
        "name": "pay",
        "status": Status.OK,
        "content": SECRET,
        "value": SECRET,
        "fate": Fate.COMPLETED,
        "attempts": 1,
        "elapsed": 0.25,
    }

    return ToolResult(**fields | changes)


EVENTS = [
    (
        CallStarted(**CALL, arguments={"card": SECRET, "amount": 5}),
        logging.INFO,
        "pay c1 started: {card: str[9], amount: int}",
    ),
    (
        CallFinished(**CALL, result=result()),
        logging.INFO,
        "pay c1 ended: ok, completed, 1 attempts, 0.250 s, 9 characters",
    ),
    (
        CallFinished(**CALL, result=result(status=Status.NOT_FOUND, value=None)),
        logging.INFO,
        "pay c1 ended: not_found, completed, 1 attempts, 0.250 s, 9 characters",
    ),
    (
        CallFinished(
            **CALL,
            result=result(status=Status.TIMEOUT, fate=Fate.ABANDONED, value=None),
        ),
        logging.WARNING,
        "pay c1 ended: timeout, abandoned, 1 attempts, 0.250 s, 9 characters",
    ),
    (
        AttemptFailed(
            **CALL,
            attempt=2,
            error=ConnectionError(SECRET),
            error_class="transient",
            retry_in=None,
        ),
        logging.WARNING,
        "pay c1 attempt 2 failed: ConnectionError (transient)",
    ),
    (
        CallFinished(
            **CALL,
            result=result(
                status=Status.PENDING, fate=Fate.NOT_STARTED, attempts=0, value=None
            ),
        ),
        logging.INFO,
        "pay c1 ended: pending, not_started, 0 attempts, 0.250 s, 9 characters",
    ),
    (
        ApprovalAsked(**CALL, expires=60.0),
        logging.INFO,
        "pay c1 waits for approval",
    ),
    (
        ApprovalDecided(**CALL, decision="suspended"),
        logging.INFO,
        "pay c1 approval: suspended",
    ),
    (
        ApprovalDecided(**CALL, decision="denied"),
        logging.WARNING,
        "pay c1 approval: denied",
    ),
    (
        LateFinish(**CALL, late_by=2.5, value=SECRET),
        logging.WARNING,
        "pay c1 ended 2.500 s after its answer, with a value",
    ),
    (
        LateFinish(**CALL, late_by=2.5, error=ValueError(SECRET)),
        logging.WARNING,
        "pay c1 ended 2.500 s after its answer, with ValueError",
    ),
    (
        LoopBlocked(**CALL, blocked_for=1.5),
        logging.WARNING,
        "pay c1 held its loop for 1.500 s beyond its deadline",
    ),
    (
        Progress(**CALL, done=3, total=10, message=SECRET),
        logging.INFO,
        "pay c1 is on its way: 3 of 10",
    ),
    (
        Progress(**CALL, done=3, total=None, message=SECRET),
        logging.INFO,
        "pay c1 is on its way: 3 of ?",
    ),
    (
        Progress(**CALL, done=SECRET, total=SECRET, message=None),
        logging.INFO,
        "pay c1 is on its way: ? of ?",
    ),
    (
        BatchStarted(at=1.0, call_ids=("c1", "c2")),
        logging.INFO,
        "a batch of 2 calls started",
    ),
    (
        BatchFinished(at=1.0, call_ids=("c1", "c2")),
        logging.INFO,
        "a batch of 2 calls ended",
    ),
    (
        WriteConflict(at=1.0, slot="cart", call_ids=("c1", "c2")),
        logging.WARNING,
        "2 calls wrote the slot cart; the last one won",
    ),
    (LoopStarted(at=1.0, run_id="r1"), logging.INFO, "a run of a loop started"),
    (
        ModelAsked(at=1.0, run_id="r1", turn=2),
        logging.INFO,
        "the model is asked for turn 2",
    ),
    (
        LoopFinished(at=1.0, run_id="r1", stop_reason="answer", turns=2),
        logging.INFO,
        "a run ended: answer, 2 turns",
    ),
]
LEVELS = [
    logging.DEBUG,
    logging.INFO,
    logging.WARNING,
    logging.ERROR,
    logging.CRITICAL,
]


@pytest.mark.parametrize(("event", "level", "text"), EVENTS)
def test_the_log_has_one_line_for_each_event(caplog, event, level, text):
    """
    An operator reads these lines: what went wrong stands out by its level.
    """
    caplog.set_level(1, "tooldecl")
    LoggingHook()(event)

    assert [(level, text)] == [(r.levelno, r.getMessage()) for r in caplog.records]


def test_every_event_has_a_line_of_its_own():
    """
    An event that the log knows only by its type would be half an event.
    """
    logged = {type(event) for event, _, _ in EVENTS}
    kinds = {getattr(telemetry, name) for name in telemetry.__all__}

    assert logged == {
        kind
        for kind in kinds
        if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
    }


@pytest.mark.parametrize("level", LEVELS)
def test_no_level_shows_a_value(caplog, level):
    """
    R121: arguments, results, texts of exceptions and messages of progress may be secrets,
    whatever their keys are called.
    """
    caplog.set_level(1, "tooldecl")
    for event, _, _ in EVENTS:
        LoggingHook(level=level)(event)

    assert (len(EVENTS), False) == (len(caplog.records), SECRET in caplog.text)
    assert [] == [r for r in caplog.records if SECRET in str(vars(r))]


@pytest.mark.parametrize(
    ("level", "good", "bad"),
    [
        (logging.DEBUG, logging.DEBUG, logging.WARNING),
        (logging.ERROR, logging.ERROR, logging.ERROR),
    ],
)
def test_the_level_is_for_what_went_well(caplog, level, good, bad):
    """
    A failure is a warning at least, and never quieter than a success.
    """
    caplog.set_level(1, "tooldecl")
    hook = LoggingHook(level=level)
    hook(EVENTS[1][0])
    hook(EVENTS[3][0])

    assert [good, bad] == [record.levelno for record in caplog.records]


def test_records_carry_the_tool_and_the_call(caplog):
    """
    Structured logs are searched by these two.
    """
    caplog.set_level(1, "tooldecl")
    LoggingHook()(CallStarted(**CALL, arguments=None))
    [record] = caplog.records

    assert ("pay", "c1", None) == (record.tool, record.call_id, record.attempt)


def test_records_carry_the_attempt_where_one_is_spoken_of(caplog):
    """
    Of the failures of one call, that tells which is which.
    """
    caplog.set_level(1, "tooldecl")
    for kind in (AttemptFailed, CallFinished):
        LoggingHook()(next(e for e, _, _ in EVENTS if isinstance(e, kind)))

    assert [2, 1] == [record.attempt for record in caplog.records]


@pytest.mark.parametrize(
    ("kind", "logger"),
    [
        (CallStarted, "tooldecl"),
        (AttemptFailed, "tooldecl"),
        (BatchStarted, "tooldecl.engine"),
        (WriteConflict, "tooldecl.engine"),
        (LateFinish, "tooldecl.engine"),
        (LoopBlocked, "tooldecl.engine"),
        (LoopStarted, "tooldecl.loop"),
        (ModelAsked, "tooldecl.loop"),
        (LoopFinished, "tooldecl.loop"),
    ],
)
def test_each_part_has_a_logger_to_be_quietened_by(caplog, kind, logger):
    """
    Who runs a loop in a server wants its failures without each batch of it.
    """
    caplog.set_level(1, "tooldecl")
    LoggingHook()(next(e for e, _, _ in EVENTS if isinstance(e, kind)))

    assert [logger] == [record.name for record in caplog.records]


@pytest.mark.parametrize(
    ("status", "logger"),
    [
        ("ok", "tooldecl"),
        ("invalid", "tooldecl.gate"),
        ("unknown_tool", "tooldecl.gate"),
    ],
)
def test_what_the_gate_refused_has_a_logger_of_its_own(caplog, status, logger):
    """
    How often a model errs is another question than how often a tool fails.
    """
    caplog.set_level(1, "tooldecl")
    [result] = [e.result for e, _, _ in EVENTS if isinstance(e, CallFinished)][:1]
    told = result.replace(status=Status(status))
    LoggingHook()(CallFinished(**CALL, result=told))

    assert [logger] == [record.name for record in caplog.records]


def test_names_from_a_model_cannot_forge_a_line(caplog):
    """
    The name of an unknown tool, a key and an id are whatever a model or a client sent.
    """
    caplog.set_level(1, "tooldecl")
    forged = "x\nERROR root: all is lost\x1b[2J"
    LoggingHook()(CallStarted(at=0, call_id=forged, name=forged, arguments={forged: 1}))
    LoggingHook()(WriteConflict(at=0, slot=forged, call_ids=("a", "b")))
    line = r"x\nERROR root: all is lost\x1b[2J"

    assert [
        f"{line} {line} started: {{{line}: int}}",
        f"2 calls wrote the slot {line}; the last one won",
    ] == caplog.messages


def test_a_name_without_end_is_cut(caplog):
    """
    A model that sends a megabyte for a name must not fill the log with it.
    """
    caplog.set_level(1, "tooldecl")
    LoggingHook()(CallStarted(at=0, call_id="c", name="n" * 10**6, arguments=None))

    assert [f"{'n' * 61}... c started: none"] == caplog.messages


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "none"),
        ("four", "str[4]"),
        (b"four", "bytes[4]"),
        ({}, "{}"),
        (
            {"a": 1, "b": 1.5, "c": True, "d": None},
            "{a: int, b: float, c: bool, d: none}",
        ),
        ({"a": {"b": "c"}, "d": [1, 2]}, "{a: object[1], d: list[2]}"),
        ({3: "x"}, "{int: str[1]}"),
        ((1, 2), "list[2]"),
        (object(), "object"),
    ],
)
def test_a_value_is_described_by_kind_and_length(value, text):
    """
    R121: enough to see what a model did, and nothing of what it said.
    """
    assert text == shape(value)


def test_a_wide_object_is_described_in_part():
    """
    A line of a log is read by people.
    """
    text = shape({f"k{n}": n for n in range(1000)})

    assert ("k19: int, ...}", False) == (text[-14:], "k20" in text)


def test_a_hook_that_fails_is_logged_and_the_next_one_is_told(caplog):
    """
    R131: a watcher cannot break what it watches, nor the other watchers.
    """
    seen = []

    def broken(event):
        raise RuntimeError("no disk left")

    event = BatchStarted(at=0.0, call_ids=())
    emit([broken, seen.append], event)
    [record] = caplog.records

    assert [event] == seen
    assert (logging.ERROR, RuntimeError) == (record.levelno, record.exc_info[0])
    name = broken.__qualname__
    assert f"The hook {name} failed on BatchStarted." == record.getMessage()


def test_an_exit_signal_in_a_hook_passes():
    """
    Ctrl-C while a hook runs is meant for the program.
    """

    def interrupted(event):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        emit([interrupted], BatchStarted(at=0.0, call_ids=()))


@pytest.mark.parametrize("event", [event for event, _, _ in EVENTS])
def test_events_are_frozen(event):
    """
    One hook must not change what the next one is told.
    """
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.at = 2.0


@pytest.mark.parametrize("event", [EVENTS[0][0], EVENTS[1][0], EVENTS[8][0]])
def test_events_pickle(event):
    """
    A hook may send them to another process.
    """
    assert event == pickle.loads(pickle.dumps(event))


def test_the_library_is_silent_where_nobody_configured_logging():
    """
    A library that prints warnings to stderr by itself spoils its host's output.
    """
    handlers = logging.getLogger("tooldecl").handlers

    assert [logging.NullHandler] == [type(handler) for handler in handlers][:1]


class Later(Event):
    """
    An event of a later version.
    """


def test_an_event_that_the_log_does_not_know_is_named(caplog):
    """
    A hook of this version may hear of more than it knows.
    """
    caplog.set_level(1, "tooldecl")
    LoggingHook()(Later(at=0.0))

    assert ["Later"] == caplog.messages
