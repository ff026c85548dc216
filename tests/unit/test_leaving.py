"""
A caller that has to leave, and a body that gets no thread.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from attempts import job_of
from ordering import HANGS_AFTER
from tooldecl import Fate
from tooldecl._isolation import NoThreadError, arun_job, run_job
from tooldecl._isolation._hosts import start_thread
from tooldecl._isolation._threads import submit


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
