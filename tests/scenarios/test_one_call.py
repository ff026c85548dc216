"""
One call has one answer, whatever happens, and both fronts give the same one.
"""

from __future__ import annotations

import json

import pytest

from fronts import call
from scenarios.odd_tools import RUNS, client_with
from tooldecl import NotFound
from tooldecl.exceptions import (
    InvalidArgumentsError,
    MalformedJSONError,
    ResultTooLargeError,
    ToolFailedError,
    UnencodableResultError,
    UnknownToolError,
)


def failed(text, error_class="semantic", attempts=1):
    """
    List what is expected of a body that raised.
    """
    return ("tool_error", "completed", error_class, attempts, text, ToolFailedError)


CALLS = [
    (
        ("look_up", {"key": "a"}),
        ("ok", "completed", None, 1, '{"a":"found"}', type(None)),
    ),
    (
        ("look_up", {"key": "nothing"}),
        (
            "not_found",
            "completed",
            None,
            1,
            "Tool 'look_up' ran and found nothing.",
            NotFound,
        ),
    ),
    (
        ("look_up", {"key": "no order"}),
        ("not_found", "completed", None, 1, "There is no order no order.", NotFound),
    ),
    (
        ("look_up", {"key": "group of nothing"}),
        ("not_found", "completed", None, 1, "Not in A. Not in B.", NotFound),
    ),
    (("look_up", {"key": "closed"}), failed("The shop is closed.", "environment")),
    (("look_up", {"key": "secret"}), failed("Tool 'look_up' failed: RuntimeError.")),
    (
        ("look_up", {"key": "exit"}),
        failed("Tool 'look_up' tried to end the program, with exit code 3."),
    ),
    (
        ("look_up", {"key": "exit with words"}),
        failed("Tool 'look_up' tried to end the program, with a message."),
    ),
    (
        ("look_up", {"key": "cancelled"}),
        failed("Tool 'look_up' failed: something it waited for was cancelled."),
    ),
    (("look_up", {"key": "stop"}), failed("Tool 'look_up' failed: StopIteration.")),
    (
        ("look_up", {"key": "timeout"}),
        failed("Tool 'look_up' failed: TimeoutError.", "transient"),
    ),
    (("look_up", {"key": "deep"}), failed("Tool 'look_up' failed: RecursionError.")),
    (("look_up", {"key": "assert"}), failed("Tool 'look_up' failed: AssertionError.")),
    (
        ("look_up", {"key": "import"}),
        failed("Tool 'look_up' failed: ModuleNotFoundError.", "environment"),
    ),
    (
        ("look_up", {"key": "group"}),
        failed("Tool 'look_up' failed: KeyError, OSError."),
    ),
    (
        ("look_up", {"key": "mixed"}),
        failed("Shop A is closed. Tool 'look_up' failed: OSError."),
    ),
    (
        ("talk", None),
        (
            "too_large",
            "completed",
            "semantic",
            1,
            "Tool 'talk' ran, but its result has 11 characters and the limit is 10. Ask "
            "for less.",
            ResultTooLargeError,
        ),
    ),
    (
        ("strange", {}),
        (
            "unencodable",
            "completed",
            "semantic",
            1,
            "Tool 'strange' ran, but its result cannot be sent: a value of this type has "
            "no JSON form (type object).",
            UnencodableResultError,
        ),
    ),
    (
        ("look_up", {"key": 5}),
        ("invalid", "not_started", "semantic", 0, None, InvalidArgumentsError),
    ),
    (
        ("look_up", '{"key": "a"'),
        ("invalid", "not_started", "semantic", 0, None, MalformedJSONError),
    ),
    (
        ("lookup", {"key": "a"}),
        (
            "unknown_tool",
            "not_started",
            "semantic",
            0,
            "There is no tool named 'lookup'. Use one of: 'look_up', 'talk', 'strange'.",
            UnknownToolError,
        ),
    ),
]


@pytest.mark.parametrize(("given", "expected"), CALLS, ids=lambda v: str(v)[:40])
def test_the_answer_of_one_call(front, given, expected):
    """
    GATE-08, GATE-09, GATE-10, GATE-11, CLS-01, CLS-07, FAT-01, FAT-02, FAT-03, RES-05, E-35, R119,
    R120: one line for each way a call can end, with the same words under both fronts. No
    text of a foreign exception is among them.
    """
    result = call(front, client_with(), *given)
    content = result.content if expected[4] is None else expected[4]

    assert (*expected[:4], content, expected[5]) == (
        result.status,
        result.fate,
        result.error_class,
        result.attempts,
        result.content,
        type(result.error),
    )
    assert (result.attempts, False) == (
        min(1, len(RUNS)),
        "hunter2" in result.to_json(),
    )


def comparable(result):
    """
    Leave out what differs from call to call.
    """
    plain = result.to_dict()

    return {k: v for k, v in plain.items() if k not in ("call_id", "elapsed")}


@pytest.mark.parametrize(
    "given", [given for given, _ in CALLS], ids=lambda v: str(v)[:40]
)
def test_both_fronts_give_equal_answers(given):
    """
    A host may change from one front to the other without reading the manual again.
    """
    results = [call(front, client_with(), *given) for front in ("sync", "async")]

    assert comparable(results[0]) == comparable(results[1])


@pytest.mark.parametrize(
    "given", [given for given, _ in CALLS], ids=lambda v: str(v)[:40]
)
@pytest.mark.parametrize("limit", [None, 11, 50])
def test_the_text_is_never_empty_and_within_its_limit(given, limit):
    """
    R111: whatever the status there is something to send, a result stays within its limit,
    and the text of a failure within 1,000 characters.
    """
    client = client_with(result_limit=limit, on_overflow="truncate")
    result = client.invoke(*given)
    longest = limit if result.ok and limit else 1000

    assert 0 < len(result.content.strip()) <= longest
    assert result.content == json.loads(result.to_json())["content"]
