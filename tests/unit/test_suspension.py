"""
The records of what waits and of what is decided about it.
"""

from __future__ import annotations

import dataclasses
import json
import pickle

from datetime import timedelta

import pytest

from suspending import CALLS, client_of, travelled
from tooldecl import Suspension, ToolCall
from tooldecl.exceptions import CallError, CallPendingError, DeclarationError
from tooldecl.filters import Answer, Approved, Denied, Suspend


BROKEN = [
    "",
    "[]",
    "null",
    "{}",
    '{"tooldecl": 99}',
    '{"tooldecl": 1}',
    '{"tooldecl": 1, "id": "s", "calls": 5}',
]


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_suspension_cannot_be_read(text):
    """
    A file of something else is found when it is read.
    """
    with pytest.raises(ValueError):
        Suspension.from_json(text)


FIELDS = {
    "kind": ["other", None, 5],
    "place": ["0", None, True],
    "arguments": [None, []],
    "call_id": [5, None, "nowhere"],
    "expires_at": ["soon"],
    "given": [None],
    "more": [1],
}


@pytest.mark.parametrize(
    ("field", "value"), [(f, v) for f, values in FIELDS.items() for v in values]
)
def test_a_suspension_with_an_odd_field_cannot_be_read(field, value):
    """
    Better than a comparison that fails in the middle of a resume.
    """
    first = client_of().invoke_batch(CALLS)
    plain = json.loads(first.suspension.to_json())
    plain["calls"][0][field] = value
    with pytest.raises(ValueError):
        Suspension.from_json(json.dumps(plain))


def test_a_state_without_a_json_form_is_named():
    """
    The host learns which slot it is, when it writes the suspension down.
    """
    client = client_of(state={"good": 1, "socket": object()})
    first = client.invoke_batch(CALLS)
    with pytest.raises(TypeError) as caught:
        first.suspension.to_json()

    assert str(caught.value).startswith(
        "The slot 'socket' of the state holds a object,"
    )


def test_what_is_read_is_what_was_written():
    """
    APR-10: every field of every call, and the results but for their errors.
    """
    first = client_of(state={"deep": {"er": [1]}}).invoke_batch(CALLS)
    before, after = first.suspension, travelled(first.suspension)

    assert (before.id, before.calls, before.state, before.snapshot) == (
        after.id,
        after.calls,
        after.state,
        after.snapshot,
    )
    assert [dataclasses.replace(r, error=None, writes={}) for r in before.results] == [
        dataclasses.replace(r, error=None) for r in after.results
    ]
    assert after.to_json() == travelled(after).to_json()
    assert CallPendingError is type(after.results[1].error)


def test_errors_come_back_by_their_texts():
    """
    What a body raised is of its process; what the model reads of it travels.
    """
    calls = [ToolCall("add", {"a": 1}, "a"), *CALLS[1:2]]
    first = client_of().invoke_batch(calls)
    after = travelled(first.suspension)

    assert (CallError, first[0].content, "invalid") == (
        type(after.results[0].error),
        str(after.results[0].error),
        after.results[0].status,
    )


def test_its_mappings_cannot_be_changed():
    """
    What was decided about is what is in it.
    """
    call = client_of().invoke_batch(CALLS).suspension.calls[0]
    for change in (
        lambda: call.arguments.__setitem__("amount", 1),
        lambda: setattr(call, "place", 9),
    ):
        with pytest.raises((TypeError, AttributeError)):
            change()


def test_a_batch_pickles_with_what_waits():
    """
    Hosts send results between their own processes.
    """
    batch = client_of().invoke_batch(CALLS)
    again = pickle.loads(pickle.dumps(batch))

    assert batch.suspension.calls == again.suspension.calls
    assert [r.status for r in batch] == [r.status for r in again]


@pytest.mark.parametrize(
    ("decision", "shown"),
    [
        (Approved(), "Approved(arguments=None)"),
        (Denied("no"), "Denied(reason='no')"),
        (Answer("done"), "Answer(text='done')"),
        (Suspend(), "Suspend(expires=None)"),
        (Suspend(expires=timedelta(minutes=1)), "Suspend(expires=60.0)"),
    ],
)
def test_decisions_are_plain_records(decision, shown):
    """
    They are compared, printed, pickled and never changed.
    """
    assert (shown, decision) == (
        repr(decision),
        pickle.loads(pickle.dumps(decision)),
    )
    with pytest.raises(AttributeError):
        setattr(decision, dataclasses.fields(decision)[0].name, None)


@pytest.mark.parametrize("seconds", [0, -1, True, "1", float("inf")])
def test_a_limit_that_is_no_number_of_seconds_is_refused(seconds):
    """
    The rule is that of every other number of seconds.
    """
    with pytest.raises(DeclarationError) as caught:
        Suspend(expires=seconds)

    assert str(caught.value).startswith("Suspend(expires=...)")


def test_edited_arguments_are_copied():
    """
    A form that is changed later changes no decision.
    """
    given = {"amount": 1, "lines": [1]}
    decision = Approved(arguments=given)
    given["lines"].append(2)

    assert {"amount": 1, "lines": [1]} == decision.arguments
