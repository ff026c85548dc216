"""
Context variables and the call's context around filters that wait.
"""

from __future__ import annotations

import asyncio

from contextvars import ContextVar

import pytest

from fronts import call
from tooldecl import ToolClient, current_context, tool
from waiting import COLOURS, layer


WORDS: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


@tool
def see() -> list[str]:
    """See the words."""
    return [*WORDS.get()]


@tool
async def asee() -> list[str]:
    """See the words."""
    await asyncio.sleep(0)

    return [*WORDS.get()]


KINDS = (*COLOURS, "flow")


def saying(word, log=None):
    """
    Make steps of a filter that add a word for what is inside, and take it back.
    """

    def steps(request):
        token = WORDS.set((*WORDS.get(), word))
        try:
            return (yield request)
        finally:
            if log is not None:
                log.append(WORDS.get())
            WORDS.reset(token)

    return steps


@pytest.mark.parametrize("name", ["see", "asee"])
@pytest.mark.parametrize("outer", KINDS)
@pytest.mark.parametrize("middle", KINDS)
@pytest.mark.parametrize("inner", KINDS)
def test_what_filters_set_is_seen_inside_in_their_order(
    front, outer, middle, inner, name
):
    """
    CTX: the caller's word, then one of each filter, whatever colours meet; a token is
    taken back where it was given.
    """
    log = []
    kinds = {"outer": outer, "middle": middle, "inner": inner}
    filters = [layer(kind, saying(word, log)) for word, kind in kinds.items()]
    token = WORDS.set(("caller",))
    try:
        result = call(front, ToolClient([see, asee], filters=filters), name)
        assert ("caller",) == WORDS.get()
    finally:
        WORDS.reset(token)
    words = ("caller", *kinds)

    assert [*words] == result.unwrap()
    assert [words, words[:3], words[:2]] == log


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_filter_leaves_behind_is_gone_with_its_call(front, kind):
    """
    CTX: nothing leaks to the caller, nor to the next call.
    """

    def steps(request):
        WORDS.set((*WORDS.get(), "left"))
        return (yield request)

    client = ToolClient([see], filters=[layer(kind, steps)])
    results = [call(front, client, "see").value for _ in range(2)]

    assert ([["left"]] * 2, ()) == (results, WORDS.get())


@pytest.mark.parametrize("name", ["see", "asee"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_body_sets_stays_in_it(front, kind, name):
    """
    CTX: a filter that goes on twice gets two bodies that know nothing of each other.
    """
    seen = []

    @tool
    def leave() -> list[str]:
        """Leave a word."""
        before = [*WORDS.get()]
        WORDS.set(("body",))
        return before

    def steps(request):
        yield request
        result = yield request
        seen.append(WORDS.get())
        return result

    result = call(front, ToolClient([leave], filters=[layer(kind, steps)]), "leave")

    assert ([], [()]) == (result.value, seen)


@pytest.mark.parametrize("kind", KINDS)
def test_a_filter_is_not_inside_of_its_own_call(front, kind):
    """
    There is no attempt yet: what `current_context` gives is that of a call around, or None.
    """
    seen = []

    def steps(request):
        seen.append(current_context())
        return (yield request)

    client = ToolClient([see], filters=[layer(kind, steps)])

    @tool
    async def outside() -> str:
        """Call the other client."""
        return (await client.ainvoke("see")).content

    call(front, client, "see")
    call(front, ToolClient([outside]), "outside")

    assert (None, "outside") == (seen[0], seen[1].tool)
