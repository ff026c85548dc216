"""
A client's background loop: made, probed, replaced, retired, and forgotten by a child.

The numbers are those of the invariants at the head of ``_isolation/_loops.py``.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from attempts import job_of
from ordering import HANGS_AFTER
from scripts import run
from tooldecl import Fate
from tooldecl._isolation import LoopClosedError, LoopHolder, run_job
from tooldecl._isolation._loopthread import LoopThread


@pytest.fixture
def holder():
    """
    Hold a client's loop, and end it with the test.
    """
    holder = LoopHolder()
    yield holder
    holder.close(wait=False)


async def thread_name() -> str:
    """
    Name the thread it runs on.
    """
    return threading.current_thread().name


def run_on(holder: LoopHolder, function=thread_name):
    """
    Run a body on the client's loop, and return its value.
    """
    job = job_of(function, can_stop=True)
    run_job(job, holder.submit)

    return job.attempt.value


class TestReplacement:
    """
    Invariants 1 and 2: only what is blocked goes, and what waited moves on.
    """

    def blocked(self, holder, gate):
        """
        Submit a body that blocks the loop, and wait until it does.
        """
        job = job_of(gate.pass_through, can_stop=True)
        holder.submit(job)
        gate.wait_for_arrivals()
        job.ask_to_stop()
        job.give_up()

        return job

    def test_jobs_that_waited_run_once_and_on_the_new_loop(self, holder, gate):
        """
        They are in the queue of the blocked loop, and stay there.
        """
        blocking = self.blocked(holder, gate)
        ran = []
        over = threading.Semaphore(0)
        jobs = [job_of(lambda: ran.append(1), can_stop=True) for _ in range(3)]
        for job in jobs:
            job.wake = over.release
            holder.submit(job)
        stuck = blocking.home
        waited = len(stuck.waiting)
        is_blocked = holder.suspect(blocking)
        for _ in jobs:
            assert over.acquire(timeout=HANGS_AFTER)
        homes = {job.home for job in jobs}
        gate.open()
        stuck.thread.join(HANGS_AFTER)

        assert (3, True, [1, 1, 1]) == (waited, is_blocked, ran)
        assert stuck not in homes
        assert not stuck.thread.is_alive()

    def test_a_loop_that_is_only_late_answers_and_stays(self, holder, gate):
        """
        Nothing waited for it, so there is time to see.
        """
        blocking = self.blocked(holder, gate)
        is_blocked = holder.suspect(blocking)
        gate.open()
        answered = threading.Event()
        blocking.home.loop.call_soon_threadsafe(answered.set)
        answered.wait(HANGS_AFTER)

        assert is_blocked
        assert blocking.home.thread.name == run_on(holder)

    def test_a_loop_that_still_holds_when_it_is_needed_goes(self, holder, gate):
        """
        The next call must not wait for a body that was given up.
        """
        blocking = self.blocked(holder, gate)
        holder.suspect(blocking)

        assert blocking.home.thread.name != run_on(holder)

    def test_an_idle_loop_is_not_suspected(self, holder):
        """
        A call may be late because the machine is; its loop has nothing to do then.
        """
        job = job_of(thread_name, can_stop=True)
        run_job(job, holder.submit)
        idle = threading.Event()
        job.home.loop.call_soon_threadsafe(idle.set)
        idle.wait(HANGS_AFTER)

        assert not holder.suspect(job)
        assert job.home.thread.name == run_on(holder)

    def test_a_loop_that_has_gone_already_is_not_suspected(self, holder, gate):
        """
        Two calls may find the same loop blocked; the second finds it replaced.
        """
        blocking = self.blocked(holder, gate)
        holder.suspect(blocking)
        fresh = run_on(holder)

        assert not holder.suspect(blocking)
        assert fresh == run_on(holder)
        holder.close(wait=False)
        assert not holder.suspect(blocking)


class TestTheEnd:
    """
    Closed, collected or left by its parent, a loop ends when its bodies have.
    """

    def test_closed_it_takes_nothing(self, holder):
        """
        A call that was on its way is answered, not left waiting.
        """
        holder.close(wait=True)
        job = job_of(thread_name, can_stop=True)
        with pytest.raises(LoopClosedError):
            run_job(job, holder.submit)

        assert Fate.NOT_STARTED is job.attempt.fate

    def test_a_retired_loop_runs_on_until_its_bodies_have_ended(self, gate):
        """
        Invariant 1 of ``_loopthread``: collecting a client cuts nobody off.
        """
        holder = LoopHolder()
        release = asyncio.Event()

        async def wait() -> str:
            gate.pass_through()
            await release.wait()
            return "done"

        over = threading.Event()
        job = job_of(wait, can_stop=True)
        job.wake = over.set
        holder.submit(job)
        gate.open()
        holder.close(wait=False)
        was_alive = job.home.thread.is_alive()
        job.home.loop.call_soon_threadsafe(release.set)
        over.wait(HANGS_AFTER)
        job.home.thread.join(HANGS_AFTER)

        assert (True, False) == (was_alive, job.home.thread.is_alive())
        assert "done" == job.attempt.value

    def test_ended_twice_and_in_any_order(self):
        """
        The second time there is nothing to do, and nobody waits for it.
        """
        loop = LoopThread()
        loop.retire()
        loop.thread.join(HANGS_AFTER)
        told = []
        loop.retire()
        loop.cancel_all()
        loop.at_end(lambda: told.append(1))

        assert ([1], True) == (told, loop.loop.is_closed())

    @pytest.mark.slow
    def test_a_task_that_refuses_to_end_with_it_is_left(self, caplog):
        """
        What a tool left there has a second; then the loop ends without it, quietly.
        """
        holder = LoopHolder()
        kept = []

        async def refuse():
            while True:
                try:
                    await asyncio.sleep(HANGS_AFTER)
                except asyncio.CancelledError:
                    pass

        async def leave_it():
            kept.append(asyncio.ensure_future(refuse()))
            await asyncio.sleep(0)

        job = job_of(leave_it, can_stop=True)
        run_job(job, holder.submit)
        holder.close(wait=False)
        job.home.thread.join(HANGS_AFTER)
        kept.clear()

        assert (False, []) == (job.home.thread.is_alive(), caplog.records)


class TestNoLoopLeft:
    """
    A loop needs file descriptors.
    """

    @pytest.mark.slow
    @pytest.mark.parametrize("isolation", ["", "isolation='thread'"])
    def test_a_call_is_busy_and_says_why(self, isolation):
        """
        Nothing was run, so it may be tried again.
        """
        script = f"""
import resource

@tool({isolation})
async def work() -> str:
    "Work."
    return "done"

client = ToolClient([work])
low, high = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) - 1, high))
result = client.invoke("work")
resource.setrlimit(resource.RLIMIT_NOFILE, (low, high))
print(result.status, result.fate, result.attempts)
print(result.content)
print(client.invoke("work").content)
"""
        why = "[Errno 24] Too many open files"
        text = f"Tool 'work' was not run: the system gives no thread for it ({why})."

        # What asyncio says of its own half-made loop is not ours to compare.
        code, out, _ = run(script)

        assert (0, f"busy not_started 0\n{text}\ndone\n") == (code, out)
