"""
The cache of threads: reused, retired, and never handed out twice.

The numbers are those of the invariants at the head of ``_isolation/_threads.py``.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from attempts import job_of
from fronts import body_threads, join_body_threads
from ordering import HANGS_AFTER
from scripts import ended, start
from tooldecl import ToolClient, tool
from tooldecl._isolation import run_job, submit
from tooldecl._isolation._threads import MAX_IDLE, _Worker, has_bodies


class TestReuse:
    """
    Invariants 1 and 2: a thread that is done is the next body's.
    """

    def test_the_next_body_finds_the_thread_of_the_last(self):
        """
        It is idle before its caller knows that the body has ended. No other test's
        bodies end in a process of its own.
        """
        script = start(
            """
            @tool(timeout=30)
            def where() -> int:
                "Tell the thread."
                return threading.get_ident()

            client = ToolClient([where])
            print(len({client.invoke("where").value for _ in range(100)}))
            """
        )

        assert (0, "1\n", "") == ended(script)

    def test_a_thread_that_is_in_use_is_not_handed_out(self, gate):
        """
        All bodies are inside together, each on its own.
        """
        jobs = [job_of(threading.get_ident) for _ in range(20)]
        held = [
            job_of(lambda: (gate.pass_through(), threading.get_ident())[1])
            for _ in jobs
        ]
        threads = [threading.Thread(target=run_job, args=(job, submit)) for job in held]
        for thread in threads:
            thread.start()
        gate.wait_for_arrivals(20)
        gate.open()
        for thread in threads:
            thread.join(HANGS_AFTER)

        assert 20 == len({job.attempt.value for job in held})

    @pytest.mark.slow
    def test_what_is_not_needed_ends(self, gate):
        """
        Some threads wait for more, for a second; the others end at once.
        """
        held = [job_of(gate.pass_through) for _ in range(MAX_IDLE * 2)]
        threads = [threading.Thread(target=run_job, args=(job, submit)) for job in held]
        for thread in threads:
            thread.start()
        gate.wait_for_arrivals(len(held))
        at_work = len(body_threads())
        busy = has_bodies()
        gate.open()
        join_body_threads()

        assert at_work >= len(held)
        assert (True, False, []) == (busy, has_bodies(), body_threads())

    @pytest.mark.slow
    def test_a_thread_that_is_taken_as_it_retires_waits_for_its_work(self):
        """
        Invariant 1: who takes it out of the list decides, and the work is on its way.
        """
        worker = _Worker(job_of(lambda: None))
        stays = []
        thread = threading.Thread(target=lambda: stays.append(worker._wait()))
        thread.start()  # it is in no list: a caller has just taken it
        thread.join(1.5)
        still_waits = thread.is_alive()
        worker.lock.release()
        thread.join(HANGS_AFTER)

        assert (True, [True]) == (still_waits, stays)


class TestNoneLeft:
    """
    A system without further threads is a busy one, not a broken one.
    """

    def test_a_call_is_busy_and_says_why(self, front):
        """
        Nothing was run, so it may be tried again.
        """
        ran = []

        @tool(timeout=60)
        def work() -> str:
            """
            Work.
            """
            ran.append(1)
            return "done"

        client = ToolClient([work])
        with NoThreads():
            result = front(client)
        text = "the system gives no thread for it (can't start new thread)"

        assert ("busy", "not_started", "transient", 0, []) == (
            result.status,
            result.fate,
            result.error_class,
            result.attempts,
            ran,
        )
        assert f"Tool 'work' was not run: {text}." == result.content
        assert "done" == front(client).value

    def test_a_call_that_needs_a_loop_is_busy_too(self):
        """
        The loop that was made for it is closed again.
        """

        @tool
        async def work() -> str:
            """
            Work.
            """
            return "done"

        client = ToolClient([work])
        with NoThreads():
            result = client.invoke("work")

        assert ("busy", "not_started", 0) == (
            result.status,
            result.fate,
            result.attempts,
        )
        assert "done" == client.invoke("work").value

    def test_between_two_halves_the_call_has_failed(self):
        """
        The first half has run, so "was not run" would be untrue.
        """
        halves = []

        @tool
        def work() -> str:
            """
            Run the first half, and leave no thread for the second.
            """
            halves.append(later())
            no_threads.__enter__()
            return halves[0]

        async def later() -> str:
            return "done"

        no_threads = NoThreads()
        try:
            result = ToolClient([work]).invoke("work")
        finally:
            no_threads.__exit__()
        halves[0].close()

        assert ("tool_error", "completed", 1) == (
            result.status,
            result.fate,
            result.attempts,
        )


class NoThreads:
    """
    Ask for stacks that no machine has, so that no thread can be started meanwhile.
    """

    def __enter__(self):
        join_body_threads()
        self._before = threading.stack_size(1 << 47)

    def __exit__(self, *exc_info):
        threading.stack_size(self._before)


@pytest.fixture(params=["sync", "async"])
def front(request):
    """
    Call the tool by either front.
    """
    if request.param == "sync":
        return lambda client: client.invoke("work")

    return lambda client: asyncio.run(client.ainvoke("work"))
