"""
Who owns the outcome of a body that runs somewhere else, and how long it is waited for.

The numbers are those of the invariants at the head of ``_isolation/_jobs.py``.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from attempts import Late, attempt_of, job_of
from ordering import HANGS_AFTER
from tooldecl import Fate
from tooldecl._isolation import run_body, run_job
from tooldecl._isolation._threads import submit


async def for_ever():
    """
    Wait until cancelled.
    """
    await asyncio.sleep(HANGS_AFTER)


class TestTickets:
    """
    Invariants 1, 2 and 4: one side acts, never both, never neither.
    """

    def test_a_body_that_ended_first_wakes_its_caller(self):
        """
        The caller finds an outcome, and nothing is late.
        """
        late = Late()
        job = job_of(lambda: "done", late=late)
        began = job.begin()
        run_body(job.attempt)
        wakes = job.end()
        job.give_up()

        assert (True, True) == (began, wakes)
        assert (Fate.COMPLETED, [], 0) == (
            job.attempt.fate,
            late,
            len(job.place.ledger),
        )

    def test_a_body_that_is_given_up_first_reports_a_late_finish(self):
        """
        Its end wakes nobody, and is told once.
        """
        late = Late()
        job = job_of(lambda: "done", late=late)
        job.begin()
        job.give_up()
        listed = len(job.place.ledger)
        run_body(job.attempt)
        wakes = job.end()

        assert (Fate.ABANDONED, True) == (job.attempt.fate, job.attempt.timed_out)
        assert (1, False, 0) == (listed, wakes, len(job.place.ledger))
        assert [job.attempt] == [attempt for attempt, _ in late]

    def test_a_body_that_has_not_begun_never_will(self):
        """
        Trap 13: given up in the queue it has no effect, and the outcome says so.
        """
        job = job_of(lambda: "done")
        job.give_up()

        assert (Fate.NOT_STARTED, True) == (job.attempt.fate, job.attempt.timed_out)
        assert (False, 0) == (job.begin(), len(job.place.ledger))

    @pytest.mark.parametrize(
        "times", [200, pytest.param(20_000, marks=pytest.mark.stress)], ids=str
    )
    def test_however_both_sides_race(self, times):
        """
        Each side runs on a thread of its own, and starts when the other does.
        """
        start, over = threading.Barrier(2), threading.Barrier(2)
        jobs = [job_of(lambda: "done", late=Late()) for _ in range(times)]
        woken = []

        def runner():
            for job in jobs:
                start.wait(HANGS_AFTER)
                run_body(job.attempt)
                woken.append(job.end())
                over.wait(HANGS_AFTER)

        for job in jobs:
            job.begin()
        thread = threading.Thread(target=runner)
        thread.start()
        for job in jobs:
            start.wait(HANGS_AFTER)
            job.give_up()
            over.wait(HANGS_AFTER)
        thread.join()
        abandoned = [job.attempt.fate is Fate.ABANDONED for job in jobs]

        assert [not wakes for wakes in woken] == abandoned
        assert abandoned == [len(job.place.on_late) == 1 for job in jobs]
        assert {0} == {len(job.place.ledger) for job in jobs}


class TestOneCancellation:
    """
    Invariant 4: a body is sent one, whoever wants its end and how often.
    """

    async def test_asked_twice_it_is_told_once(self):
        """
        The second one would cut its clean-up.
        """
        told = []

        async def body():
            try:
                await for_ever()
            except asyncio.CancelledError:
                told.append(1)
                await asyncio.sleep(0.01)

        job = job_of(body, can_stop=True)
        job.begin()
        task = job.start_task(asyncio.get_running_loop())
        await asyncio.sleep(0)
        job.ask_to_stop()
        asked_at = job.attempt.cancelled_at
        job.ask_to_stop()
        await task

        assert ([1], True) == (told, job.cancel_seen)
        assert asked_at == job.attempt.cancelled_at

    async def test_asked_before_there_is_a_task_it_never_runs(self):
        """
        Whoever asks may be on another thread, and earlier than the loop.
        """
        ran = []
        job = job_of(lambda: ran.append(1), can_stop=True)
        job.begin()
        job.ask_to_stop()
        task = job.start_task(asyncio.get_running_loop())
        await asyncio.wait({task})
        job.finish()
        job.give_up()

        assert (Fate.NOT_STARTED, []) == (job.attempt.fate, ran)

    async def test_asked_in_that_very_moment_it_is_told_once(self):
        """
        Both sides have seen the other then.
        """
        job = job_of(for_ever, can_stop=True)
        job.begin()
        job.attempt.cancelled_at = 0.0
        task = job.start_task(asyncio.get_running_loop())
        job.ask_to_stop()
        await asyncio.wait({task})
        await asyncio.sleep(0)

        assert 1 == task.cancelling()

    def test_a_loop_that_is_gone_is_not_asked(self):
        """
        Its task has ended with it.
        """
        job = job_of(for_ever, can_stop=True)

        async def main():
            job.begin()
            job.start_task(asyncio.get_running_loop())
            await asyncio.sleep(0)

        asyncio.run(main())
        job.ask_to_stop()

        assert (True, False) == (job.attempt.stop, job.cancel_seen)


def test_an_attempt_is_the_jobs():
    """
    The control: a job that is run is one attempt that ran.
    """
    job = job_of(lambda: "done", timeout=60)
    run_job(job, submit)

    assert ("done", Fate.COMPLETED) == (job.attempt.value, job.attempt.fate)
    assert None is attempt_of(lambda: "x").remaining()
