"""
The records of a call: what goes in, what comes out, and that none of them changes.
"""

from __future__ import annotations

import dataclasses
import datetime
import gc
import json
import math
import pickle
import weakref

import pytest

from tooldecl import (
    BatchResult,
    Fate,
    Status,
    ToolCall,
    ToolMeta,
    ToolRequest,
    ToolResult,
)
from tooldecl._plaindata import json_form
from tooldecl._readonly import freeze
from tooldecl.exceptions import CallError, ToolFailedError


META = ToolMeta(name="pay", description="Pay.")
CALL = ToolCall("pay", {"amount": 5}, "c1")
REQUEST = ToolRequest(
    call_id="c1", name="pay", arguments={"to": {"names": ["a"]}}, meta=META
)


def result(**changes):
    """
    Make a result with some fields of one's own.
    """
    fields = {
        "call_id": "c1",
        "name": "pay",
        "status": Status.OK,
        "content": '{"paid":5}',
        "value": {"paid": 5},
        "fate": Fate.COMPLETED,
        "attempts": 1,
    }

    return ToolResult(**fields | changes)


FAILURE = result(
    status=Status.TOOL_ERROR,
    content="Tool 'pay' failed: KeyError.",
    value=None,
    error=ToolFailedError(tool="pay", type_names=["KeyError"]),
    error_class="semantic",
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


def test_a_result_is_plain_data():
    """
    What a host stores or sends has every field, by its name.
    """
    assert {
        "call_id": "c1",
        "name": "pay",
        "status": "ok",
        "content": '{"paid":5}',
        "value": {"paid": 5},
        "error": None,
        "error_class": None,
        "fate": "completed",
        "attempts": 1,
        "elapsed": 0.0,
        "queue_wait": 0.0,
        "truncated": False,
        "original_size": None,
        "writes": {},
        "original_id": None,
    } == result().to_dict()


def test_a_failure_is_plain_data_with_its_type_and_text():
    """
    The exception itself has no JSON form; what a reader needs of it has.
    """
    plain = FAILURE.to_dict()

    assert (
        {"type": "ToolFailedError", "message": "Tool 'pay' failed: KeyError."},
        "tool_error",
        None,
    ) == (plain["error"], plain["status"], plain["value"])


WHEN = datetime.date(2026, 11, 30)
VALUES = [
    ("text", "text", "text"),
    (None, "null", None),
    ([1, 2.5, True], "[1,2.5,true]", [1, 2.5, True]),
    ({"day": WHEN}, '{"day":"2026-11-30"}', {"day": "2026-11-30"}),
    ((1, 2), "[1,2]", [1, 2]),
    ({1: "a"}, '{"1":"a"}', {"1": "a"}),
    ({1, 2}, "[1,2]", [1, 2]),
]


@pytest.mark.parametrize(("value", "content", "plain"), VALUES)
def test_the_value_is_there_in_its_json_form(value, content, plain):
    """
    A value that is no JSON data has the form that the model has read.
    """
    given = result(value=value, content=content)

    assert (plain, plain) == (
        given.to_dict()["value"],
        json.loads(given.to_json())["value"],
    )


def test_a_value_stays_whole_where_the_text_was_cut_or_changed():
    """
    R115: the host can always get all of it, and never what a filter wrote for the model.
    """
    cut = result(content='{"pa[cut]5}', truncated=True)
    wrapped = result(content="[1]")

    assert [{"paid": 5}, {"paid": 5}] == [r.to_dict()["value"] for r in (cut, wrapped)]


def test_a_value_without_a_form_is_not_invented():
    """
    Half of a JSON text is no value.
    """
    cut = result(value={WHEN}, content='["2026-[cut]"]', truncated=True)
    wrapped = result(value={WHEN}, content="Today.")

    assert [None, None] == [r.to_dict()["value"] for r in (cut, wrapped)]


def test_changing_plain_data_changes_no_result():
    """
    The host may do with it what it likes.
    """
    given = result(writes=freeze({"cart": [1]}))
    plain = given.to_dict()
    plain["value"]["paid"] = 6
    plain["writes"]["cart"].append(2)

    assert ({"paid": 5}, {"cart": [1]}) == (given.value, given.writes)


def circle():
    """
    Make a list that contains itself.
    """
    made = []
    made.append(made)

    return made


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ([1, {"a": None}], [1, {"a": None}]),
        ({"day": WHEN}, {"day": "(date)"}),
        (frozenset({1}), "(frozenset)"),
        (math.nan, "(float)"),
        ({(1, 2): 3}, "(dict)"),
        (circle(), "(list)"),
        (object(), "(object)"),
        ("\ud800", "\ud800"),
    ],
    ids=["json", "date", "set", "nan", "key", "circle", "object", "half"],
)
def test_whatever_was_written_the_result_is_json(written, plain):
    """
    State may hold anything, and a result can still be logged as one line of JSON.
    """
    given = result(writes={"slot": written})
    text = given.to_json()

    assert (plain, True) == (json.loads(text)["writes"]["slot"], text.isascii())


@pytest.mark.parametrize("value", [WHEN, (1,), {1: 2}, math.inf, circle()])
def test_what_is_no_json_data_is_not_taken_for_it(value):
    """
    A tuple that came back as a list would not be this very value.
    """
    with pytest.raises(TypeError):
        json_form(value)


@pytest.mark.parametrize(
    ("results", "expected"),
    [([], True), ([result(), result()], True), ([result(), FAILURE], False)],
)
def test_a_batch_is_ok_where_all_of_it_is(results, expected):
    """
    A batch is a tuple of its results, with one question more.
    """
    batch = BatchResult(results)

    assert (expected, tuple(results)) == (batch.ok, batch)
