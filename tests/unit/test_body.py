"""
What runs a body: an outcome that is a value, in a context of its own, and no cycles.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import traceback

import pytest

from attempts import attempt_of
from tooldecl import Fate, current_context
from tooldecl._isolation import arun_body, in_context, run_body, settle
from tooldecl._isolation._body import BodyStopped


VARIABLE = contextvars.ContextVar("variable", default="outside")


class Kept:
    """
    Something a body holds.
    """


def raising(error):
    """
    Return a function that raises *error*.
    """

    def function():
        raise error

    return function


ERRORS = [
    ValueError("x"),
    StopIteration("x"),
    GeneratorExit(),
    asyncio.CancelledError(),
    KeyboardInterrupt(),
    SystemExit(3),
    MemoryError(),
]


class TestOutcome:
    """
    Invariant 1 of ``_body``: whatever a body does is a value.
    """

    @pytest.mark.parametrize("error", ERRORS, ids=repr)
    def test_an_exception_is_stored_not_raised(self, error):
        """
        None of them may be taken for ours, whatever is between the body and its caller.
        """
        attempt = attempt_of(raising(error))
        run_body(attempt)

        assert error is attempt.error
        assert attempt.started
        assert None is not attempt.finished

    @pytest.mark.parametrize("error", ERRORS, ids=repr)
    async def test_on_a_loop_too(self, error):
        """
        Asyncio lets some of them out of its loop, and takes others for its own.
        """
        attempt = attempt_of(raising(error))
        await arun_body(attempt)

        assert error is attempt.error

    @pytest.mark.parametrize(
        "run", [run_body, lambda a: asyncio.run(arun_body(a))], ids=["thread", "loop"]
    )
    def test_its_traceback_begins_with_the_tool(self, run):
        """
        Whoever debugs a tool has no use for the frames that ran it.
        """
        attempt = attempt_of(raising(ValueError("x")))
        run(attempt)
        frames = traceback.extract_tb(attempt.error.__traceback__)

        assert ["<lambda>", "function"] == [frame.name for frame in frames]

    async def test_plain_values_and_what_is_awaited(self):
        """
        None is a value like any other, and so is what an awaitable gives.
        """
        made = [lambda: None, lambda: Kept, lambda: asyncio.sleep(0, "x")]
        attempts = [attempt_of(function) for function in made]
        for attempt in attempts:
            await arun_body(attempt)

        assert [None, Kept, "x"] == [attempt.value for attempt in attempts]

    def test_the_moment_of_its_end_decides_whether_it_was_in_time(self):
        """
        Invariant 3 of ``_body``: not who woke first.
        """
        fates = []
        for late in (-1, 0, 1):
            attempt = attempt_of(lambda: "done", timeout=60)
            attempt.begin_clock()
            run_body(attempt)
            attempt.finished = attempt.deadline + late
            settle(attempt)
            fates.append((attempt.fate, attempt.timed_out))

        assert [
            (Fate.COMPLETED, False),
            (Fate.COMPLETED, False),
            (Fate.COMPLETED, True),
        ] == fates

    def test_its_clock_starts_once(self):
        """
        What a sync body returns to be awaited runs on under the same deadline.
        """
        attempt = attempt_of(lambda: "done", timeout=60)
        attempt.begin_clock()
        deadline = attempt.deadline
        attempt.begin_clock()

        assert deadline == attempt.deadline == attempt.context.deadline

    @pytest.mark.parametrize(
        ("prepare", "fate", "timed_out"),
        [
            (lambda a: None, Fate.COMPLETED, False),
            (lambda a: setattr(a, "started", False), Fate.NOT_STARTED, False),
            (lambda a: setattr(a, "cancelled_at", 0.0), Fate.STOPPED, True),
            (lambda a: setattr(a, "error", BodyStopped()), Fate.STOPPED, True),
            (lambda a: setattr(a, "revoked", True), Fate.COMPLETED, False),
        ],
        ids=["own end", "never began", "cancelled", "closed", "client closed"],
    )
    def test_what_the_running_side_noted_decides_the_fate(
        self, prepare, fate, timed_out
    ):
        """
        Invariant 1 of ``_outcome``: a body that ended is never abandoned, one that
        never began never ran.
        """
        attempt = attempt_of(lambda: "done")
        run_body(attempt)
        prepare(attempt)
        settle(attempt)

        assert (fate, timed_out) == (attempt.fate, attempt.timed_out)

    def test_a_body_without_a_place_to_run_is_refused_or_failed(self):
        """
        Before it began nothing was run; between its two halves the first one was.
        """
        error = OSError("none left")
        before, between = attempt_of(lambda: "done"), attempt_of(lambda: "done")
        run_body(between)
        settle(between)
        before.refuse(error)
        between.refuse(error)

        text = "the system gives no thread for it (none left)"
        assert (text, None, Fate.NOT_STARTED) == (
            before.refused,
            before.error,
            before.fate,
        )
        assert (None, error, Fate.COMPLETED) == (
            between.refused,
            between.error,
            between.fate,
        )


class TestContext:
    """
    Invariant 2 of ``_body``: a copy of the caller's variables, for one attempt.
    """

    async def test_the_running_call_is_known_inside_only(self):
        """
        `current_context` names the call, and outside there is none.
        """
        attempts = [attempt_of(current_context) for _ in range(3)]
        run_body(attempts[0])
        await in_context(arun_body(attempts[1]), attempts[1].variables)
        task = asyncio.Task(arun_body(attempts[2]), context=attempts[2].variables)
        await task

        assert [a.context for a in attempts] == [a.value for a in attempts]
        assert None is current_context()

    async def test_a_coroutine_in_another_context_is_driven_to_its_end(self):
        """
        What is sent, thrown and closed reaches it, and what it sets stays inside.
        """
        log = []

        async def body():
            VARIABLE.set("inside")
            try:
                await asyncio.sleep(0)
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                log.append(VARIABLE.get())
            await asyncio.sleep(0)
            log.append(VARIABLE.get())

        task = asyncio.ensure_future(in_copy(body()))
        for _ in range(3):
            await asyncio.sleep(0)
        task.cancel()
        await task

        assert ["inside", "inside"] == log

    def test_closed_it_closes_the_coroutine_in_that_context(self):
        """
        A call that is thrown away runs its clean-up where it ran.
        """
        log = []

        class Never:
            def __await__(self):
                yield

        async def body():
            VARIABLE.set("inside")
            try:
                await Never()
            finally:
                log.append(VARIABLE.get())

        outer = in_copy(body())
        outer.send(None)
        outer.close()

        assert (["inside"], "outside") == (log, VARIABLE.get())

    async def test_a_generator_is_not_known_to_its_loop(self):
        """
        The loop would close it at its own end, in the middle of a step perhaps; the
        hooks are the thread's, so they are put back at once.
        """
        loop = asyncio.get_running_loop()
        before = sys.get_asyncgen_hooks()
        seen = []

        async def items():
            seen.append((len(loop._asyncgens), sys.get_asyncgen_hooks() == before))
            yield "a"

        attempt = attempt_of(items)
        await arun_body(attempt)

        assert ("a", [(0, True)]) == (attempt.value, seen)


async def in_copy(coroutine):
    """
    Await *coroutine* in a copy of this context.
    """
    await in_context(coroutine, contextvars.copy_context())
