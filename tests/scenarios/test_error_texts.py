"""
Two audiences, two texts: the model reads what was written for it, the host sees all.
"""

from __future__ import annotations

import json
import logging
import traceback

import pytest

from fronts import call, call_batch
from source import ROOT
from tooldecl import Retry, ToolCall, ToolClient, ToolContext, ToolError, tool
from tooldecl._client import ToolClient as Client
from tooldecl._settings import read_settings
from tooldecl._state import State
from tooldecl._table import ToolTable
from tooldecl.telemetry import AttemptFailed, CallFinished, CallStarted, LoggingHook
from tooldecl.testing import FakeClock, RecordingHook


SECRET = "hunter2"
CARD = "4111111111111111"
NOTE = "token=abc"


@tool
def connect(url: str = "") -> str:
    """Connect to the database."""
    try:
        raise ConnectionError(f"postgres://ann:{SECRET}@db refused")
    except ConnectionError as error:
        raise RuntimeError(f"{SECRET} in {__file__}") from error


@tool
def explain(kind: str) -> str:
    """Fail with words."""
    cause = ValueError(SECRET)
    if kind == "plain":
        raise ToolError("The shop is closed until Monday.") from cause
    if kind == "subclass":
        raise ShopError("Bad order.") from cause
    if kind == "two":
        raise ExceptionGroup(SECRET, [ToolError("Shop A."), ShopError("Shop B.")])
    if kind == "silent":
        raise ToolError("") from cause

    raise cause from ToolError("These words were not meant for the model.")


class ShopError(ToolError):
    """
    An author's own kind of failure.
    """


@tool(retry=Retry(attempts=2, delay=0))
def pay(card: str, note: str) -> str:
    """Pay by card."""
    if note == "fails":
        raise ConnectionError(f"no way to pay with {card}")

    return f"paid with {card}, {note}"


def test_the_model_reads_no_text_of_a_foreign_exception(front):
    """
    R119, GATE-11, E-35: connection strings, paths and tokens stay on this side; the host
    has the exception with its causes and its whole traceback.
    """
    result = call(front, ToolClient([connect]), "connect")
    cause = result.error.__cause__
    whole = "".join(traceback.format_exception(cause))

    assert ("Tool 'connect' failed: RuntimeError.", False, False) == (
        result.content,
        SECRET in result.to_json(),
        __file__ in result.to_json(),
    )
    assert (RuntimeError, ConnectionError) == (type(cause), type(cause.__cause__))
    assert (2, "in connect" in whole) == (whole.count(SECRET), True)


def test_the_log_has_the_whole_traceback(front, caplog):
    """
    R119, R112: an operator without the result at hand finds it there.
    """
    call(front, ToolClient([connect]), "connect")
    [record] = caplog.records

    assert ("tooldecl", logging.WARNING, "Tool 'connect' failed: RuntimeError.") == (
        record.name,
        record.levelno,
        record.getMessage(),
    )
    assert (True, True) == (
        "postgres://ann:hunter2@db refused" in caplog.text,
        "in connect" in caplog.text,
    )


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("plain", "The shop is closed until Monday."),
        ("subclass", "Bad order."),
        ("two", "Shop A. Shop B."),
        ("silent", "Tool 'explain' failed: ToolError."),
        ("foreign", "Tool 'explain' failed: ValueError."),
    ],
)
def test_only_what_an_author_raised_for_the_model_is_shown_to_it(front, kind, text):
    """
    R119, RES-06: the words of a ToolError pass, those of its cause do not, and a ToolError
    that somebody else's exception was raised from was not raised for the model.
    """
    result = call(front, ToolClient([explain]), "explain", {"kind": kind})

    assert (text, False) == (result.content, SECRET in result.to_json())


def test_a_group_is_named_by_its_leaves(front):
    """
    R120: "unhandled errors in a TaskGroup" tells nobody what to do.
    """

    @tool
    async def several() -> str:
        """Do several things at once."""
        raise ExceptionGroup(
            f"unhandled errors in a TaskGroup {SECRET}",
            [KeyError(SECRET), ExceptionGroup("", [OSError(SECRET), KeyError()])],
        )

    result = call(front, ToolClient([several]), "several")

    assert ("Tool 'several' failed: KeyError, OSError.", ("KeyError", "OSError")) == (
        result.content,
        result.error.type_names,
    )


@pytest.mark.parametrize(
    "level", [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR]
)
def test_the_log_of_a_call_has_neither_its_arguments_nor_its_result(
    front, caplog, level
):
    """
    R121: names, kinds and lengths; at every level, alone and in a batch, as a mapping and
    as text, for what succeeds and for what the gate refuses.
    """
    caplog.set_level(1, "tooldecl")
    client = ToolClient([pay], hooks=[LoggingHook(level=level)])
    arguments = {"card": CARD, "note": NOTE}
    refused = {"card": CARD, "note": NOTE, "more": NOTE}
    call(front, client, "pay", arguments)
    call(front, client, "pay", json.dumps(arguments))
    call(front, client, "pay", refused)
    call(front, client, "pai", arguments)
    call_batch(front, client, [ToolCall("pay", arguments)] * 2)

    assert (True, False, False) == (
        len(caplog.records) >= 12,
        CARD in caplog.text,
        NOTE in caplog.text,
    )
    assert [] == [r for r in caplog.records if CARD in str(vars(r))]


def client_of(declared, **options):
    """
    Build a client of a sensitive tool, which needs an approval that is not built yet.
    """
    settings, faults = read_settings(
        engine=None,
        json_limits=None,
        result_limit=None,
        on_overflow="fail",
        state={},
        clock=FakeClock(),
        rng=None,
        **{"filters": (), "hooks": (), "stop_on": ()} | options,
    )
    assert [] == faults
    client = object.__new__(Client)
    client._set_up(ToolTable.assemble([declared]), settings, State({}), {})

    return client


@tool(sensitive=True, retry=Retry(attempts=2, delay=0))
def secretly(card: str) -> object:
    """Pay by card, in secret."""
    if card == CARD:
        raise ConnectionError(f"no way to pay with {card}")

    return object()


def leaking(request):
    """
    Fail about what is not to be told.
    """
    if request.arguments["card"] != CARD:
        raise ValueError(f"odd card {request.arguments['card']}")

    return (yield request)


def test_the_log_of_a_sensitive_tool_has_no_text_of_an_exception(front, caplog):
    """
    R121: what a body, a filter or a predicate raises is often about what it was given; of
    a sensitive tool the log has the types alone.
    """
    caplog.set_level(1, "tooldecl")
    client = client_of(secretly, filters=[leaking], hooks=[LoggingHook()])
    call(front, client, "secretly", {"card": CARD})
    call(front, client, "secretly", {"card": NOTE})
    call(front, client, "secretly", {"card": CARD, "more": NOTE})
    lines = [r.getMessage() for r in caplog.records if r.levelno >= logging.WARNING]

    assert (False, False) == (CARD in caplog.text, NOTE in caplog.text)
    assert 2 == lines.count("Tool 'secretly' failed: ConnectionError.")
    assert 1 == lines.count(
        "The filter 'leaking' failed around 'secretly': ValueError."
    )
    assert [] == [r for r in caplog.records if r.exc_info]


def test_the_events_of_a_sensitive_tool_have_no_arguments(front):
    """
    A hook of somebody else's is told that the tool was called, not with what.
    """
    hook = RecordingHook()
    client = client_of(secretly, hooks=[hook])
    call(front, client, "secretly", {"card": CARD})
    call(front, client, "secretly", json.dumps({"card": CARD}))

    assert [None, None] == [event.arguments for event in hook.of(CallStarted)]


def test_hooks_get_the_whole_failure(front):
    """
    R119: an error tracker needs the exception itself, traceback included.
    """
    hook = RecordingHook()
    client = ToolClient([connect], hooks=[hook])
    result = call(front, client, "connect")
    [failed], [finished] = hook.of(AttemptFailed), hook.of(CallFinished)

    assert (result.error.__cause__, result) == (failed.error, finished.result)


def test_a_failure_of_a_sensitive_results_encoding_is_logged_by_type(front, caplog):
    """
    R112, R121: the author learns the type, nobody learns the value.
    """
    caplog.set_level(1, "tooldecl")
    result = call(front, client_of(secretly), "secretly", {"card": NOTE})

    assert ("unencodable", [result.content], []) == (
        result.status,
        caplog.messages,
        [r for r in caplog.records if r.exc_info],
    )


def test_texts_for_the_model_speak_of_no_path_and_no_link(front):
    """
    SPEC 3: path of the argument, rule, expected kind, what to do, and nothing of the host.
    """

    @tool
    def typed(number: int, names: list[str], ctx: ToolContext) -> str:
        """Take typed arguments."""
        return "ok"

    client = ToolClient([typed])
    results = [
        call(front, client, "typed", given)
        for given in ({"number": "x"}, {"names": [1, 2], "z": 1}, "{", '{"a":1,"a":2}')
    ]

    assert ["invalid"] * 4 == [r.status for r in results]
    assert [] == [
        r.content
        for r in results
        for word in ("http", str(ROOT), "pydantic", "tooldecl")
        if word in r.content
    ]
    assert all(len(r.content) < 1000 for r in results)
