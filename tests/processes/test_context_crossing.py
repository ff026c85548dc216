"""
What a body in a worker knows of its call, says of it, and is tried again for.
"""

from __future__ import annotations

import json
import logging

import pytest

from fronts import call
from processes.context_tools import (
    WHO,
    Deps,
    know,
    read,
    tell,
    tell_late,
    use_deps,
    write,
    write_and_fail,
)
from processes.failing_tools import (
    retry_by_predicate,
    retry_by_type,
    retry_elsewhere,
)
from processes.process_tools import add, length
from tooldecl._processes._wire import MAX_FRAME
from tooldecl.telemetry import AttemptFailed, Progress


pytestmark = pytest.mark.slow


def test_the_context_knows_its_call(front, make_client):
    """
    Ids, clock and key are those of the host's call; what is the host's own is not there.
    """
    client = make_client(know)
    token = WHO.set("the host")
    result = call(front, client, "know")
    WHO.reset(token)

    assert {
        "call_id": result.call_id,
        "tool": "know",
        "attempt": 1,
        "key": result.value["key"],
        "is current": True,
        "cancelled": False,
        "in time": True,
        "deps": None,
        "previous": None,
        "who": "nobody",
    } == result.value


def test_context_variables_are_documented_as_not_crossing():
    """
    Nobody has to find out by a default that is used in silence.
    """
    from tooldecl.engines import ProcessEngine

    text = " ".join((ProcessEngine.__doc__ or "").split())

    assert "context variables and ``deps`` do not cross" in text


def test_deps_are_refused_with_the_reason(make_client):
    """
    They are an object of the host: the model and the author are told so.
    """
    client = make_client(use_deps, add)
    result = client.invoke("use_deps", deps=Deps())

    assert ("tool_error", "completed") == (result.status, result.fate)
    assert (
        "The deps of this call are an object of the host, and do not cross into the "
        "worker process that the tool runs in."
    ) == result.content
    assert "ok" == client.invoke("add", {"a": 1, "b": 2}, deps=Deps()).status


@pytest.mark.parametrize("how", ["item", "get"])
def test_the_state_is_there_in_its_json_form(how, make_client):
    """
    A slot that has none is known by name, and says what it holds.
    """
    state = {"plain": {"a": [1]}, "pair": (1, {2}), "empty": "", "host's": Deps()}
    client = make_client(read, state=state)

    def reading(slot):
        return client.invoke("read", {"slot": slot, "how": how})

    assert [{"a": [1]}, [1, [2]], ""] == [
        reading(slot).value for slot in ("plain", "pair", "empty")
    ]
    assert (
        'The slot "host\'s" holds a Deps, which has no JSON form and does not cross '
        "into the worker process that the tool runs in."
    ) == reading("host's").content
    missing = reading("missing")
    assert ("tool_error" if how == "item" else "ok") == missing.status


def test_the_state_is_read_only_in_a_worker_too(make_client):
    """
    A body that changes its copy would believe that it had written.
    """
    client = make_client(read, state={"a": {"b": 1}})
    result = client.invoke("read", {"slot": "a", "how": "change"})

    assert ("tool_error", ("TypeError",)) == (result.status, result.error.type_names)


def test_a_state_that_is_too_large_to_cross(make_client):
    """
    The call is refused, not its worker sent more than it takes.
    """
    client = make_client(add, state={"a": "x" * (MAX_FRAME + 1)})

    assert "not_run" == client.invoke("add", {"a": 1, "b": 2}).status


@pytest.mark.parametrize(
    ("what", "slot"),
    [("plain", {"a": [1, "x"]}), ("pair", [1, [2]]), ("text", "5")],
)
def test_writes_come_back_in_their_json_form(what, slot, make_client):
    """
    What a body wrote is folded as if it had been written in the host.
    """
    client = make_client(write)
    result = client.invoke("write", {"what": what})

    assert {"slot": slot, "other": 1} == result.writes == client.state


def test_a_write_without_a_json_form_is_the_calls_outcome(make_client):
    """
    R38: half of what was written would be worse than nothing.
    """
    client = make_client(write)
    result = client.invoke("write", {"what": "lambda"})

    assert ("unencodable", "completed") == (result.status, result.fate)
    assert (
        "Tool 'write' ran, but its result cannot be sent: what it wrote to 'slot' does "
        "not cross: a value of this type has no JSON form (type function)."
    ) == result.content
    assert {} == client.state


def test_a_body_that_fails_writes_nothing(make_client):
    """
    Writes belong to calls that succeed.
    """
    client = make_client(write_and_fail)
    client.invoke("write_and_fail")

    assert {} == client.state


def test_progress_is_told_while_the_body_runs(make_client, listener):
    """
    Also what JSON has no word for, for it is for people.
    """
    client = make_client(tell)
    result = client.invoke("tell")
    told = [(e.done, e.total, e.message) for e in listener.of(Progress)]

    assert "told" == result.value
    assert [(1, None, None), (0.5, 2, "half")] == told[:2]
    assert ["nan", "inf", "odd"] == [str(x) for x in told[2]]
    assert (3, 3) == told[3][:2]
    assert {result.call_id} == {e.call_id for e in listener.of(Progress)}


@pytest.mark.parametrize("bypass", [False, True])
def test_what_is_told_after_the_answer_reaches_nobody(bypass, make_client, listener):
    """
    Nor is it taken for the progress, the loading or the answer of the next call.
    """
    client = make_client(tell_late, add, length)
    first = client.invoke("tell_late", {"bypass": bypass})
    sums = [client.invoke("add", {"a": n, "b": n}).value for n in range(200)]
    lengths = [client.invoke("length", {"text": "x" * n}).value for n in range(50)]

    assert "ok" == first.status
    assert [2 * n for n in range(200)] == sums
    assert list(range(50)) == lengths
    assert {first.call_id} >= {e.call_id for e in listener.of(Progress)}


def test_a_body_is_repeated_for_types_of_its_own(make_client):
    """
    The exception is judged where it is; the next attempt knows what it was.
    """
    client = make_client(retry_by_type)

    assert [3, ["BusyError"], "attempt 2"] == client.invoke("retry_by_type").value
    assert 1 == client.invoke("retry_by_type", {"other": True}).attempts


@pytest.mark.parametrize(("text", "attempts"), [("abc", 3), ("a long text", 1)])
def test_a_predicate_sees_the_exception_itself(text, attempts, make_client, listener):
    """
    An author's predicate knows the exception, not what is told of it.
    """
    client = make_client(retry_by_predicate)
    result = client.invoke("retry_by_predicate", {"text": text})

    assert ("tool_error", attempts) == (result.status, result.attempts)
    assert attempts == len(listener.of(AttemptFailed))


def test_a_predicate_that_fails_decides_nothing(make_client, caplog):
    """
    The host's log says so, as it does without a worker.
    """
    client = make_client(retry_by_predicate)
    with caplog.at_level(logging.WARNING, "tooldecl"):
        result = client.invoke("retry_by_predicate", {"text": "undecided"})

    assert 1 == result.attempts
    assert any("cannot be decided: LookupError" in text for text in caplog.messages)


def test_a_predicate_that_stops_the_run(make_client):
    """
    FAT-06: what means stop leaves the client from there too.
    """
    client = make_client(retry_by_predicate)
    with pytest.raises(KeyboardInterrupt):
        client.invoke("retry_by_predicate", {"text": "stop"})


def test_the_key_is_the_same_in_every_worker(make_client, listener):
    """
    ATT-07: attempts in three processes name their effect by one key.
    """
    client = make_client(retry_elsewhere)
    result = client.invoke("retry_elsewhere")
    told = listener.of(Progress)

    assert (3, "ok") == (result.attempts, result.status)
    assert {result.value[1]} == {event.message for event in told}
    assert 3 == len({event.done for event in told})


def test_a_result_can_be_kept_and_sent_on(make_client):
    """
    A result from a worker is plain data, whatever it was there.
    """
    result = make_client(know).invoke("know")

    assert json.loads(result.content) == result.value
