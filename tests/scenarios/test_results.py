"""
What comes back: text that can always be sent, and a value that the host can always have.
"""

from __future__ import annotations

import datetime
import io
import json
import math
import pickle

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from pathlib import PurePosixPath
from uuid import UUID

import pytest

from pydantic import BaseModel

from fronts import call
from tooldecl import ToolCall, ToolClient, ToolLoop, Turn, tool
from tooldecl.telemetry import LateFinish
from tooldecl.testing import FakeClock, ScriptedModel


class Colour(Enum):
    """
    A colour.
    """

    RED = "red"


@dataclass
class Line:
    """
    A line of an order.
    """

    name: str
    tags: set[str] = field(default_factory=set)


@dataclass
class Order:
    """
    An order.
    """

    number: int
    lines: list[Line]


class Invoice(BaseModel):
    """
    An invoice.
    """

    day: datetime.date
    amount: Decimal


def circle():
    """
    Make a list that contains itself.
    """
    made = [1]
    made.append(made)

    return made


def returning(value, **options):
    """
    Declare a tool that returns something.
    """

    @tool(**options)
    def give() -> object:
        """Return something."""
        return value

    return give


def result_of(front, value, *, declared=None, **options):
    """
    Run a tool that returns something.
    """
    client = ToolClient([returning(value, **declared or {})], **options)

    return call(front, client, "give")


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (int, "type"),
        (io.StringIO(), "StringIO"),
        (circle(), "list"),
        (object(), "object"),
        ({"a": [{"b": object()}]}, "object"),
        (math.nan, "float"),
        ({"mean": math.inf}, "float"),
        (lambda: 1, "function"),
        ({(1, 2): 3}, "tuple"),
    ],
    ids=range(9),
)
def test_what_has_no_json_form_is_that_calls_error(front, value, kind, caplog):
    """
    R111, R113, R114: it is seen when the call ends, names the tool and the type, and the
    author finds it in the log.
    """
    result = result_of(front, value)

    assert ("unencodable", "give", kind, "completed", 1) == (
        result.status,
        result.error.tool,
        result.error.type_name,
        result.fate,
        result.attempts,
    )
    assert result.content.startswith("Tool 'give' ran, but its result cannot be sent: ")
    assert [result.content] == [record.getMessage() for record in caplog.records]


def test_a_transcript_with_a_strange_result_can_still_be_sent():
    """
    R111: the stored history of a conversation is not poisoned by one result.
    """
    model = ScriptedModel([Turn(calls=[ToolCall("give")]), Turn(text="Sorry.")])
    result = ToolLoop(ToolClient([returning(circle())]), model).run("Hi")

    assert "unencodable" == json.loads(json.dumps(result.messages))[2]["status"]


def test_the_reason_of_an_authors_own_encoder_is_in_the_log(front, caplog):
    """
    R112: errors are hidden from the model on purpose, never from the author.
    """

    class Cart(dict):
        def items(self):
            raise RuntimeError("the cart is locked")

    result = result_of(front, Cart(a=1))

    assert ("unencodable", True) == (
        result.status,
        "RuntimeError: the cart is locked" in caplog.text,
    )


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("as it is", "as it is"),
        (datetime.time(8, 5), '"08:05:00"'),
        (UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
        (Decimal("1.10"), '"1.10"'),
        (Colour.RED, '"red"'),
        ({3, 1, 2}, "[1,2,3]"),
        (PurePosixPath("a/b"), '"a/b"'),
        (
            Order(number=5, lines=[Line("tea", {"hot"})]),
            '{"number":5,"lines":[{"name":"tea","tags":["hot"]}]}',
        ),
        (
            Invoice(day=datetime.date(2026, 11, 30), amount=Decimal("9.50")),
            '{"day":"2026-11-30","amount":"9.50"}',
        ),
        (
            {"when": datetime.date(2026, 1, 2), "who": UUID(int=1), "what": {"x"}},
            '{"when":"2026-01-02","who":"00000000-0000-0000-0000-000000000001",'
            '"what":["x"]}',
        ),
        (None, "null"),
    ],
    ids=range(11),
)
def test_ordinary_values_have_a_json_form(front, value, content):
    """
    R112, R114: what tools return every day is no failure.
    """
    result = result_of(front, value)

    assert ("ok", content, True) == (
        result.status,
        result.content,
        result.value is value,
    )
    json.loads(result.to_json())


BIG = "head" + "x" * 5_000_000 + "tail"


def test_five_megabytes_fail_or_are_cut_and_the_host_has_all_of_it(front):
    """
    R115: one limit at one place; the cut says how much there was and keeps both ends.
    """
    failed = result_of(front, BIG, result_limit=20_000)
    cut = result_of(front, BIG, result_limit=20_000, on_overflow="truncate")

    assert ("too_large", True, False, 20_000, len(BIG), len(BIG)) == (
        failed.status,
        failed.value is BIG,
        failed.truncated,
        failed.error.limit,
        failed.error.size,
        failed.original_size,
    )
    assert ("ok", 20_000, True, len(BIG)) == (
        cut.status,
        len(cut.content),
        cut.truncated,
        cut.original_size,
    )
    assert ("head", "tail", True, True) == (
        cut.content[:4],
        cut.content[-4:],
        f"{len(BIG)} chars" in cut.content,
        cut.value is BIG,
    )


@pytest.mark.parametrize("overflow", ["fail", "truncate"])
def test_a_result_of_exactly_the_limit_is_whole(front, overflow):
    """
    RES-01: five characters fit into a limit of five.
    """
    result = result_of(front, "12345", result_limit=5, on_overflow=overflow)

    assert ("ok", "12345", False, None) == (
        result.status,
        result.content,
        result.truncated,
        result.original_size,
    )


@pytest.mark.parametrize(
    ("declared", "options", "status"),
    [
        ({}, {}, "ok"),
        ({}, {"result_limit": 5}, "too_large"),
        ({"result_limit": None}, {"result_limit": 5}, "ok"),
        ({"result_limit": 50}, {"result_limit": 5}, "ok"),
        ({"result_limit": 5}, {}, "too_large"),
        ({"result_limit": 5}, {"result_limit": 50}, "too_large"),
    ],
)
def test_a_tools_own_limit_beats_the_clients(front, declared, options, status):
    """
    R115, E-39: by source and never by size, like every other option.
    """
    assert status == result_of(front, "x" * 20, declared=declared, **options).status


def test_a_limit_that_has_no_room_for_the_mark_fails(front):
    """
    RES-02, E-39: text that was cut without a mark would pass for the whole.
    """
    result = result_of(front, "x" * 100, result_limit=10, on_overflow="truncate")

    assert ("too_large", False) == (result.status, result.truncated)


def test_a_cut_splits_no_character_and_marks_json(front):
    """
    R116: what is left can be sent, and nobody takes it for JSON.
    """
    text = "e\u0301" * 500 + "\U0001f44d\U0001f3fd" * 500
    options = {"result_limit": 100, "on_overflow": "truncate"}
    letters = result_of(front, text, **options)
    plain = result_of(front, list(range(1000)), **options)
    head, _, tail = letters.content.partition("[text cut")

    assert (True, True) == (
        "\u0301" == head[-1],
        "\U0001f44d" == tail.partition("]")[2][0],
    )
    with pytest.raises(ValueError):
        json.loads(plain.content)
    assert list(range(1000)) == plain.value


def test_generators_are_consumed(front):
    """
    R118: the model gets what they yield and not the text form of an object.
    """

    @tool
    def words() -> object:
        """Say words."""
        yield "a"
        yield "b"

    @tool
    async def numbers() -> object:
        """Count."""
        yield 1
        yield 2

    client = ToolClient([words, numbers])

    assert ["ab", "[1,2]"] == [
        call(front, client, n).content for n in ("words", "numbers")
    ]


def test_an_outcome_is_frozen_at_the_deadline(front, gate, listener):
    """
    R17: what a body does later, raising or writing, does not change what was answered.
    """

    @tool(timeout=0.02)
    def late() -> str:
        """Hang and then fail."""
        gate.pass_through()
        raise ValueError("late")

    client = ToolClient([late], hooks=[listener])
    result = call(front, client, "late")
    before = (result.to_dict(), pickle.dumps(result))
    gate.open()
    listener.wait_for(LateFinish)

    assert before == (result.to_dict(), pickle.dumps(result))


@pytest.mark.parametrize(
    "value",
    ["text", {"a": [1]}, None, Order(number=5, lines=[]), datetime.date(2026, 1, 1)],
)
def test_a_result_pickles_with_its_value(front, value):
    """
    A host keeps it, or sends it to another process.
    """
    result = result_of(front, value, clock=FakeClock())

    assert result == pickle.loads(pickle.dumps(result))
