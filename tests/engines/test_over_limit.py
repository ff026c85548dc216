"""
What happens to more calls than an engine runs at once.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from engine_stage import begin, begin_batch, client_of, outcome, peak
from fronts import Listener, call, call_batch
from tooldecl import Retry, ToolCall, ToolClient, tool
from tooldecl.engines import SequentialEngine, ThreadEngine
from tooldecl.telemetry import CallFinished, CallStarted, LateFinish


FULL = "all {} places of the engine are taken."


def given(stage, word):
    """
    Return the arguments of one call.
    """
    return {"where": stage.where, "word": word}


class TestReject:
    """
    ``over_limit="reject"``: no queue.
    """

    def test_what_is_too_much_is_busy_at_once(self, overlapping, front, stage):
        """
        TMO-28, GATE-13: the surplus has its answer while the first two are still held,
        and it is the first two that were taken.
        """
        listener = Listener()
        engine = overlapping.make(max_concurrency=2, over_limit="reject")
        entries = [("hold", "a"), ("hold", "b"), ("work", "c"), ("work", "d")]
        client = client_of(engine, hooks=[listener])
        future = begin_batch(front, client, stage.calls(*entries))
        stage.arrivals(2)
        early = listener.wait_for(CallFinished, 2)
        stage.go(2)
        results = outcome(future)

        assert ["c", "d"] == [event.call_id for event in early]
        assert ["ok", "ok", "busy", "busy"] == [r.status for r in results]
        assert ("not_started", 0) == (results[2].fate, results[2].attempts)
        assert results[2].content.endswith(FULL.format(2))

    def test_single_calls_are_busy_too(self, case, front, stage):
        """
        TMO-28: from another thread and another client, until there is room again.
        """
        engine = case.make(max_concurrency=1, over_limit="reject")
        client, other = client_of(engine), client_of(engine)
        first = begin(call, front, client, "hold", given(stage, "a"))
        stage.arrivals(1)
        during = call(front, other, "work", given(stage, "b"))
        stage.go()
        outcome(first)
        after = call(front, other, "work", given(stage, "c"))

        assert ("busy", "ok") == (during.status, after.status)
        assert ["in a", "out a", "in c", "out c"] == stage.journal

    def test_what_cannot_run_takes_no_place(self, overlapping, front, stage):
        """
        GATE-13: an unknown tool and odd arguments are refused as such, also when all
        places are taken.
        """
        engine = overlapping.make(max_concurrency=1, over_limit="reject")
        calls = [
            *stage.calls(("hold", "a")),
            ToolCall("unheard_of"),
            ToolCall("work", {"word": 5}),
            *stage.calls(("work", "b")),
        ]
        listener = Listener()
        client = client_of(engine, hooks=[listener])
        future = begin_batch(front, client, calls)
        stage.arrivals(1)
        listener.wait_for(CallFinished, 3)
        stage.go()

        assert ["ok", "unknown_tool", "invalid", "busy"] == [
            result.status for result in outcome(future)
        ]

    def test_an_abandoned_body_keeps_its_place(self, front, gate):
        """
        TMO-27, TMO-28, SPEC 6: busy means busy, until the body has really ended.
        """
        listener, client = stuck_client(gate, over_limit="reject")
        stuck = call(front, client, "stuck")
        during = call(front, client, "quick")
        gate.open()
        listener.wait_for(LateFinish)
        after = call(front, client, "quick")

        assert ("timeout", "abandoned") == (stuck.status, stuck.fate)
        assert ("busy", "ok") == (during.status, after.status)

    def test_it_keeps_none_where_calls_wait(self, front, gate):
        """
        SPEC 6: the control: a queue behind a body that never ends would never move.
        """
        _, client = stuck_client(gate, over_limit="queue")
        stuck = call(front, client, "stuck")

        assert ("abandoned", "ok") == (stuck.fate, call(front, client, "quick").status)


def stuck_client(gate, **options):
    """
    Build a client with room for one call, and a tool that does not end in time.
    """

    @tool(timeout=0.05)
    def stuck() -> None:
        """Hang."""
        gate.pass_through()

    @tool
    def quick() -> int:
        """Be quick."""
        return 1

    listener = Listener()
    engine = ThreadEngine(max_concurrency=1, **options)

    return listener, ToolClient([stuck, quick], engine=engine, hooks=[listener])


class TestQueue:
    """
    ``over_limit="queue"``: first come, first served.
    """

    def test_all_clients_of_an_engine_share_its_places(self, case, front, stage):
        """
        SPEC 6, E-10: what is behind an engine does not care whose call it is.
        """
        engine, listener = case.make(max_concurrency=1), Listener()
        first = begin(call, front, client_of(engine), "hold", given(stage, "a"))
        stage.arrivals(1)
        other = client_of(engine, hooks=[listener])
        second = begin(call, front, other, "work", given(stage, "b"))
        listener.wait_for(CallStarted)
        inside = stage.journal
        stage.go()
        outcome(first)
        result = outcome(second)

        assert ["in a"] == inside
        assert (1, "in a", "B") == (
            peak(stage.journal),
            stage.journal[0],
            result.value,
        )

    def test_waiting_is_no_part_of_elapsed(self, stage, front):
        """
        E-31: the wait for a place is told apart, and no clock of the tool runs in it.
        """
        engine = SequentialEngine(max_concurrency=1, timeout=30)
        listener = Listener()
        began = begin(call, front, client_of(engine), "hold", given(stage, "a"))
        stage.arrivals(1)
        other = client_of(engine, hooks=[listener])
        waiting = begin(call, front, other, "work", given(stage, "b"))
        listener.wait_for(CallStarted)
        held = threading.Event()
        held.wait(0.1)
        stage.go()
        outcome(began)
        result = outcome(waiting)

        assert result.queue_wait > result.elapsed
        assert result.queue_wait > 0.05

    def test_an_engine_without_a_limit_has_no_line(self, front, stage):
        """
        SPEC 0: what is not declared costs nothing.
        """
        engine = SequentialEngine()
        future = begin(call, front, client_of(engine), "hold", given(stage, "a"))
        stage.arrivals(1)
        during = engine.line.taken
        stage.go()

        assert (0, 0.0) == (during, outcome(future).queue_wait)

    def test_a_place_is_given_back_whatever_happens(self, front):
        """
        SPEC 6: an engine that loses places ends up with none.
        """

        def guard(request):
            if request.arguments["how"] == "guarded":
                raise PermissionError
            return (yield request)

        @tool(retry=Retry(attempts=2, delay=0))
        def fail(how: str) -> None:
            """Fail in some way."""
            raise {
                "boom": ValueError,
                "again": ConnectionError,
                "memory": MemoryError,
                "keyboard": KeyboardInterrupt,
                "exit": SystemExit,
            }[how]

        engine = ThreadEngine(max_concurrency=1)
        client = ToolClient([fail], engine=engine, filters=[guard])
        for how in ("boom", "again", "exit", "guarded"):
            assert not call(front, client, "fail", {"how": how}).ok
        for how, kind in {"memory": MemoryError, "keyboard": KeyboardInterrupt}.items():
            with pytest.raises(kind):
                call(front, client, "fail", {"how": how})

        assert 0 == engine.line.taken


async def test_a_cancelled_call_gives_its_place_back(stage):
    """
    R20: both the one that runs and the one that waits for its place.
    """
    engine = ThreadEngine(max_concurrency=1)
    client = client_of(engine)
    running = asyncio.create_task(client.ainvoke("ahold", given(stage, "a")))
    await asyncio.to_thread(stage.arrivals, 1)
    waiting = asyncio.create_task(client.ainvoke("work", given(stage, "b")))
    await asyncio.sleep(0)
    waiting.cancel()
    running.cancel()
    await asyncio.wait({waiting, running})
    inside = stage.journal
    stage.go()

    assert (True, True, 0) == (
        waiting.cancelled(),
        running.cancelled(),
        engine.line.taken,
    )
    assert ["in a"] == inside


def test_waiting_ends_with_the_batchs_time(case, front, stage):
    """
    R61, SPEC 6: what had no turn by then has not run, and says so.
    """
    engine = case.make(max_concurrency=1)
    first = begin(call, front, client_of(engine), "hold", given(stage, "a"))
    stage.arrivals(1)
    late = call_batch(
        front, client_of(engine), stage.calls(("work", "b"), ("work", "c")), within=0.2
    )
    stage.go()
    outcome(first)

    assert ["not_run", "not_run"] == [r.status for r in late]
    assert late[0].content.endswith("the batch's time was over before its turn came.")
    assert ["in a", "out a"] == stage.journal
