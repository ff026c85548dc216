"""
What a worker says of an exception, and what its host makes of that.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from processes.failing_tools import (
    ERRORS,
    BusyError,
    StopTheRunError,
    fail,
    retry_by_predicate,
    retry_by_type,
)
from tooldecl import NotFound, ToolError
from tooldecl._build import build
from tooldecl._declared import declared_of
from tooldecl._errors import classify, is_fatal, retry_after
from tooldecl._processes._loading import Loaded, cargo_of, load
from tooldecl._processes._outcome import (
    described,
    not_loaded,
    out_of_memory,
    previous_of,
    restored,
    retold,
    shown,
)
from tooldecl._texts import type_names, words_for_model
from tooldecl.exceptions import RemoteError, ToolTimeoutError


STOP_ON = (StopTheRunError,)


def loaded(tool, stop_on=STOP_ON) -> Loaded:
    """
    Return a tool as a worker has it.
    """
    return load(
        cargo_of(
            declared_of(tool), build(declared_of(tool)).definition, stop_on
        ).pickled
    )


def crossed(error, tool=fail, stop_on=STOP_ON):
    """
    Send what is said of an error through JSON, and return what the host makes of it.
    """
    said = json.loads(json.dumps(described(loaded(tool, stop_on), error)))

    return restored(said, stop_on)


@pytest.mark.parametrize("what", ERRORS)
def test_what_an_error_means_survives(what):
    """
    R37: its class, its words, its names and whether it is fatal are what they were.
    """
    error = ERRORS[what]
    there = crossed(error)

    assert is_fatal(error, STOP_ON) == is_fatal(there, STOP_ON)
    if not is_fatal(error, STOP_ON):
        assert classify(error) == classify(there)
        assert words_for_model("fail", error) == words_for_model("fail", there)
        assert retry_after(error) == retry_after(there)
        if not isinstance(there, NotFound):
            assert type_names(error) == type_names(there)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NotFound("No such book."), "No such book."),
        (NotFound(), ""),
        (ExceptionGroup("g", [NotFound("a"), NotFound("b")]), "a b"),
    ],
)
def test_a_finding_stays_a_finding(error, text):
    """
    A worker that found nothing says so in the author's words.
    """
    there = crossed(error)

    assert (NotFound, text) == (type(there), str(there))


def test_a_finding_beside_an_error_is_an_error():
    """
    Only where all leaves are findings was nothing found.
    """
    assert isinstance(
        crossed(ExceptionGroup("g", [NotFound("a"), ValueError()])), RemoteError
    )


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, GeneratorExit])
def test_python_s_own_stop_signals_keep_their_type(kind):
    """
    FAT-06: the host raises the very type, with what was said as its cause.
    """
    there = crossed(kind("words"))

    assert (kind, ("words",)) == (type(there), there.args)
    assert isinstance(there.__cause__, RemoteError)


class _OwnSignal(BaseException):
    """
    A signal that the host did not name.
    """


def test_a_stop_signal_of_the_tools_own_is_raised_as_the_base_of_all():
    """
    The host does not import what only the tool knows.
    """
    there = crossed(_OwnSignal("words"))

    assert (BaseException, ("words",)) == (type(there), there.args)
    assert ("_OwnSignal",) == there.__cause__.type_names


@pytest.mark.parametrize(
    "kind", [OSError, ValueError, ToolError, asyncio.CancelledError]
)
def test_a_host_s_own_stop_signal_keeps_its_type(kind):
    """
    Also one whose constructor or memory is not that of every exception.
    """
    there = crossed(kind("words"), stop_on=(KeyError, kind))

    assert (kind, ("words",)) == (type(there), there.args)


def test_an_exit_that_is_a_stop_signal_keeps_its_code():
    """
    A host that ends with its tool ends as the tool wanted.
    """
    codes = [crossed(SystemExit(c), stop_on=(SystemExit,)).code for c in (3, "bye")]

    assert [3, "bye"] == codes


def test_a_group_that_is_a_stop_signal_stays_one():
    """
    It is named by its own type, though its leaves are none of the host's.
    """
    there = crossed(ExceptionGroup("g", [ValueError("a")]), stop_on=(ExceptionGroup,))

    assert ExceptionGroup is type(there)
    assert [RemoteError] == [type(leaf) for leaf in there.exceptions]


@pytest.mark.parametrize(
    ("tool", "error", "retryable"),
    [
        (retry_by_type, BusyError(), True),
        (retry_by_type, ValueError(), False),
        (retry_by_predicate, ValueError("abc"), True),
        (retry_by_predicate, ValueError("a long text"), False),
        (fail, ConnectionError(), False),
    ],
)
def test_whether_it_is_repeated_is_decided_where_it_is(tool, error, retryable):
    """
    The host has no exception to ask an author's predicate about.
    """
    assert retryable == crossed(error, tool).retryable


def test_a_predicate_that_fails_is_named():
    """
    The host says in its log what it would say of its own.
    """
    there = crossed(ValueError("undecided"), retry_by_predicate)

    assert ("LookupError", False) == (there.undecided, there.retryable)


def test_a_predicate_that_stops_the_run_does():
    """
    FAT-06: from there too.
    """
    there = crossed(ValueError("stop"), retry_by_predicate)

    assert KeyboardInterrupt is type(there)


def test_what_says_that_memory_is_short_spends_its_worker():
    """
    Also a subclass, and one in a group.
    """
    short = type("ArrayMemoryError", (MemoryError,), {})
    errors = [
        MemoryError(),
        short(),
        ExceptionGroup("g", [MemoryError()]),
        ValueError(),
    ]

    assert [True, True, True, False] == [
        described(loaded(fail), error)["spent"] for error in errors
    ]


def test_the_next_attempt_knows_what_ended_the_last():
    """
    In words, whether it came from a worker or from the host's own clock.
    """
    timeout = ToolTimeoutError(tool="t", timeout=1, source="declared", fate="killed")
    told = [previous_of(error) for error in (crossed(BusyError("x")), timeout, None)]
    again = [retold(json.loads(json.dumps(said))) for said in told[:2] if said]

    assert None is told[2]
    assert [("BusyError", "x"), ("ToolTimeoutError", str(timeout))] == [
        (error.type_names[0], error.text) for error in again
    ]
    assert "transient" == again[1].error_class


@pytest.mark.parametrize(
    ("value", "result"),
    [(1, 1), (0.5, 0.5), (None, None), ("x", "x"), ("\ud800", "\ufffd")],
)
def test_a_progress_is_shown_to_people(value, result):
    """
    What JSON has a word for stays; the rest is text.
    """
    assert result == shown(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object()])
def test_an_odd_progress_is_shown_as_text(value):
    """
    It is for people, and no reason to fail.
    """
    assert str(value) == shown(value)
    assert 20_000 == len(str(shown("x" * 30_000)))


def test_a_tool_that_cannot_be_loaded():
    """
    The model hears the type, the host the text; the machine is what has to change.
    """
    error = not_loaded("t", "ValueError", "the text")

    assert (
        "Tool 't' was not run: it cannot be loaded in a worker process (ValueError)."
    ) == str(error)
    assert "ValueError: the text" == str(error.__cause__)
    assert "environment" == classify(error)


def test_a_body_that_needs_too_much_memory():
    """
    A limit that somebody has set is no shortage of the host.
    """
    there = crossed(MemoryError())
    error = out_of_memory("t", 100, there)

    assert "Tool 't' needed more memory than the limit of 100 bytes." == str(error)
    assert there.__cause__ is error.__cause__
