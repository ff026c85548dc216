"""
Calls that are hardly any: odd names, odd arguments, odd ids, a full engine, a closed client.
"""

from __future__ import annotations

import asyncio

import pytest

from fronts import call
from scenarios.odd_tools import RUNS, client_with, look_up
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import SequentialEngine
from tooldecl.exceptions import (
    EngineBusyError,
    EngineClosedError,
    GuardFailedError,
    ToolTimeoutError,
)


def blocking(request):
    """
    Fail at every tool but one.
    """
    if request.name == "strange" or request.arguments.get("key") == "guarded":
        raise ValueError("hunter2")

    return (yield request)


def test_a_guard_that_fails_blocks_the_call(front):
    """
    FAT-05: the deciding filter itself failed, which is neither a yes nor a no.
    """
    result = call(front, client_with(blocking), "look_up", {"key": "guarded"})

    assert (
        "guard_failed",
        "not_started",
        "semantic",
        0,
        "A check around tool 'look_up' failed. It was not run.",
        GuardFailedError,
        [],
    ) == (
        result.status,
        result.fate,
        result.error_class,
        result.attempts,
        result.content,
        type(result.error),
        RUNS,
    )


def test_a_full_engine_says_so_at_once(front, gate):
    """
    GATE-13: too many abandoned bodies are still running; the call costs nothing.
    """

    @tool(timeout=0.02)
    def stuck() -> None:
        """Wait."""
        gate.pass_through()

    client = ToolClient([stuck, look_up], engine=SequentialEngine(max_abandoned=1))
    first = call(front, client, "stuck")
    second = call(front, client, "look_up", {"key": "a"})

    assert ("timeout", "abandoned", 1, ToolTimeoutError) == (
        first.status,
        first.fate,
        first.attempts,
        type(first.error),
    )
    assert ("busy", "not_started", "transient", 0, EngineBusyError, []) == (
        second.status,
        second.fate,
        second.error_class,
        second.attempts,
        type(second.error),
        RUNS,
    )
    assert (
        "Tool 'look_up' was not run: 1 earlier call was given up and may still be "
        "running." == second.content
    )


@pytest.mark.parametrize("name", [None, 5, ["look_up"], {}, b"look_up", ""])
def test_a_name_that_is_no_tools_name_is_answered(front, name):
    """
    R124: whatever a model sends for a name, it is an answer and never an exception; with
    hooks and without.
    """
    seen = []
    results = [
        call(front, client_with(**options), name, {"key": "a"})
        for options in ({}, {"hooks": [seen.append]})
    ]

    assert (["unknown_tool"] * 2, 2, []) == (
        [r.status for r in results],
        len(seen),
        RUNS,
    )
    assert [str] * 2 == [type(r.name) for r in results]


@pytest.mark.parametrize("given", [[1], 5, object(), b"\xff"])
def test_arguments_that_are_none_are_answered(front, given):
    """
    R124: the same for arguments that are neither text nor a mapping.
    """
    assert "invalid" == call(front, client_with(), "look_up", given).status


@pytest.mark.parametrize(
    ("given", "kept", "original"),
    [("c1", True, None), (None, False, None), ("", False, ""), (7, False, "7")],
)
def test_a_call_id_that_can_be_used_is_kept(front, given, kept, original):
    """
    R57: an id that cannot be one is replaced as in a batch, and stays visible.
    """
    result = call(front, client_with(), "look_up", {"key": "a"}, call_id=given)

    assert (kept, original, True) == (
        result.call_id == given,
        result.original_id,
        bool(result.call_id),
    )


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ('{"tool": "look_up", "arguments": {"key": "a"}}', "ok"),
        ('{"tool": "look_up", "arguments": {"key": "a"}, "x": 1}', "invalid"),
        ('{"tool": "nothing", "arguments": {}}', "unknown_tool"),
        ("{", "invalid"),
    ],
)
def test_a_whole_request_has_the_same_answers(front, text, status):
    """
    GATE-08: the third door leads through the same gate.
    """
    client = client_with()
    if front == "sync":
        result = client.invoke_json(text, call_id="c1")
    else:
        result = asyncio.run(client.ainvoke_json(text, call_id="c1"))

    assert (status, "c1", int(status == "ok")) == (
        result.status,
        result.call_id,
        len(RUNS),
    )


def test_a_closed_client_takes_no_calls(front):
    """
    Calling it is a mistake of the program, and the only thing that raises.
    """
    client = client_with()
    client.close()
    with pytest.raises(EngineClosedError) as caught:
        call(front, client, "look_up", {"key": "a"})
    with pytest.raises(EngineClosedError):
        client.invoke_batch([ToolCall("look_up")])

    assert "This ToolClient is closed and takes no more calls." == str(caught.value)
