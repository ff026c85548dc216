"""
What comes out of a worker is what it says, and costs its own call if it is not ours.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from processes.forging_tools import (
    BROKEN,
    FORGED,
    breed,
    close_socket,
    forge,
    poison,
    rest_a_little,
    stop_in_half,
    tell_too_much,
    write_to_socket,
)
from processes.process_tools import add, length
from tooldecl import ToolClient
from tooldecl.telemetry import Progress


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def client():
    """
    Have tools that get hold of their worker's socket, and some that do not.
    """
    tools = [forge, write_to_socket, stop_in_half, close_socket, breed, add, length]
    with ToolClient(tools) as client:
        client.invoke("add", {"a": 1, "b": 2})
        yield client


def check_next_calls(client):
    """
    Look for anything that was meant for another call.
    """
    assert [2, 4, 6] == [
        client.invoke("add", {"a": n, "b": n}).value for n in (1, 2, 3)
    ]
    assert [1, 2] == [client.invoke("length", {"text": "x" * n}).value for n in (1, 2)]


@pytest.mark.parametrize("what", FORGED)
def test_an_answer_without_the_call_s_number_is_none(what, client):
    """
    A body that answers twice, or for another call, is heard once, in its own.
    """
    result = client.invoke("forge", {"what": what})

    assert ("ok", "returned") == (result.status, result.value)
    check_next_calls(client)


@pytest.mark.parametrize("what", BROKEN)
def test_an_answer_that_is_none_costs_its_call(what, client):
    """
    Nothing that is said there leaves the client as an error of its own.
    """
    result = client.invoke("forge", {"what": what})

    assert ("worker_died", "killed") == (result.status, result.fate)
    check_next_calls(client)


@pytest.mark.parametrize("what", ["garbage", "too long"])
def test_what_is_no_frame_costs_its_call(what, client):
    """
    Trap 21: there is no way back into a stream that was broken into.
    """
    result = client.invoke("write_to_socket", {"what": what})

    assert ("worker_died", "killed") == (result.status, result.fate)
    check_next_calls(client)


@pytest.mark.parametrize("what", ["a call", "ready", "progress", "odd progress"])
def test_a_frame_that_nobody_waits_for(what, client):
    """
    It is no answer; the next call does not take it for one either.
    """
    result = client.invoke("write_to_socket", {"what": what})

    assert result.status in ("ok", "worker_died")
    check_next_calls(client)


@pytest.mark.parametrize("what", ["header", "half", "no"])
def test_half_a_frame_is_not_waited_for(what, client):
    """
    Trap 22: a process that stops in the middle of its answer is late, and killed.
    """
    result = client.invoke("stop_in_half", {"what": what})

    assert ("timeout", "killed") == (result.status, result.fate)
    check_next_calls(client)


@pytest.mark.parametrize("how", ["go on", "return"])
def test_a_worker_without_its_socket(how, client):
    """
    It has nothing to say any more, so it is ended.
    """
    result = client.invoke("close_socket", {"how": how})

    assert ("worker_died", "killed") == (result.status, result.fate)
    check_next_calls(client)


@pytest.mark.parametrize(
    "what", ["timer", "modules", "streams", "recursion", "directory", "signals"]
)
def test_what_one_call_leaves_costs_no_other(what, make_client):
    """
    R42: a worker that a body has spoilt is replaced, or what it left is taken back.
    """
    client = make_client(poison, rest_a_little, length, add)
    left = client.invoke("poison", {"what": what})
    rested = client.invoke("rest_a_little")
    measured = client.invoke("length", {"text": "abc"})

    assert ["left", "rested", 3] == [r.value for r in (left, rested, measured)]


def test_a_progress_that_is_too_large(make_client, listener):
    """
    It is cut, and does not cost the call.
    """
    result = make_client(tell_too_much).invoke("tell_too_much")
    [event] = listener.of(Progress)

    assert ("ok", 20_000) == (result.status, len(event.message))


def test_what_starts_itself_anew(client, tmp_path):
    """
    R40: it is caught, or the answer says that something may be left.
    """
    result = client.invoke("breed", {"folder": str(tmp_path)})

    assert "timeout" == result.status
    assert result.fate in ("killed", "abandoned")
    if result.fate == "killed":
        assert not Path(tmp_path, "late").exists()
    check_next_calls(client)
