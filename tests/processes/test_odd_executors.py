"""
Executors that say what is not so: nothing runs twice, and no call gets another's answer.
"""

from __future__ import annotations

import json

from concurrent.futures import Executor, Future

import pytest

from engine_stage import begin
from fronts import call, call_batch
from processes.executor_tools import note_again
from processes.process_tools import add
from tooldecl import ToolCall
from tooldecl.engines import ExecutorEngine


class Telling(Executor):
    """
    Runs a call at once, and makes something else of its answer.
    """

    def __init__(self, tell):
        self.tell = tell

    def submit(self, function, /, *args):
        """
        Run it, on another thread.
        """
        return self.tell(begin(function, *args))


def raising(error):
    """
    Return what fails once the call has run.
    """

    def tell(running):
        running.result()
        raise error

    return tell


def cancelled(running):
    """
    Say that the call was cancelled, once it has run.
    """
    running.result()
    answer = Future()
    answer.cancel()

    return answer


def nothing(running):
    """
    Give back what is no future, once the call has run.
    """
    running.result()


@pytest.mark.parametrize(
    "tell",
    [cancelled, nothing, raising(RuntimeError("no")), raising(OSError("no"))],
    ids=["cancelled", "no future", "refused", "lost"],
)
def test_what_has_run_is_not_called_refused(front, make_client, tmp_path, tell):
    """
    SPEC 4: its retry would run it twice, and it is not declared idempotent.
    """
    runs = tmp_path / "runs"
    client = make_client(note_again, engine=ExecutorEngine(Telling(tell)))
    result = call(front, client, "note_again", {"path": str(runs)})

    assert ("worker_died", "abandoned") == (result.status, result.fate)
    assert "ran\n" == runs.read_text()


class Refusing(Executor):
    """
    Takes nothing.
    """

    def __init__(self, error):
        self.error = error

    def submit(self, function, /, *args):
        """
        Refuse.
        """
        raise self.error


@pytest.mark.parametrize(
    ("error", "status", "fate"),
    [
        (RuntimeError("cannot schedule new futures"), "busy", "not_started"),
        (ConnectionError("the broker is gone"), "worker_died", "abandoned"),
    ],
)
def test_a_refusal_is_one_where_executors_say_so(
    front, make_client, error, status, fate
):
    """
    A RuntimeError is how they say that they take no more; whatever else is raised may
    have come after the call had left.
    """
    client = make_client(add, engine=ExecutorEngine(Refusing(error)))
    result = call(front, client, "add", {"a": 1, "b": 2})

    assert (status, fate) == (result.status, result.fate)


class Swapping(Executor):
    """
    Gives each of two calls the answer of the other.
    """

    def __init__(self):
        self.waiting = []

    def submit(self, function, /, *args):
        """
        Run it, and answer once there are two.
        """
        future = Future()
        self.waiting.append((future, begin(function, *args)))
        if len(self.waiting) == 2:
            (first, one), (second, two) = self.waiting
            first.set_result(two.result())
            second.set_result(one.result())

        return future


def test_the_answer_of_another_call_is_none(front, make_client):
    """
    A result that somebody else asked for would be a lie of the right type.
    """
    engine = ExecutorEngine(Swapping())
    calls = [ToolCall("add", {"a": 1, "b": b}) for b in (1, 2)]
    results = call_batch(front, make_client(add, engine=engine), calls)

    assert [("worker_died", "abandoned", None)] * 2 == [
        (result.status, result.fate, result.value) for result in results
    ]


ODD = [None, True, -1, 1e999, 10**400, "x", [], ["died"], ["no", 1], {}]
PARTS = ["token", "started", "fate", "timed_out", "timeout", "source", "refused"]
PARTS += ["ended_by", "seconds", "waited", "said"]


@pytest.mark.parametrize("part", PARTS)
def test_whatever_an_envelope_says_a_call_has_an_answer(front, make_client, part):
    """
    Anybody may have written it, so that no part of it is taken on trust.
    """
    odd = [*ODD, ...]
    left = iter(odd)

    def tell(running):
        head, _, text = running.result().partition(b"\0")
        said = json.loads(head)
        said[part] = next(left)
        if said[part] is ...:
            del said[part]
        answer = Future()
        answer.set_result(json.dumps(said).encode() + b"\0" + text)

        return answer

    client = make_client(add, engine=ExecutorEngine(Telling(tell)))
    results = [call(front, client, "add", {"a": 1, "b": 2}) for _ in odd]
    known = {"ok", "busy", "timeout", "worker_died"}

    assert {result.status for result in results} <= known
    assert all(0 <= result.queue_wait < 1e9 for result in results)
    # Nobody reads whose a limit was that has not passed.
    unread = part in ("timeout", "source")
    assert ("ok" if unread else "worker_died") == results[-1].status
