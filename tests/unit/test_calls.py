"""
The records of a call: what goes in, what comes out, and that none of them changes.
"""

from __future__ import annotations

import dataclasses
import gc
import json
import pickle
import weakref

import pytest

from one_result import FAILURE, result
from tooldecl import (
    BatchResult,
    Fate,
    Status,
    ToolCall,
    ToolMeta,
    ToolRequest,
)
from tooldecl.exceptions import CallError, ToolFailedError


META = ToolMeta(name="pay", description="Pay.")
CALL = ToolCall("pay", {"amount": 5}, "c1")
REQUEST = ToolRequest(
    call_id="c1", name="pay", arguments={"to": {"names": ["a"]}}, meta=META
)


@pytest.mark.parametrize("record", [CALL, REQUEST, result(), FAILURE])
def test_every_field_of_a_record_is_frozen(record):
    """
    R17: what was handed out is final; a late body, a filter or a hook cannot change it.
    """
    for field in dataclasses.fields(record):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field.name, None)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(record, field.name)


@pytest.mark.parametrize("record", [CALL, REQUEST, result()])
def test_a_record_has_no_room_for_more(record):
    """
    Notes that one layer sticks onto a shared record would be seen by all.
    """
    with pytest.raises((AttributeError, TypeError)):
        record.note = 1


@pytest.mark.parametrize("record", [CALL, REQUEST, result(), BatchResult([result()])])
def test_a_record_is_equal_after_pickling(record):
    """
    Results cross process borders, and a host may keep them.
    """
    loaded = pickle.loads(pickle.dumps(record))

    assert (type(record), record) == (type(loaded), loaded)


def test_a_failure_pickles_with_its_error():
    """
    Errors compare by identity, so their parts are compared.
    """
    loaded = pickle.loads(pickle.dumps(FAILURE))

    assert FAILURE.replace(error=None) == loaded.replace(error=None)
    assert (ToolFailedError, vars(FAILURE.error)) == (
        type(loaded.error),
        vars(loaded.error),
    )


def test_the_arguments_of_a_request_are_read_only_at_every_depth():
    """
    Several filters see one request; none of them can change it under the others' hands.
    """
    with pytest.raises(TypeError):
        REQUEST.arguments["to"]["names"].append("b")

    assert {"to": {"names": ["a"]}} == REQUEST.arguments


def test_a_changed_request_is_another_one():
    """
    ``replace`` is how a filter rewrites, and the original stays for whoever holds it.
    """
    changed = REQUEST.replace(arguments={"to": None})

    assert ({"to": None}, {"to": {"names": ["a"]}}, META) == (
        changed.arguments,
        REQUEST.arguments,
        changed.meta,
    )


def test_statuses_and_fates_are_texts():
    """
    Hosts compare with the plain words and send them as JSON.
    """
    assert ("ok", "abandoned", '["timeout"]') == (
        Status.OK,
        Fate.ABANDONED,
        json.dumps([Status.TIMEOUT]),
    )


@pytest.mark.parametrize("status", Status)
def test_only_ok_is_ok(status):
    """
    A status that a later version adds is a failure for whoever does not know it.
    """
    assert (status == "ok") == result(status=status).ok


def test_unwrap_gives_the_value_or_raises_the_error():
    """
    Hosts that want exceptions get the one that says what happened.
    """
    with pytest.raises(ToolFailedError) as caught:
        FAILURE.unwrap()

    assert ({"paid": 5}, True) == (result().unwrap(), caught.value is FAILURE.error)


def test_unwrap_raises_also_where_a_filter_gave_no_error():
    """
    A failure without an error is still a failure, in the words for the model.
    """
    with pytest.raises(CallError) as caught:
        FAILURE.replace(error=None).unwrap()

    assert "Tool 'pay' failed: KeyError." == str(caught.value)


def test_unwrap_can_be_called_twice_and_keeps_no_frames():
    """
    An exception that is raised again and again grows by a traceback each time.
    """
    lengths = []
    for _ in range(3):
        with pytest.raises(ToolFailedError) as caught:
            FAILURE.unwrap()
        lengths.append(len(caught.traceback))

    assert [2, 2, 2] == lengths


def test_unwrap_makes_no_circle_of_references():
    """
    A result that only the garbage collector can free keeps its value for long.
    """

    class Value:
        pass

    value = Value()
    gone = weakref.ref(value)
    failure = FAILURE.replace(
        value=value, error=ToolFailedError(tool="pay", type_names=["KeyError"])
    )
    gc.disable()
    try:
        try:
            failure.unwrap()
        except ToolFailedError:
            pass
        del failure, value

        assert gone() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("results", "expected"),
    [([], True), ([result(), result()], True), ([result(), FAILURE], False)],
)
def test_a_batch_is_ok_where_all_of_it_is(results, expected):
    """
    A batch is a tuple of its results, with one question more.
    """
    batch = BatchResult(results)

    assert (expected, tuple(results), None) == (batch.ok, batch, batch.suspension)
