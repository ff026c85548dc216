"""
State and limits of a batch, under every engine and by both fronts.
"""

from __future__ import annotations

import pytest

from engine_stage import client_of
from fronts import Listener, call_batch
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.telemetry import WriteConflict


IN_PROCESS = pytest.mark.parametrize(
    "kind", [SequentialEngine, ThreadEngine, AsyncioEngine]
)


class TestState:
    """
    One snapshot for all calls, one fold at the end.
    """

    def test_nobody_sees_what_a_sibling_wrote(self, overlapping, front, stage):
        """
        WRT-06: the reader looks after the writer has written, and sees the state from the
        start of the batch.
        """
        client = client_of(overlapping.make(), state={"slot": 1})
        calls = [
            stage.call("put_early", slot="slot", value=2),
            stage.call("look_late", slot="slot"),
        ]
        results = call_batch(front, client, calls)

        assert ([2, 1], {"slot": 2}) == ([r.value for r in results], client.state)

    def test_nor_one_after_the_other(self, case, front, stage):
        """
        WRT-07: the same where the calls never overlap; the next batch sees it.
        """
        client = client_of(case.make(max_concurrency=1), state={"slot": 1})
        look = stage.call("look_late", slot="slot")
        first = call_batch(
            front, client, [stage.call("put_early", slot="slot", value=2), look]
        )
        call_batch(front, client, [stage.call("put_early", slot="other", value=3)])
        second = call_batch(front, client, [look])

        assert (1, 2) == (first[1].value, second[0].value)

    def test_the_last_writer_is_the_last_call(self, overlapping, front, stage):
        """
        WRT-08, WRT-10: by index, although the first call wrote last; with an event.
        """
        listener = Listener()
        client = client_of(overlapping.make(), hooks=[listener])
        calls = [
            stage.call("put_late", slot="slot", value=1),
            stage.call("put_early", slot="slot", value=2),
        ]
        results = call_batch(front, client, calls)

        assert ({"slot": 2}, True) == (client.state, results.ok)
        assert ["slot"] == [event.slot for event in listener.of(WriteConflict)]

    def test_what_failed_wrote_nothing(self, case, front, stage):
        """
        WRT-09: only what succeeded has written.
        """
        client = client_of(case.make())
        calls = [
            stage.call("put_and_fail", slot="a", value=1),
            stage.call("put", slot="b", value=2),
        ]
        call_batch(front, client, calls)

        assert {"b": 2} == client.state

    def test_every_engine_folds_alike(self, case, front, stage):
        """
        WRT-11: what state comes out does not depend on who ran the batch.
        """
        client = client_of(case.make(), state={"x": 0})
        entries = [("x", 1), ("y", 2), ("x", 3), ("z", 4)]
        calls = [stage.call("put", slot=slot, value=value) for slot, value in entries]
        call_batch(front, client, calls)

        assert {"x": 3, "y": 2, "z": 4} == client.state


def with_stuck(gate, engine, **declared):
    """
    Build a client with a tool that hangs and one that does not.
    """

    @tool(**declared)
    def stuck() -> int:
        """Hang."""
        gate.pass_through()
        return 1

    @tool
    def quick() -> int:
        """Be quick."""
        return 2

    return ToolClient([stuck, quick], engine=engine)


@IN_PROCESS
class TestLimits:
    """
    Whose timeout holds for the calls of a batch.
    """

    def test_the_engines_holds_where_none_is_declared(self, kind, front, gate):
        """
        TMO-17, TMO-19, TMO-22: the stuck one times out, transient, and its sibling is ok.
        """
        client = with_stuck(gate, kind(timeout=0.05))
        results = call_batch(front, client, [ToolCall("stuck"), ToolCall("quick")])

        assert [("timeout", "transient"), ("ok", None)] == [
            (r.status, r.error_class) for r in results
        ]
        assert "within 0.05 s, the engine's limit" in results[0].content

    @pytest.mark.parametrize(("declared", "engines"), [(0.05, 60), (0.05, None)])
    def test_the_declared_one_comes_first(self, kind, front, gate, declared, engines):
        """
        TMO-18: the text says whose limit it was.
        """
        client = with_stuck(gate, kind(timeout=engines), timeout=declared)
        results = call_batch(front, client, [ToolCall("stuck"), ToolCall("quick")])

        assert ["timeout", "ok"] == [r.status for r in results]
        assert "within 0.05 s, the limit declared on it" in results[0].content

    @pytest.mark.parametrize("declared", [60, None])
    def test_a_wider_one_is_not_cut(self, kind, front, gate, declared):
        """
        TMO-18, TMO-20: a declared limit, or none, beats an engine's that is tighter.
        """
        client = with_stuck(gate, kind(timeout=0.001), timeout=declared)
        gate.open()
        results = call_batch(front, client, [ToolCall("stuck")] * 2)

        assert [1, 1] == [r.value for r in results]

    def test_an_engines_limit_stays_with_the_engine(self, kind, front, gate):
        """
        TMO-21, TMO-26: another client, made from the same tools, has none of it.
        """
        short = with_stuck(gate, kind(timeout=0.05))
        call_batch(front, short, [ToolCall("stuck")])
        gate.open()
        free = with_stuck(gate, kind())
        results = call_batch(front, free, [ToolCall("stuck"), ToolCall("quick")])

        assert [1, 2] == [r.value for r in results]

    def test_a_batchs_time_bounds_what_runs_and_what_does_not(self, kind, front, gate):
        """
        R61, SPEC 6: ten calls and room for two: each tells truly what became of it.
        """
        client = with_stuck(gate, kind(max_concurrency=2))
        calls = [ToolCall("stuck")] * 10
        results = call_batch(front, client, calls, within=0.2)
        ran = 1 if kind is SequentialEngine else 2

        assert ["timeout"] * ran + ["not_run"] * (10 - ran) == [
            r.status for r in results
        ]
        assert ["abandoned"] * ran + ["not_started"] * (10 - ran) == [
            r.fate for r in results
        ]
        assert ran == len(client.abandoned)
