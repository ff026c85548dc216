"""
A run of a loop that is told to stop: what runs may end, and nothing more begins.
"""

from __future__ import annotations

import threading

import pytest

from loops import calls, check, outcomes, resume, run, scripted
from ordering import HANGS_AFTER
from scenarios.noting_tools import RUNS, note, notes
from tooldecl import Retry, ToolClient, ToolLoop, Turn, tool
from tooldecl.engines import ThreadEngine
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.telemetry import AttemptFailed
from tooldecl.testing import FakeClock


def test_a_run_that_was_told_to_stop_asks_nobody(front):
    """
    CAN-01: before it began, so it costs not one request.
    """
    stop = threading.Event()
    stop.set()
    model = scripted("Never said.")
    result = run(front, ToolLoop(ToolClient([note]), model), stop=stop)

    assert ("cancelled", 0, []) == (result.stop_reason, result.turns, model.requests)


def test_a_body_that_runs_may_end_and_no_other_begins(front):
    """
    CAN-02, R25: told in the first of three; it returns, the others are answered, and no
    model is asked again.
    """
    stop = threading.Event()

    @tool
    def stopping() -> str:
        """Stop the run."""
        stop.set()
        return "stopped it"

    turn = [*calls(("s", "stopping")), *notes("a", "b")]
    model = scripted(turn, "Never said.")
    result = run(front, ToolLoop(ToolClient([note, stopping]), model), stop=stop)
    check(result.messages)

    assert ("cancelled", [], 1) == (result.stop_reason, RUNS, len(model.requests))
    assert [("s", "ok"), ("a", "cancelled"), ("b", "cancelled")] == outcomes(result)
    assert (
        "The call of 'note' was cancelled. It never started."
        == result.messages[-1]["content"]
    )


def test_a_run_is_stopped_from_another_thread(front, gate):
    """
    CAN-02: while two bodies are inside; both end and are answered, the queue is not.
    """
    stop = threading.Event()

    @tool
    def held() -> str:
        """Wait at the gate."""
        gate.pass_through()
        return "through"

    def stopping():
        gate.wait_for_arrivals(2)
        stop.set()
        gate.open()

    other = threading.Thread(target=stopping)
    other.start()
    turn = [*calls(("x", "held"), ("y", "held")), *notes("a", "b")]
    client = ToolClient([note, held], engine=ThreadEngine(max_concurrency=2))
    result = run(front, ToolLoop(client, scripted(turn)), stop=stop)
    other.join(HANGS_AFTER)

    assert ["ok", "ok", "cancelled", "cancelled"] == [s for _, s in outcomes(result)]
    assert ("cancelled", []) == (result.stop_reason, RUNS)


def test_a_stop_while_the_model_thinks_runs_none_of_its_calls(front):
    """
    CAN-06: the calls that it then makes are answered; words alone are still an answer.
    """
    stop = threading.Event()

    class Thinking:
        def __init__(self, turn):
            self._turn = turn

        def respond(self, request):
            stop.set()
            return self._turn

        async def arespond(self, request):
            return self.respond(request)

    client = ToolClient([note])
    result = run(front, ToolLoop(client, Thinking(Turn(calls=notes("a")))), stop=stop)
    check(result.messages)
    stop.clear()
    words = run(front, ToolLoop(client, Thinking(Turn("Done."))), stop=stop)

    assert ("cancelled", [("a", "cancelled")], []) == (
        result.stop_reason,
        outcomes(result),
        RUNS,
    )
    assert ("answer", "Done.") == (words.stop_reason, words.text)


def failing_client(stop, attempts, **options):
    """
    Make a client of a tool that fails, and perhaps stops its run.
    """

    @tool(retry=Retry(attempts=3, delay=5, jitter=0))
    def failing(stops: bool) -> None:
        """Fail."""
        attempts.append(stops)
        if stops:
            stop.set()
        raise ConnectionError

    return ToolClient([failing], **options)


@pytest.mark.parametrize(("stops", "count"), [(False, 3), (True, 1)])
def test_no_attempt_follows_a_stop(front, stops, count):
    """
    CAN-02: a retry would be a body that begins, and nobody waits for one; without the
    stop, which is the control, there are three.
    """
    stop, attempts, clock = threading.Event(), [], FakeClock()
    client = failing_client(stop, attempts, clock=clock)
    turn = calls(("a", "failing", {"stops": stops}))
    run(front, ToolLoop(client, scripted(turn, "Well.")), stop=stop)

    assert ([stops] * count, count - 1) == (attempts, len(clock.sleeps))


def test_a_stop_between_two_attempts_is_in_time(front):
    """
    CAN-02: told while the call waits for its next attempt.
    """
    stop, attempts = threading.Event(), []

    def stopping(event):
        if isinstance(event, AttemptFailed):
            stop.set()

    client = failing_client(stop, attempts, clock=FakeClock(), hooks=[stopping])
    turn = calls(("a", "failing", {"stops": False}))
    result = run(front, ToolLoop(client, scripted(turn)), stop=stop)

    assert ([False], [("a", "tool_error")]) == (attempts, outcomes(result))


@pytest.mark.parametrize("stops", [False, True])
def test_a_stop_while_somebody_is_asked_is_in_time(front, stops):
    """
    CAN-02: he says yes, and the run is over; without the stop, which is the control, the
    body runs.
    """
    stop = threading.Event()

    @tool(sensitive=True)
    def pay() -> str:
        """Pay."""
        RUNS.append("pay")
        return "paid"

    def approve(request):
        if stops:
            stop.set()
        return Approved()

    client = ToolClient([pay], filters=[Approval(approve)])
    loop = ToolLoop(client, scripted(calls(("p", "pay")), "Well."))
    result = run(front, loop, stop=stop)

    assert ([] if stops else ["pay"], "cancelled" if stops else "ok") == (
        RUNS,
        result.results[0].status,
    )


def test_what_was_approved_runs_despite_a_stop(front):
    """
    CAN-03: the decision is the host's last word about the call; the model is asked no more.
    """

    @tool(sensitive=True)
    def pay() -> str:
        """Pay."""
        RUNS.append("pay")
        return "paid"

    stop = threading.Event()
    stop.set()
    client = ToolClient([pay], filters=[Approval(lambda request: Suspend())])
    loop = ToolLoop(client, scripted(calls(("p", "pay")), "Never said."))
    first = run(front, loop)
    result = resume(front, loop, first.suspension, {"p": Approved()}, stop=stop)

    assert ("cancelled", ["pay"], [("p", "ok")], 1) == (
        result.stop_reason,
        RUNS,
        outcomes(result),
        len(loop._model.requests),
    )
