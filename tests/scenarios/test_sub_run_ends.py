"""
How a loop ends that is a tool of another: with its call, and never without a word.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from fronts import call
from loops import calls, check, run, scripted
from scenarios.noting_tools import RUNS, note
from scenarios.sub_loops import ask, one_call, sub
from tooldecl import (
    Budget,
    Retry,
    Suspension,
    ToolClient,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.exceptions import NotImportableError, SubRunError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.testing import ScriptedModel


@tool(sensitive=True)
def pay(word: str) -> str:
    """Pay."""
    RUNS.append("pay")

    return "paid"


def waiting_client():
    """
    Make a client whose approvals are decided later.
    """
    return ToolClient([note, pay], filters=[Approval(lambda request: Suspend())])


WITHOUT_ANSWER = {
    "max_turns": ({"max_turns": 1}, "has used up its 1 turn", ["note"]),
    "budget": (
        {"budget": Budget(calls=1)},
        "was ended by its budget (calls)",
        ["note"] * 2,
    ),
    "repeats": (
        {"budget": Budget(repeats=2)},
        "made the same call again and again",
        ["note"] * 2,
    ),
    "suspended": (
        {},
        "waits for what is decided elsewhere about its call of 'pay'",
        ["pay"],
    ),
}


@pytest.mark.parametrize("reason", WITHOUT_ANSWER)
def test_a_child_without_an_answer_says_why(front, reason):
    """
    SUB-04: never with an empty text, and never as if it were an answer; the host has all
    of what was done.
    """
    options, why, names = WITHOUT_ANSWER[reason]
    model = scripted(*(one_call(name) for name in names))
    result = ask(front, ToolLoop(waiting_client(), model, **options))
    cause = result.error.__cause__

    assert ("tool_error", f"The sub-run 'research' {why}. It has no answer.") == (
        result.status,
        result.content,
    )
    assert (SubRunError, reason, reason, "research") == (
        type(cause),
        cause.stop_reason,
        cause.result.stop_reason,
        cause.name,
    )
    check(cause.result.messages)


def test_a_suspended_child_can_be_resumed_by_the_host(front):
    """
    EXT-01: its suspension is in the error; what it says then is for the host to use.
    """
    loop = ToolLoop(waiting_client(), scripted(one_call("pay"), "It is paid."))
    suspension = ask(front, loop).error.__cause__.result.suspension
    assert isinstance(suspension, Suspension)
    result = loop.resume(suspension, {"c": Approved()})

    assert ("It is paid.", ["pay"]) == (result.text, RUNS)


def test_a_child_that_was_cut_off_says_so(front):
    """
    SUB-04: its parent would take half an answer for a whole one.
    """
    cut = ScriptedModel([Turn("The sum is 1", truncated=True)])
    result = ask(front, ToolLoop(ToolClient([note]), cut))

    said = "The sum is 1\n(Here the answer of 'research' was cut off by its length.)"
    assert ("ok", said) == (result.status, result.content)


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_child_without_a_word_is_not_empty(front, text):
    """
    SUB-04: an empty answer would look like a lost one.
    """
    result = ask(front, ToolLoop(ToolClient([note]), scripted(text)))

    assert ("ok", "The sub-run 'research' ended without a word.") == (
        result.status,
        result.content,
    )


def test_a_child_whose_model_fails_is_a_tool_that_failed(front):
    """
    SPEC 4: by its cause, so a connection that was lost is tried again where that was
    declared, as a run of its own.
    """
    loop = ToolLoop(ToolClient([note]), scripted(ConnectionError("secret"), "Found."))
    failing = ToolLoop(ToolClient([note]), scripted(ConnectionError("secret")))
    result = ask(front, loop, retry=Retry(attempts=2, delay=0))
    failed = ask(front, failing)

    assert ("Found.", 2) == (result.content, result.attempts)
    assert ("tool_error", "transient", "Tool 'research' failed: ModelFailedError.") == (
        failed.status,
        failed.error_class,
        failed.content,
    )


class Hanging:
    """
    A model that makes one call, then waits for ever; of one colour.
    """

    def __init__(self):
        self.asked = 0
        self.hangs = threading.Event()
        self.ends = threading.Event()

    def respond(self, request):
        """
        Return the first turn, and no other before the test has ended.
        """
        self.asked += 1
        if self.asked == 1:
            return Turn(calls=one_call())
        self.hangs.set()
        self.ends.wait()

        return Turn("Never said.")


def with_time_to_begin(run_within, has_begun):
    """
    Give a child so much time that it comes to the point of the test, on any machine.
    """
    for seconds in (0.2, 1, 5, 20):
        RUNS.clear()
        result = run_within(seconds)
        if has_begun():
            return result

    raise AssertionError("No child came so far.")


def test_a_child_that_is_late_is_stopped(front):
    """
    SUB-04, SUB-05, SUB-09: the parent's answer says so, also where the child's model only
    knows sync code; what it may say later changes nothing.
    """
    models = []

    def run_within(seconds):
        models.append(Hanging())
        return ask(front, ToolLoop(ToolClient([note]), models[-1]), timeout=seconds)

    result = with_time_to_begin(
        run_within, lambda: all(model.hangs.is_set() for model in models[-1:])
    )
    for model in models:
        model.ends.set()

    assert ("timeout", "stopped", ["w"]) == (result.status, result.fate, RUNS)
    assert result.content.endswith("the limit declared on it. It was stopped.")


def test_a_tool_cannot_be_found_by_a_worker():
    """
    SPEC 2: a loop lives in this process, so a promise to kill it is refused at build.
    """
    child = ToolLoop(ToolClient([note]), scripted("Found."))
    with pytest.raises(NotImportableError):
        ToolClient([sub(child, isolation="process")])


async def test_a_parent_that_is_cancelled_ends_its_child():
    """
    E-27, CAN-02: down to the body that runs two loops deeper; no model is asked again.
    """
    started, heard = asyncio.Event(), []

    @tool
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            heard.append("cancel")

    models = [scripted(calls(("c", "hang")), "Never said.")]
    loop = ToolLoop(ToolClient([hang]), models[0])
    for _ in range(2):
        models.append(scripted(one_call("research", {"task": "y"}), "Never said."))
        loop = ToolLoop(ToolClient([sub(loop)]), models[-1])
    task = asyncio.create_task(loop.arun("Hi"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (["cancel"], [1, 1, 1]) == (heard, [len(m.requests) for m in models])


def test_a_run_that_is_told_to_stop_stops_its_child(front):
    """
    CAN-02: told inside of the child's tool; the child asks its model no more and begins
    no further body, and the parent neither.
    """
    stop = threading.Event()

    @tool
    def stopping() -> str:
        """Stop the run."""
        stop.set()
        return "stopped it"

    inner = scripted([*calls(("s", "stopping")), *one_call()], "Never said.")
    outer = scripted(one_call("research", {"task": "x"}), "Never said.")
    child = ToolLoop(ToolClient([note, stopping]), inner)
    result = run(front, ToolLoop(ToolClient([sub(child)]), outer), stop=stop)
    [answer] = result.results

    assert ("cancelled", [1, 1], []) == (
        result.stop_reason,
        [len(model.requests) for model in (inner, outer)],
        RUNS,
    )
    assert "The sub-run 'research' was stopped. It has no answer." == answer.content


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("several", [False, True])
def test_a_child_is_not_stopped_while_a_body_of_it_may_run(front, gate, depth, several):
    """
    SUB-05: the sub-run itself has ended, and a thread of it cannot be; the parent's text
    says so, and a retry does not run all of it beside that body.
    """

    @tool
    def held() -> str:
        """Wait at the gate."""
        RUNS.append("held")
        gate.pass_through()
        return "late"

    def run_within(seconds):
        loop = ToolLoop(ToolClient([held]), scripted(calls(("c", "held"))))
        for _ in range(depth - 1):
            turn = one_call("research", {"task": "y"})
            loop = ToolLoop(ToolClient([sub(loop)]), scripted(turn))
        options = {"timeout": seconds, "retry": Retry(attempts=3, delay=0)}
        make = loop.fan_out if several else loop.as_tool
        made = make(name="ask", description="Ask.", **options)
        given = {"tasks": ["x"]} if several else {"task": "x"}
        return call(front, ToolClient([made]), "ask", given)

    result = with_time_to_begin(run_within, lambda: bool(RUNS))

    assert ("timeout", "abandoned", 1) == (result.status, result.fate, result.attempts)
    assert result.content.endswith("It may still be running and may still take effect.")


def test_a_child_that_cannot_be_stopped_goes_no_further(front):
    """
    SUB-05, E-27: its model swallows the cancellation; the parent's answer says that it
    may be running, and then it asks nobody and runs nothing. Without the timeout, which
    is the control, it does.
    """
    late = threading.Event()

    class Stubborn:
        def __init__(self, waits):
            self.asked = 0
            self._waits = waits

        async def arespond(self, request):
            self.asked += 1
            if self.asked > 1:
                return Turn("Said.")
            while self._waits and not late.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    pass
            return Turn(calls=one_call())

    models, ended = [], threading.Event()

    def run_within(seconds):
        models.append(Stubborn(True))
        loop = ToolLoop(ToolClient([note]), models[-1])
        made = sub(loop, timeout=seconds, isolation="thread")
        client = ToolClient([made], hooks=[lambda e: _set_when_late(e, ended)])
        return call(front, client, "research", {"task": "x"})

    result = with_time_to_begin(run_within, lambda: models[-1].asked > 0)
    late.set()
    assert ended.wait(20)
    ran = list(RUNS)
    willing = Stubborn(False)
    control = ask(front, ToolLoop(ToolClient([note]), willing))

    assert ("timeout", "abandoned", 1, []) == (
        result.status,
        result.fate,
        models[-1].asked,
        ran,
    )
    assert ("Said.", 2, ["w"]) == (control.content, willing.asked, RUNS)


def _set_when_late(event, ended):
    if type(event).__name__ == "LateFinish":
        ended.set()
