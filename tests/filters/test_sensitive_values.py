"""
What a sensitive tool is called with stays between the model, the approver and the body.
"""

from __future__ import annotations

import logging

import pytest

from approving import client_with
from fronts import Listener, call, call_batch
from tooldecl import Suspension, ToolCall, ToolClient, tool
from tooldecl.exceptions import ResumeError
from tooldecl.filters import (
    Answer,
    Approval,
    Approved,
    Denied,
    Suspend,
)
from tooldecl.telemetry import AttemptFailed, LoggingHook
from waiting import COLOURS, layer


SECRET = "hunter2"


@tool(sensitive=True)
def login(password: str, tries: int = 1) -> str:
    """Log in."""
    if tries > 5:
        raise ValueError(f"bad password {password}")

    return "in"


def fail(request):
    """
    Fail with the arguments in the text.
    """
    raise ValueError(f"cannot decide about {dict(request.arguments)}")


def edit(request):
    """
    Make a slip that has the secret in it.
    """
    return Approved(arguments={"password": SECRET, "tries": SECRET})


OUTCOMES = {
    "approved": lambda _: Approved(),
    "edited": edit,
    "denied": lambda _: Denied("no"),
    "answered": lambda _: Answer("done"),
    "failed": fail,
    "suspended": lambda _: Suspend(),
    "nonsense": lambda request: dict(request.arguments),
}


def shown(result):
    """
    Collect what a host might print of a result.
    """
    error = result.error
    parts = [repr(result), str(error), repr(error), result.content, result.to_json()]
    suspension = getattr(error, "suspension", None)
    parts += [repr(suspension), repr(getattr(suspension, "calls", None))]

    return " ".join(parts)


@pytest.mark.parametrize("tries", [1, 9])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_values_are_in_no_log_event_or_error(front, outcome, tries, caplog):
    """
    R119, R121: whatever is decided, and whatever goes wrong on the way.
    """
    caplog.set_level(logging.DEBUG)
    listener = Listener()
    client = client_with(
        Approval(OUTCOMES[outcome]), tools=[login], hooks=[LoggingHook(), listener]
    )
    result = call(front, client, "login", {"password": SECRET, "tries": tries})

    assert SECRET not in caplog.text
    # What a body raises is handed to hooks as it is: it is the host's own.
    told = [e for e in listener.events if not isinstance(e, AttemptFailed)]
    assert SECRET not in repr(told)
    assert SECRET not in shown(result)


@pytest.mark.parametrize("kind", [*COLOURS, "flow"])
def test_a_filter_that_fails_around_it_logs_its_kind_alone(front, kind, caplog):
    """
    What goes wrong around a sensitive tool may hold the values it was given.
    """

    def failing(request):
        raise ValueError(f"{dict(request.arguments)}")
        yield request

    client = client_with(
        layer(kind, failing), Approval(lambda _: Approved()), tools=[login]
    )
    result = call(front, client, "login", {"password": SECRET})

    assert ("guard_failed", False) == (result.status, SECRET in caplog.text)
    assert SECRET not in shown(result)


def test_what_does_not_fit_a_suspended_call_is_refused_without_its_values(front):
    """
    R119: a slip of the host is told by its place.
    """
    client = client_with(Approval(lambda _: Suspend()), tools=[login])
    batch = call_batch(front, client, [ToolCall("login", {"password": SECRET}, "a")])
    slips = [
        Approved(arguments={"password": SECRET, "tries": SECRET}),
        SECRET,
        {"password": SECRET},
    ]
    for slip in slips:
        with pytest.raises(ResumeError) as caught:
            client.resume(batch.suspension, {"a": slip})
        assert SECRET not in f"{caught.value} {caught.value!r}"


def test_a_suspension_carries_the_values_in_its_json_alone(front):
    """
    They have to be somewhere to go on; who prints the object shows none of them.
    """
    client = ToolClient([login], filters=[Approval(lambda _: Suspend())])
    batch = call_batch(front, client, [ToolCall("login", {"password": SECRET}, "a")])
    suspension = batch.suspension

    assert SECRET not in f"{suspension!r} {suspension.calls!r}"
    assert SECRET in suspension.to_json()
    again = Suspension.from_json(suspension.to_json())
    assert suspension.calls == again.calls
