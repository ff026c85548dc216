"""
What a body raises: an outcome of its call, or a signal that leaves the client as it is.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from fronts import call, call_batch
from tooldecl import Retry, ToolCall, ToolClient, tool
from tooldecl.telemetry import CallFinished, LateFinish


TIMEOUT = 0.2
AMPLE = 60


class Stop(Exception):  # noqa: N818 (a signal, not a failure)
    """
    A host's own signal to stop a run; it derives from Exception, as some do.
    """


def raising(error: BaseException, *, is_async: bool, **options):
    """
    Declare a tool that raises *error*.
    """
    if is_async:

        @tool(**options)
        async def work() -> str:
            """
            Raise.
            """
            await asyncio.sleep(0)
            raise error

    else:

        @tool(**options)
        def work() -> str:
            """
            Raise.
            """
            raise error

    return work


KINDS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
LIMITS = pytest.mark.parametrize(
    "options",
    [{}, {"timeout": AMPLE}, {"isolation": "thread"}],
    ids=["free", "timed", "thread"],
)


@KINDS
@LIMITS
class TestWhatABodyRaises:
    """
    Every kind of exception, from every place, by both fronts.
    """

    @pytest.mark.parametrize(
        "kind", [KeyboardInterrupt, MemoryError, GeneratorExit, Stop]
    )
    def test_a_signal_to_stop_leaves_as_it_is(self, front, is_async, options, kind):
        """
        R22: no result text is made of it, nothing is repeated, and its call is reported.
        """
        error = kind("now")
        finished = []
        options = {**options, "retry": Retry(attempts=3, delay=0, on=lambda _: True)}
        client = ToolClient(
            [raising(error, is_async=is_async, **options)],
            stop_on=[Stop],
            hooks=[
                lambda e: finished.append(e) if isinstance(e, CallFinished) else None
            ],
        )
        with pytest.raises(kind) as caught:
            call(front, client, "work")

        assert error is caught.value
        assert [1] == [event.result.attempts for event in finished]

    @pytest.mark.parametrize(
        ("error", "text"),
        [
            (SystemExit(3), "Tool 'work' tried to end the program, with exit code 3."),
            (SystemExit(), "Tool 'work' tried to end the program, with exit code 0."),
            (
                asyncio.CancelledError(),
                "Tool 'work' failed: something it waited for was cancelled.",
            ),
            (StopAsyncIteration("x"), None),
            (StopIteration("x"), None),
            (TimeoutError("x"), None),
            (RecursionError("x"), None),
            (Stop("x"), None),
        ],
        ids=repr,
    )
    def test_everything_else_is_that_calls_error(
        self, front, is_async, options, error, text
    ):
        """
        R10, R23, R26, TMO-03, TMO-23, trap 3, trap 4: the same with a limit as without,
        the exception itself is the cause, and the sibling in the batch runs.
        """

        @tool
        def sibling() -> str:
            """
            Work.
            """
            return "done"

        client = ToolClient([raising(error, is_async=is_async, **options), sibling])
        results = call_batch(front, client, [ToolCall("work"), ToolCall("sibling")])
        failed, fine = results
        cause = failed.error.__cause__
        if is_async and isinstance(error, StopIteration):
            # Python's own rule: no coroutine can raise one.
            cause = cause.__cause__
            text = "Tool 'work' failed: RuntimeError."

        assert ("tool_error", "completed") == (failed.status, failed.fate)
        assert (
            text or f"Tool 'work' failed: {type(error).__name__}."
        ) == failed.content
        assert (error, "done") == (cause, fine.value)


class TestTooLate:
    """
    A signal to stop is not swallowed because it came after the deadline.
    """

    @pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, Stop])
    def test_from_a_body_that_has_ended(self, gate, kind):
        """
        The loop was blocked, so the body was not left: what it raised is known.
        """
        opener = threading.Timer(TIMEOUT * 2, gate.open)

        @tool(timeout=TIMEOUT)
        async def work() -> str:
            """
            Hold the loop, and be interrupted.
            """
            opener.start()
            gate.pass_through()
            raise kind

        client = ToolClient([work], stop_on=[Stop])
        with pytest.raises(kind):
            call("async", client, "work")
        opener.join()

    def test_from_a_body_that_was_left_it_is_reported(self, front, gate, listener):
        """
        The answer was given; the event of the late end is all there can be.
        """

        @tool(timeout=TIMEOUT)
        def work() -> str:
            """
            Be interrupted.
            """
            gate.pass_through()
            raise KeyboardInterrupt

        result = call(front, ToolClient([work], hooks=[listener]), "work")
        gate.open()
        [late] = listener.wait_for(LateFinish)

        assert ("timeout", "abandoned") == (result.status, result.fate)
        assert KeyboardInterrupt is type(late.error)
