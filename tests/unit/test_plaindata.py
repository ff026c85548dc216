"""
Results as plain JSON data: what a host stores, sends or logs.
"""

from __future__ import annotations

import datetime
import json
import math

import pytest

from one_result import FAILURE, result
from tooldecl._plaindata import json_form
from tooldecl._readonly import freeze


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
