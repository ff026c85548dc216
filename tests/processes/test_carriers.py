"""
Hooks that take texts along into worker processes.
"""

from __future__ import annotations

import logging

import pytest

from fronts import call
from processes.carrying_hooks import (
    ELSEWHERE,
    NAME,
    CarryName,
    CarryTooMuch,
    FailToCarry,
    FailToRestore,
    who,
    who_async,
)
from tooldecl import DeclarationError, ToolClient, tool
from tooldecl.telemetry import Carrier


pytestmark = pytest.mark.slow


@pytest.mark.parametrize("body", [who, who_async], ids=lambda body: body.__name__)
def test_what_a_hook_takes_along_is_restored_around_the_body(front, body):
    """
    It is asked in the caller's context variables, and restores into those of the body.
    """
    with ToolClient([body], hooks=[CarryName()]) as client:
        token = NAME.set("Ada")
        first = call(front, client, body.__name__)
        NAME.reset(token)
        second = call(front, client, body.__name__)

    assert [["Ada", "True"], ["nobody", "True"]] == [first.value, second.value]
    assert ("nobody", "nothing") == (NAME.get(), ELSEWHERE.get())


@pytest.mark.parametrize(
    ("hook", "logged"),
    [
        (FailToCarry(), "FailToCarry failed to carry texts."),
        (CarryTooMuch(), "CarryTooMuch failed to carry texts."),
        (FailToRestore(), None),  # the worker's log
    ],
)
def test_a_hook_that_fails_costs_no_call(hook, logged, caplog):
    """
    A watcher cannot break a call, on neither side; the next hook does its part.
    """
    with (
        caplog.at_level(logging.ERROR, "tooldecl"),
        ToolClient([who], hooks=[hook, CarryName()]) as client,
    ):
        result = client.invoke("who")

    assert ["nobody", "True"] == result.value
    assert bool(logged) == any(text.endswith(str(logged)) for text in caplog.messages)


def test_a_hook_that_no_worker_could_find_is_refused():
    """
    It would carry nothing, and nobody would know; where no tool needs it, it is fine.
    """

    class Local(CarryName):
        """
        A hook with no name to find it by.
        """

    with pytest.raises(DeclarationError) as caught:
        ToolClient([who], hooks=[Local()])

    assert str(caught.value).startswith("The hook ")
    assert str(caught.value).endswith(
        "Local takes texts along into worker processes, which could not find it: define "
        "its class at the top level of a module that is not the script that is run."
    )

    @tool
    def here() -> str:
        """Stay here."""
        return "here"

    assert "here" == ToolClient([here], hooks=[Local()]).invoke("here").value


def test_a_hook_that_only_watches_is_no_carrier():
    """
    Most hooks take nothing along, and nothing is asked of them.
    """
    assert [True, False] == [isinstance(h, Carrier) for h in (CarryName(), print)]
