"""
What a batch promises, under every engine and by both fronts.

The bodies may run in other processes, so they meet the test through pipes and files.
"""

from __future__ import annotations

import pytest

from engine_stage import OVERLAPPING, SEQUENTIAL, begin_batch, client_of, outcome, peak
from engine_tools import VAIN
from fronts import call_batch
from tooldecl import BatchResult, ToolCall
from tooldecl.exceptions import BatchFailedError
from tooldecl.telemetry import BatchFinished, BatchStarted, CallFinished
from tooldecl.testing import RecordingHook


def statuses(results):
    """
    List how calls ended.
    """
    return [result.status for result in results]


def handshake(stage, seconds, name="meet"):
    """
    Make two calls that succeed only if both are inside at once.
    """
    return [
        stage.call(name, mine="left", other="right", seconds=seconds),
        stage.call(name, mine="right", other="left", seconds=seconds),
    ]


class TestOverlap:
    """
    Which engines run calls at once, and how many.
    """

    @pytest.mark.parametrize("name", ["meet", "ameet"])
    def test_two_calls_are_inside_at_once(self, overlapping, front, stage, name):
        """
        ENG-02, ENG-04, ENG-14: each waits for the other, sync and async tools alike.
        """
        client = client_of(overlapping.make())
        results = call_batch(front, client, handshake(stage, 30, name))

        assert ["left", "right"] == [r.value for r in results]

    def test_the_sequential_engine_never_overlaps(self, front, stage):
        """
        ENG-01: the control of the test above, where the first call waits in vain.
        """
        client = client_of(SEQUENTIAL.make())
        results = call_batch(front, client, handshake(stage, VAIN))

        assert ["tool_error", "ok"] == statuses(results)

    @pytest.mark.parametrize("name", ["work", "awork"])
    def test_the_sequential_engine_keeps_request_order(self, front, stage, name):
        """
        R65: strictly one after the other, however many there are.
        """
        words = [f"w{n}" for n in range(20)]
        calls = stage.calls(*((name, word) for word in words))
        call_batch(front, client_of(SEQUENTIAL.make()), calls)

        assert [x for w in words for x in (f"in {w}", f"out {w}")] == stage.journal

    @pytest.mark.parametrize("name", ["hold", "ahold"])
    @pytest.mark.parametrize("limit", [1, 2, 4])
    def test_never_more_than_the_limit(self, overlapping, front, stage, name, limit):
        """
        ENG-06, ENG-12, R63: the peak is the limit exactly, and all answers are in order.
        """
        engine = overlapping.make(max_concurrency=limit)
        words = [f"w{n}" for n in range(4 * limit)]
        calls = stage.calls(*((name, word) for word in words))
        future = begin_batch(front, client_of(engine), calls)
        for _ in range(4):
            stage.arrivals(limit)
            stage.go(limit)
        results = outcome(future)

        assert (limit, 0) == (peak(stage.journal), engine.line.taken)
        assert [w.upper() for w in words] == [r.value for r in results]

    def test_without_a_limit_all_run_at_once(self, overlapping, front, stage):
        """
        ENG-07: six calls, six inside; the control of the test above.
        """
        calls = stage.calls(*(("hold", f"w{n}") for n in range(6)))
        # There are so many workers at most, never no end of them.
        limit = 6 if overlapping.name == "processes" else None
        engine = overlapping.make(max_concurrency=limit)
        future = begin_batch(front, client_of(engine), calls)
        stage.arrivals(6)
        stage.go(6)

        assert (True, 6) == (outcome(future).ok, peak(stage.journal))

    def test_eight_at_once_unless_told_otherwise(self, overlapping, front, stage):
        """
        R63, SPEC 6: fifty calls do not flood what is behind the tools.
        """
        calls = stage.calls(*(("hold", f"w{n}") for n in range(50)))
        future = begin_batch(front, client_of(overlapping.make()), calls)
        stage.arrivals(8)
        stage.go(50)
        results = outcome(future)

        assert (8, True, 50) == (peak(stage.journal), results.ok, len(results))
        assert [f"w{n}" for n in range(50)] == [r.call_id for r in results]

    @pytest.mark.parametrize("over_limit", ["queue", "sequential"])
    def test_what_is_over_the_limit_runs_later(self, case, front, stage, over_limit):
        """
        ENG-13: with room for one, both run.
        """
        engine = case.make(max_concurrency=1, over_limit=over_limit)
        calls = stage.calls(("work", "a"), ("work", "b"))
        results = call_batch(front, client_of(engine), calls)

        assert ["A", "B"] == [r.value for r in results]
        assert ["in a", "out a", "in b", "out b"] == stage.journal


class TestAnswers:
    """
    One answer for each call, in request order.
    """

    def test_the_slow_first_is_answered_first(self, overlapping, front, stage):
        """
        BAT-01, R53: in request order, although the second call ended before the first.
        """
        calls = stage.calls(("hold", "a"), ("work", "b"))
        future = begin_batch(front, client_of(overlapping.make()), calls)
        stage.arrivals(1)
        stage.take("done")
        stage.go()
        results = outcome(future)

        assert [("a", "A"), ("b", "B")] == [(r.call_id, r.value) for r in results]
        assert "out a" == stage.journal[-1]

    def test_siblings_keep_their_results(self, case, front, stage):
        """
        BAT-02, BAT-05, R59, FAT-04: the error sits on the call that failed.
        """
        entries = [("work", "a"), ("boom", "b"), ("recurse", "c"), ("work", "d")]
        results = call_batch(front, client_of(case.make()), stage.calls(*entries))

        assert ["ok", "tool_error", "tool_error", "ok"] == statuses(results)
        assert ["A", "D", "semantic"] == [
            results[0].value,
            results[3].value,
            results[2].error_class,
        ]

    def test_an_exit_is_that_calls_error(self, case, front, stage):
        """
        R26: it names the code, the sibling succeeds and the host lives.
        """
        calls = stage.calls(("leave", "a"), ("work", "b"))
        results = call_batch(front, client_of(case.make()), calls)

        assert ["tool_error", "ok"] == statuses(results)
        assert "3" in str(results[0].error)

    def test_every_kind_of_call_has_an_answer(self, case, front, stage):
        """
        R54, GATE-13, GATE-14: six kinds of calls, and only those run that can.
        """
        calls = [
            *stage.calls(("work", "a"), ("boom", "b"), ("nothing", "c")),
            ToolCall("work", {"where": stage.where, "word": 5}, "d"),
            ToolCall("unheard_of", {}, "e"),
            ToolCall("work", '{"where": ', "f"),
        ]
        results = call_batch(front, client_of(case.make()), calls)

        assert [
            "ok",
            "tool_error",
            "not_found",
            "invalid",
            "unknown_tool",
            "invalid",
        ] == statuses(results)
        assert list("abcdef") == [r.call_id for r in results]
        assert {"in a", "out a", "in b"} == set(stage.journal)

    def test_ids_are_made_unique(self, case, front, stage):
        """
        R57: two equal ids and a missing one, and never one result for two calls.
        """
        given = {"where": stage.where, "word": "a"}
        calls = [ToolCall("work", given, i) for i in ("x", "x", None, "")]
        results = call_batch(front, client_of(case.make()), calls)

        assert (4, True) == (len({r.call_id for r in results}), results.ok)
        assert [None, "x", None, ""] == [r.original_id for r in results]

    def test_batches_do_not_mix(self, case, front, stage):
        """
        R60: one call fails at once and one is slow; the next batch has its own only.
        """
        client = client_of(case.make())
        first = begin_batch(front, client, stage.calls(("boom", "a"), ("hold", "b")))
        stage.arrivals(1)
        second = call_batch(front, client, stage.calls(("work", "c"), ("work", "d")))
        stage.go()

        assert ["c", "d"] == [r.call_id for r in second]
        assert ["tool_error", "ok"] == statuses(outcome(first))

    def test_nobody_is_hurried(self, overlapping, front, stage):
        """
        R62: the slower of two calls without a limit succeeds, however long it takes.
        """
        calls = stage.calls(("work", "a"), ("hold", "b"))
        future = begin_batch(front, client_of(overlapping.make()), calls)
        stage.take("done")
        stage.arrivals(1)
        stage.go()

        assert (True, 2) == (outcome(future).ok, len(outcome(future)))

    def test_calls_share_nothing(self, case, front):
        """
        R66: twenty calls of one tool, each with a context of its own.
        """
        calls = [ToolCall("tell", {"number": n}, f"c{n}") for n in range(20)]
        results = call_batch(front, client_of(case.make()), calls)

        assert [[n, f"c{n}", 1] for n in range(20)] == [r.value[:3] for r in results]
        assert 20 == len({r.value[3] for r in results})

    def test_all_engines_give_equal_results(self, front, stage):
        """
        ENG-08, SPEC 4: what differs is when the calls ran, and nothing else.
        """
        entries = [("work", "a"), ("boom", "b"), ("alone", "c"), ("nothing", "d")]
        facts = []
        for case in [SEQUENTIAL, *OVERLAPPING]:
            results = call_batch(front, client_of(case.make()), stage.calls(*entries))
            facts.append(
                [(r.call_id, r.status, r.value, r.content, r.fate) for r in results]
            )

        assert [facts[0]] * len(facts) == facts

    def test_no_calls_make_an_empty_result(self, case, front):
        """
        ENG-11: the same shape as any other.
        """
        results = call_batch(front, client_of(case.make()), [])

        assert (BatchResult, (), True) == (type(results), tuple(results), results.ok)

    def test_failures_are_raised_once_all_have_ended(self, case, front, stage):
        """
        SPEC 6: every result is in the error, which names the first in call order.
        """
        calls = stage.calls(("work", "a"), ("boom", "b"), ("work", "c"))
        with pytest.raises(BatchFailedError) as caught:
            call_batch(front, client_of(case.make()), calls, failures="raise")

        assert (["ok", "tool_error", "ok"], "boom") == (
            statuses(caught.value.results),
            caught.value.first,
        )

    def test_hooks_hear_of_every_call(self, case, front, stage):
        """
        OBS: one frame around the calls, and one end for each of them.
        """
        hook = RecordingHook()
        calls = stage.calls(("work", "a"), ("alone", "b"), ("boom", "c"))
        call_batch(front, client_of(case.make(), hooks=[hook]), calls)

        assert (BatchStarted, BatchFinished) == (
            type(hook.events[0]),
            type(hook.events[-1]),
        )
        assert {"a", "b", "c"} == {e.call_id for e in hook.of(CallFinished)}
