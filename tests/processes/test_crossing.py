"""
Only JSON crosses, both ways, and what cannot cross is the call's clear outcome.
"""

from __future__ import annotations

import json

import pytest

from processes.crossing_tools import (
    VALUES,
    acount_up,
    count_up,
    give,
    give_here,
    look,
    yield_too_much,
)
from processes.failing_tools import (
    ERRORS,
    StopTheRunError,
    afail,
    fail,
    fail_here,
)
from processes.process_tools import big, length, measure
from tooldecl import JSONLimits, ToolClient
from tooldecl._processes._wire import MAX_FRAME
from tooldecl.exceptions import RemoteError


pytestmark = pytest.mark.slow

NOT_SENT = {
    "nan",
    "lambda",
    "lock",
    "object",
    "half a character",
    "same keys",
    "exception",
    "type",
    "itself",
}
FATAL = {"interrupt", "memory", "generator exit", "base", "group of fatal"}


@pytest.fixture(scope="module")
def client():
    """
    Have the tools in a worker and beside of it.
    """
    tools = [look, give, give_here, count_up, acount_up, yield_too_much]
    tools += [fail, fail_here, afail, big, length, measure]
    limits = JSONLimits(max_chars=80_000_000)
    with ToolClient(tools, stop_on=[StopTheRunError], json_limits=limits) as client:
        client.invoke("big", {"size": 1})
        yield client


def test_arguments_arrive_as_they_were_declared(client):
    """
    The body gets instances of its own types, at every depth.
    """
    point = {"x": "1.5", "on": "2024-01-02"}
    shape = {"points": [point], "colour": "red", "tags": ["a"]}
    result = client.invoke(
        "look",
        {
            "shape": shape,
            "by_name": {"a": point},
            "number": "2.50",
            "when": "2024-01-02T03:04:05Z",
            "key": "12345678123456781234567812345678",
            "raw": "abc",
            "pair": [1, "red"],
            "maybe": point,
        },
    )

    assert {
        "shape": "Shape",
        "shape.points.0": "Point",
        "shape.points.0.x": "Decimal",
        "shape.colour": "Colour",
        "shape.tags": "set",
        "by_name.a": "Point",
        "by_name.a.on": "date",
        "number": "Decimal",
        "when": "datetime",
        "key": "UUID",
        "raw": "bytes",
        "pair": "tuple",
        "pair.1": "Colour",
        "maybe": "Point",
    } == result.value


@pytest.mark.parametrize("what", VALUES)
def test_a_result_is_the_same_text_and_its_json_form(what, client):
    """
    R38: the model reads what it would read without a worker; the host gets plain data.
    """
    here, there = (
        client.invoke(name, {"what": what}) for name in ("give_here", "give")
    )

    assert (here.status, here.content.replace("give_here", "give")) == (
        there.status,
        there.content,
    )
    assert (what not in NOT_SENT) == there.ok
    assert ("completed", here.error_class) == (there.fate, there.error_class)
    if there.ok:
        is_text = isinstance(here.value, str)
        assert (here.value if is_text else json.loads(here.content)) == there.value
    else:
        assert ("unencodable", None) == (there.status, there.value)


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("count_up", {"text": True}, "0 1 2 "),
        ("count_up", {"text": False}, [0, 1, 2]),
        ("acount_up", {}, [0, 1, 2]),
    ],
)
def test_a_generator_is_joined_in_the_worker(name, arguments, value, client):
    """
    No generator crosses; what it yields does, once it is over.
    """
    assert value == client.invoke(name, arguments).value


def test_a_generator_without_an_end_is_cut_off_in_the_worker(client):
    """
    The limit is known there, so nothing without an end has to cross.
    """
    result = client.invoke("yield_too_much")

    assert ("too_large", "completed") == (result.status, result.fate)


@pytest.mark.parametrize("what", [x for x in ERRORS if x not in {*FATAL, "stop"}])
def test_an_error_is_told_in_the_same_words(what, client):
    """
    R37, R26: whatever was raised, model and host hear what they would hear without.
    """
    here, there = (
        client.invoke(name, {"what": what}) for name in ("fail_here", "fail")
    )

    assert (here.status, here.content.replace("fail_here", "fail")) == (
        there.status,
        there.content,
    )
    assert (here.error_class, here.fate) == (there.error_class, there.fate)
    assert type(here.error) is type(there.error)


@pytest.mark.parametrize(
    "what", ["value", "two arguments", "exit", "cancelled", "words"]
)
def test_an_error_on_the_workers_loop_is_told_as_well(what, client):
    """
    R37: an async body fails as a sync one does.
    """
    sync, on_loop = (client.invoke(name, {"what": what}) for name in ("fail", "afail"))

    assert (sync.status, sync.content.replace("'fail'", "'afail'")) == (
        on_loop.status,
        on_loop.content,
    )


def test_the_host_reads_what_was_raised(client):
    """
    R37: type, text and traceback cross as words; nothing is unpickled.
    """
    error = client.invoke("fail", {"what": "two arguments"}).error.__cause__

    assert (RemoteError, ("TwoArgumentsError",), "ab") == (
        type(error),
        error.type_names,
        error.text,
    )
    assert "TwoArgumentsError: ab" == str(error)
    assert "in fail\n    raise ERRORS[what]" in error.traceback
    assert [error.traceback] == error.__notes__


def test_the_words_of_an_error_do_not_grow_without_end(client):
    """
    A host's log is not the place for a megabyte.
    """
    error = client.invoke("fail", {"what": "long"}).error.__cause__

    assert 20_000 == len(error.text)
    assert 20_000 >= len(error.traceback)


@pytest.mark.parametrize("what", FATAL)
def test_what_means_stop_leaves_the_client(what, client):
    """
    FAT-06: it is raised in the host as well, as what it is or what its group is about.
    """
    kinds = {"interrupt": KeyboardInterrupt, "group of fatal": KeyboardInterrupt}
    kinds |= {"memory": MemoryError, "generator exit": GeneratorExit}
    with pytest.raises(BaseException) as caught:
        client.invoke("fail", {"what": what})

    assert kinds.get(what, BaseException) is caught.type
    assert isinstance(caught.value.__cause__, RemoteError)
    assert 1 == len(client.invoke("big", {"size": 1}).value)


def test_a_stop_signal_of_the_hosts_own_leaves_the_client(client):
    """
    ``stop_on`` holds in a worker as well, whatever the type's constructor wants.
    """
    with pytest.raises(StopTheRunError) as caught:
        client.invoke("fail", {"what": "stop"})

    assert "stop at 1 of 2" == str(caught.value)


@pytest.mark.parametrize(
    ("kind", "what", "args"),
    [(SystemExit, "exit", ("3",)), (ExceptionGroup, "group", None)],
)
def test_stop_signals_with_a_shape_of_their_own(kind, what, args, make_client):
    """
    An exit keeps its code; a group may be named too, though its leaves are what counts.
    """
    client = make_client(fail, stop_on=[kind])
    with pytest.raises(kind) as caught:
        client.invoke("fail", {"what": what})

    if kind is SystemExit:
        assert 3 == caught.value.code
    else:
        assert isinstance(caught.value.exceptions[0], RemoteError)
    assert "tool_error" == client.invoke("fail", {"what": "value"}).status


@pytest.mark.parametrize("size", [5 * 2**20, MAX_FRAME - 1000])
def test_a_large_result_crosses(size, client):
    """
    What an answer holds is not limited by a pipe's buffer.
    """
    assert size == len(client.invoke("big", {"size": size}).value)


def test_a_result_that_is_too_large_to_cross(client):
    """
    It is the call's outcome, and the worker goes on.
    """
    result = client.invoke("big", {"size": MAX_FRAME + 1})

    assert ("too_large", "completed") == (result.status, result.fate)
    assert MAX_FRAME == result.error.limit
    assert MAX_FRAME < result.error.size
    assert "ok" == client.invoke("big", {"size": 1}).status


def test_arguments_that_are_too_large_to_cross(client):
    """
    They are refused before anything runs, and the worker goes on.
    """
    result = client.invoke("length", {"text": "x" * (MAX_FRAME + 1)})

    assert ("not_run", "not_started", 0) == (
        result.status,
        result.fate,
        result.attempts,
    )
    assert (
        "Tool 'length' was not run: its arguments and the client's state are larger "
        f"than the {MAX_FRAME} bytes that are sent to a worker process."
    ) == result.content
    assert 1 == client.invoke("length", {"text": "x"}).value


def test_large_arguments_cross(client):
    """
    The control of the above.
    """
    assert 50_000_000 == client.invoke("length", {"text": "x" * 50_000_000}).value
