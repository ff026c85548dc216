"""
Filter objects that fail, and what means stop.
"""

from __future__ import annotations

import pytest

from filters.paying import RUNS, run
from tooldecl import tool
from waiting import layer


class Raising:
    """
    A filter that raises, itself and not by a generator, which would change the error.
    """

    def __init__(self, colour, error, *, after):
        self._error, self._after = error, after
        setattr(self, colour, getattr(self, f"_{colour}"))

    def _around(self, request, call_next):
        if self._after:
            call_next(request)
        raise self._error

    async def _aaround(self, request, call_next):
        if self._after:
            await call_next(request)
        raise self._error


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3)])
@pytest.mark.parametrize("after", [False, True])
def test_a_filter_that_raises_lets_nothing_through(front, colour, error, after):
    """
    R130, FAT-05, E-18: a check that could not be made was not passed; what the body did
    by then is done, and the answer says so.
    """
    result = run(front, Raising(colour, error, after=after))

    assert ("guard_failed", [5] if after else [], after) == (
        result.status,
        RUNS,
        result.error.ran,
    )
    assert error is result.error.__cause__


@pytest.mark.parametrize("answer", [None, object(), float("nan")])
def test_what_is_no_answer_blocks_the_call(front, colour, answer):
    """
    R130: a forgotten ``return`` is no answer, and nothing is sent that has no JSON form.
    """

    def steps(request):
        yield request
        return answer

    result = run(front, layer(colour, steps))

    assert ("guard_failed", "completed", [5]) == (result.status, result.fate, RUNS)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize("name", ["fatal", "afatal"])
@pytest.mark.parametrize("manner", ["passes", "swallows", "replaces"])
def test_what_means_stop_passes_whatever_a_filter_makes_of_it(
    front, colour, kind, name, manner
):
    """
    FAT-06: Ctrl-C cannot get lost in an ``except`` of a filter, nor be held up by it.
    """
    error = kind("out")

    @tool
    def fatal(amount: int) -> None:
        """Raise what means stop."""
        raise error

    @tool
    async def afatal(amount: int) -> None:
        """Raise what means stop."""
        raise error

    def steps(request):
        try:
            return (yield request)
        except BaseException:
            if manner == "swallows":
                return "all is well"
            if manner == "replaces":
                raise ValueError from None
            raise

    filters = [layer(colour, steps), layer("aaround", steps), layer("around", steps)]
    with pytest.raises(kind) as caught:
        run(front, *filters, name=name, tools=[fatal, afatal])

    assert caught.value is error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_means_stop_leaves_a_filter_unchanged(front, colour, kind):
    """
    FAT-06: the same where the filter itself raises it.
    """
    error = kind()
    with pytest.raises(kind) as caught:
        run(front, Raising(colour, error, after=False))

    assert (error, []) == (caught.value, RUNS)
