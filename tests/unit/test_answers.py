"""
The one result of a call: true about the body, and within its limits, whatever came.
"""

from __future__ import annotations

import contextvars

import pytest

from tooldecl import Fate, NotFound, Status, ToolError, ToolResult
from tooldecl._answers import Answers
from tooldecl._context import CallFacts, ToolContext
from tooldecl._isolation import Attempt
from tooldecl._pipeline._layers import _checked
from tooldecl.exceptions import (
    ApprovalDeniedError,
    ApprovalExpiredError,
    BudgetExceededError,
    CallCancelledError,
    CallError,
    CallPendingError,
    EngineBusyError,
    GuardFailedError,
    InvalidArgumentsError,
    MalformedJSONError,
    NotRunError,
    ResultTooLargeError,
    ToolFailedError,
    ToolTimeoutError,
    UnencodableResultError,
    UnknownToolError,
    WorkerDiedError,
)


def attempt_that(*, value=None, error=None):
    """
    Make an attempt whose body has ended.
    """
    context = ToolContext(CallFacts("c1", {}), attempt=1)
    attempt = Attempt(lambda *_: None, {}, context, contextvars.copy_context())
    attempt.started = True
    attempt.value, attempt.error = value, error
    attempt.fate = Fate.COMPLETED

    return attempt


def answers_after(*attempts, limit=None, overflow="fail"):
    """
    Make the answers of a call that has made these attempts.
    """
    answers = Answers("c1", "f", limit, overflow)
    for attempt in attempts:
        answers.begin(attempt)

    return answers


def success_of(value, **limits):
    """
    Make the whole result of a body that returned.
    """
    attempt = attempt_that(value=value)
    answers = answers_after(attempt, **limits)

    return answers.fitted(answers.success(attempt))


def failure_of(error, **limits):
    """
    Make the whole result of a body that raised.
    """
    attempt = attempt_that(error=error)
    answers = answers_after(attempt, **limits)

    return answers.fitted(answers.failure(error, attempt, raised=True))


REFUSALS = [
    (ApprovalDeniedError(tool="f", reason="no"), "denied", "semantic"),
    (ApprovalExpiredError(tool="f", limit=1), "approval_expired", "semantic"),
    (CallPendingError(tool="f", kind="approval"), "pending", "semantic"),
    (
        BudgetExceededError(
            tool="f", limit_name="calls", limit=1, spent=1, level="client"
        ),
        "budget",
        "semantic",
    ),
    (CallCancelledError(tool="f", fate="stopped"), "cancelled", "semantic"),
    (EngineBusyError(tool="f", reason="full"), "busy", "transient"),
    (
        GuardFailedError(tool="f", filter_name="g", ran=False),
        "guard_failed",
        "semantic",
    ),
    (InvalidArgumentsError(tool="f", problems=[("$", "no")]), "invalid", "semantic"),
    (MalformedJSONError(reason="no"), "invalid", "semantic"),
    (NotRunError(tool="f", reason="no"), "not_run", "semantic"),
    (ResultTooLargeError(tool="f", limit=1, size=2), "too_large", "semantic"),
    (ToolFailedError(tool="f", type_names=["E"]), "tool_error", "semantic"),
    (
        ToolTimeoutError(tool="f", timeout=1, source="engine", fate="stopped"),
        "timeout",
        "transient",
    ),
    (
        UnencodableResultError(tool="f", type_name="T", reason="no"),
        "unencodable",
        "semantic",
    ),
    (UnknownToolError(name="f"), "unknown_tool", "semantic"),
    (WorkerDiedError(tool="f", exit_code=-9), "worker_died", "transient"),
]


@pytest.mark.parametrize(("error", "status", "error_class"), REFUSALS)
def test_each_error_has_its_status_and_class(error, status, error_class):
    """
    A status is decided by what happened, in one place for both fronts.
    """
    result = answers_after().refusal(error)

    assert (status, error_class, str(error), True) == (
        result.status,
        result.error_class,
        result.content,
        result.error is error,
    )


def test_every_error_of_a_call_has_a_status():
    """
    A class without one would leave the client as a KeyError.
    """
    assert {type(error) for error, *_ in REFUSALS} == set(CallError.__subclasses__())


@pytest.mark.parametrize("error", [error for error, *_ in REFUSALS])
def test_an_error_of_this_library_that_a_body_raised_is_the_bodys(error):
    """
    A tool that uses another client and lets its error out has failed; it was not refused
    itself, and it did not miss its own deadline.
    """
    result = failure_of(error)

    assert (
        "tool_error",
        "completed",
        1,
        f"Tool 'f' failed: {type(error).__name__}.",
    ) == (
        result.status,
        result.fate,
        result.attempts,
        result.content,
    )


@pytest.mark.parametrize(
    ("limit", "longest"),
    [(None, 20_000), (5, 40), (1000, 1000), (20_000, 20_000), (10**6, 20_000)],
)
@pytest.mark.parametrize("kind", [ToolError, NotFound])
def test_a_megabyte_from_an_author_is_cut(kind, limit, longest):
    """
    Failures are never refused for their size: an author's words are cut to the limit, and
    to no less than the mark of the cut needs.
    """
    result = failure_of(kind("x" * 10**6), limit=limit)

    assert (longest, True, 10**6) == (
        len(result.content),
        result.truncated,
        result.original_size,
    )


@pytest.mark.parametrize("error", [error for error, *_ in REFUSALS])
def test_our_own_words_are_whole_whatever_the_limit(error):
    """
    "It may still be running" is the last thing to leave out.
    """
    answers = answers_after(limit=5)
    result = answers.fitted(answers.refusal(error))

    assert (str(error), False) == (result.content, result.truncated)


@pytest.mark.parametrize("error", [ToolError(""), ToolError(" \n"), NotFound(" ")])
def test_a_failure_without_words_is_not_empty(error):
    """
    A provider refuses an empty message, and a blank one tells a model nothing.
    """
    general = {
        ToolError: "Tool 'f' failed: ToolError.",
        NotFound: "Tool 'f' ran and found nothing.",
    }

    assert general[type(error)] == failure_of(error).content


def test_half_characters_in_an_authors_text_are_replaced():
    """
    R111: a text that cannot be sent would break every later request of the conversation.
    """
    result = failure_of(ToolError("bad \ud800 text \ud83d\ude00"))

    assert "bad \ufffd text \U0001f600" == result.content.encode().decode()


class MuteError(ToolError):
    """
    An error whose text cannot be read.
    """

    def __str__(self):
        raise RuntimeError("no text")


def test_an_error_whose_text_cannot_be_read_is_named_by_its_type():
    """
    Nothing that a tool raises may leave the client in another form than a result.
    """
    assert "Tool 'f' failed: MuteError." == failure_of(MuteError("x")).content


def test_a_group_of_findings_is_a_finding():
    """
    A tool that looks in several places by a task group has still only found nothing.
    """
    group = ExceptionGroup("", [NotFound("Not here."), NotFound("Not there.")])
    result = failure_of(group)

    assert ("not_found", "Not here. Not there.", None) == (
        result.status,
        result.content,
        result.error_class,
    )


@pytest.mark.parametrize(
    ("value", "content"),
    [("", '""'), ("12345", "12345"), (None, "null"), ([], "[]"), (bytearray(), '""')],
)
def test_a_result_at_its_limit_is_accepted_and_none_is_empty(value, content):
    """
    RES-01: the limit is what may be sent, the last character included.
    """
    result = success_of(value, limit=5)

    assert ("ok", content, False) == (result.status, result.content, result.truncated)


def test_a_result_beyond_its_limit_fails_or_is_cut():
    """
    RES-02: 39 characters of room hold a head, the mark with the size, and a tail.
    """
    text = "abcdefghij" * 4
    failed = success_of(text, limit=39)
    cut = success_of(text, limit=39, overflow="truncate")

    assert ("too_large", text, text) == (failed.status, failed.value, cut.value)
    assert ("ok", 39, True, 40) == (
        cut.status,
        len(cut.content),
        cut.truncated,
        cut.original_size,
    )


def test_a_body_counts_as_run_once_any_attempt_has_started():
    """
    A later attempt that never began does not undo what an earlier one may have done.
    """
    ran, never = attempt_that(), attempt_that()
    never.started = False

    assert [False, False, True, True] == [
        answers_after(*attempts).ran for attempts in ([], [never], [ran], [ran, never])
    ]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", 5),
        ("content", None),
        ("content", "\ud800"),
        ("status", "fine"),
        ("status", None),
        ("error", "no"),
        ("error", KeyboardInterrupt()),
    ],
)
def test_a_result_that_a_filter_made_up_is_checked(field, value):
    """
    What is no result must not reach a transcript under the name of one.
    """
    fields = {"call_id": "c", "name": "f", "status": Status.OK, "content": "x"}
    made = ToolResult(**fields | {field: value})
    with pytest.raises(TypeError):
        _checked(made)


def test_a_status_that_a_filter_wrote_as_text_is_that_status():
    """
    ``Status`` is a string enum, so a filter may well write ``"ok"``.
    """
    made = ToolResult(call_id="c", name="f", status="ok", content="x")

    assert _checked(made).status is Status.OK
