"""
What means stop passes every filter, and each of them cleans up.
"""

from __future__ import annotations

import asyncio

import pytest

from filters.paying import RUNS, raising, run
from fronts import call
from tooldecl import ToolClient, tool
from tooldecl.telemetry import CallFinished


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError, GeneratorExit])
@pytest.mark.parametrize("after", [False, True])
def test_what_means_stop_leaves_a_filter_unchanged(front, kind, after):
    """
    FAT-06: a filter is no place where Ctrl-C may get lost.
    """
    error = kind()
    with pytest.raises(kind) as caught:
        run(front, raising(error, after=after))

    assert caught.value is error


def test_what_the_host_named_leaves_a_filter_unchanged(front):
    """
    ``stop_on`` holds wherever in a call such an exception arises.
    """
    error = KeyError("stop")
    with pytest.raises(KeyError) as caught:
        run(front, raising(error, after=False), stop_on=[KeyError])

    assert caught.value is error


@tool
def fatal() -> None:
    """Run out of memory."""
    raise MemoryError


@pytest.mark.parametrize(
    ("manner", "cleaned", "logged"),
    [
        ("quiet", 2, 0),
        ("answers", 2, 0),
        ("raises", 2, 2),
        ("goes on", 0, 2),  # it has not come to its end, and nobody can make it
    ],
)
def test_a_fatal_error_passes_every_filter_and_each_cleans_up(
    front, manner, cleaned, logged, caplog
):
    """
    FAT-06: a filter can neither hold up nor replace what has to reach the host, and its
    clean-up runs.
    """
    log = []

    def cleaning(request):
        try:
            result = yield request
        except GeneratorExit:
            if manner == "answers":
                return "all is well"
            if manner == "goes on":
                yield request
            raise
        finally:
            log.append("clean")
            if manner == "raises":
                raise ValueError("the clean-up failed")
        return result

    finished = []
    client = ToolClient(
        [fatal],
        filters=[cleaning, cleaning],
        hooks=[lambda e: finished.append(e) if type(e) is CallFinished else None],
    )
    with pytest.raises(MemoryError):
        call(front, client, "fatal")

    assert (cleaned, logged, 1) == (len(log), len(caplog.records), len(finished))


async def test_a_cancelled_caller_cleans_up_every_filter():
    """
    CAN: locks and connections that a filter holds are given back when the call is
    cancelled, and the caller ends cancelled whatever the filters do.
    """
    log = []
    started = asyncio.Event()

    @tool
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    def holding(request):
        log.append("take")
        try:
            return (yield request)
        except BaseException as error:
            log.append(type(error).__name__)
            return "swallowed"
        finally:
            log.append("give back")

    client = ToolClient([hang], filters=[holding, holding])
    task = asyncio.create_task(client.ainvoke("hang"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert ["take", "take", *["GeneratorExit", "give back"] * 2] == log


@pytest.mark.parametrize("order", [0, 1])
def test_cleaning_up_after_nonsense_cannot_replace_the_outcome(front, order, caplog):
    """
    A filter that yields nonsense and then fails in its ``finally`` is still one failure.
    """

    def both(request):
        try:
            yield "nonsense"
        finally:
            raise ValueError("the clean-up failed")

    def passing(request):
        return (yield request)

    layers = [both, passing] if order else [passing, both]
    result = run(front, *layers)

    assert ("guard_failed", [], 2) == (result.status, RUNS, len(caplog.records))
