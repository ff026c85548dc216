"""
Who owns the outcome of a body that runs somewhere else, and how long it is waited for.

The numbers are those of the invariants at the head of ``_isolation/_jobs.py``.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from attempts import Late, attempt_of, job_of
from ordering import HANGS_AFTER, Gate
from tooldecl import Fate
from tooldecl._isolation import NoThreadError, arun_job, run_body, run_job
from tooldecl._isolation._hosts import start_thread
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
        job.ask_to_stop()
        await task

        assert ([1], True) == (told, job.cancel_seen)

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


class TestLeavingEarly:
    """
    A caller that has to leave takes nothing with it.
    """

    def test_interrupted_before_the_body_began(self):
        """
        A Ctrl-C between taking a thread and waiting for it: the body never runs.
        """
        job = job_of(lambda: "done")

        def interrupted(job):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_job(job, interrupted)

        assert (Fate.NOT_STARTED, False) == (job.attempt.fate, job.begin())

    def test_interrupted_after_the_body_began(self, gate):
        """
        It is left like any other: listed, and reported when it ends.
        """
        ended = threading.Event()
        job = job_of(gate.pass_through, late=lambda *_: ended.set())

        def interrupted(job):
            submit(job)
            gate.wait_for_arrivals()
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run_job(job, interrupted)
        listed = len(job.place.ledger)
        gate.open()

        assert (Fate.ABANDONED, 1) == (job.attempt.fate, listed)
        assert ended.wait(HANGS_AFTER)

    async def test_without_a_thread_nothing_is_run(self):
        """
        Both colours say that it was not begun.
        """

        def refused(job):
            raise NoThreadError("none left")

        jobs = [job_of(lambda: "done") for _ in range(2)]
        with pytest.raises(NoThreadError):
            run_job(jobs[0], refused)
        with pytest.raises(NoThreadError):
            await arun_job(jobs[1], refused)

        assert [Fate.NOT_STARTED] * 2 == [job.attempt.fate for job in jobs]

    async def test_a_caller_that_is_thrown_away(self, gate):
        """
        A coroutine that is closed cannot wait any more; its body is left.
        """
        ended = threading.Event()
        job = job_of(gate.pass_through, late=lambda *_: ended.set())
        call = arun_job(job, submit)
        call.send(None)
        await asyncio.to_thread(gate.wait_for_arrivals)
        call.close()
        gate.open()

        assert Fate.ABANDONED is job.attempt.fate
        assert await asyncio.to_thread(ended.wait, HANGS_AFTER)

    async def test_a_caller_whose_loop_is_gone_is_not_woken(self, gate):
        """
        The thread that ran the body goes on to its next one.
        """
        ended = threading.Event()
        job = job_of(gate.pass_through, late=lambda *_: ended.set())

        def on_another_loop():
            loop = asyncio.new_event_loop()
            task = loop.create_task(arun_job(job, submit))
            loop.run_until_complete(asyncio.sleep(0))
            gate.wait_for_arrivals()
            loop.close()
            return task

        task = await asyncio.to_thread(on_another_loop)
        task._log_destroy_pending = False
        gate.open()
        again = job_of(lambda: "done")
        await arun_job(again, submit)

        assert "done" == again.attempt.value


class TestStartingAThread:
    """
    What goes wrong there is told apart.
    """

    def test_the_system_has_none_left(self):
        """
        That is this call's outcome.
        """

        class Refused(threading.Thread):
            def start(self):
                raise RuntimeError("can't start new thread")

        with pytest.raises(NoThreadError) as caught:
            start_thread(Refused())
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            with pytest.raises(NoThreadError) as handled:
                start_thread(Refused())

        assert "can't start new thread" == str(caught.value) == str(handled.value)

    def test_an_interrupt_is_not_taken_for_that(self):
        """
        R24: a Ctrl-C while the thread starts comes out as an error of a lock; the
        thread runs, and the interrupt must not be lost.
        """
        interrupt = KeyboardInterrupt()

        class Interrupted(threading.Thread):
            def start(self):
                try:
                    raise interrupt
                finally:
                    raise RuntimeError("release unlocked lock")

        with pytest.raises(KeyboardInterrupt) as caught:
            start_thread(Interrupted())

        assert interrupt is caught.value


@pytest.fixture
def gate():
    """
    Hold bodies until the test lets them go, at the latest when it ends.
    """
    gate = Gate()
    yield gate
    gate.open()


def test_an_attempt_is_the_jobs(gate):
    """
    The control: a job that is run is one attempt that ran.
    """
    job = job_of(lambda: "done", timeout=60)
    run_job(job, submit)

    assert ("done", Fate.COMPLETED) == (job.attempt.value, job.attempt.fate)
    assert None is attempt_of(lambda: "x").remaining()
