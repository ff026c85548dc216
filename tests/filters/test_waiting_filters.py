"""
Filters that are objects: both colours under both fronts, and what they can do to a call.
"""

from __future__ import annotations

import asyncio

import pytest

from fronts import call
from tooldecl import NotFound, Retry, ToolClient, ToolContext, tool
from tooldecl.exceptions import DeclarationError
from waiting import layer


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool
async def aadd(a: int, b: int) -> int:
    """Add two integers."""
    await asyncio.sleep(0)

    return a + b


TOOLS = [add, aadd]
NAMES = ["add", "aadd"]


def adding(number):
    """
    Add to an argument on the way in, and to the text on the way out.
    """

    def steps(request):
        changed = {**request.arguments, "a": request.arguments["a"] * 10 + number}
        result = yield request.replace(arguments=changed)
        return result.replace(content=f"{result.content} {number}")

    return steps


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("order", ["ss", "sa", "as", "aa", "fsa", "asf", "sfas"])
def test_layers_of_all_kinds_nest_in_the_order_of_the_list(front, order, name):
    """
    FLT-01, FLT-02: the first one is the outermost, whatever its colour, its neighbour's
    and the caller's.
    """
    kinds = {"s": "around", "a": "aaround", "f": "flow"}
    filters = [layer(kinds[k], adding(n)) for n, k in enumerate(order, 1)]
    result = call(front, ToolClient(TOOLS, filters=filters), name, {"a": 0, "b": 0})

    digits = "".join(str(n) for n in range(1, len(order) + 1))
    tags = " ".join(reversed(digits))
    assert (f"{digits} {tags}", "completed", 1) == (
        result.content,
        result.fate,
        result.attempts,
    )


def test_an_answer_of_its_own_reaches_nobody_inside(front, colour):
    """
    FLT-03, FLT-09, FLT-10: without call_next nothing is started.
    """

    def steps(request):
        return "cached"
        yield request

    result = call(
        front,
        ToolClient([add], filters=[layer(colour, steps)]),
        "add",
        {"a": 1, "b": 2},
    )

    assert ("ok", "cached", "not_started", 0) == (
        result.status,
        result.value,
        result.fate,
        result.attempts,
    )


@pytest.mark.parametrize("name", NAMES)
def test_going_on_again_runs_the_body_again(front, colour, name):
    """
    A filter's own retry: both results are there, and the last one is the answer.
    """
    values = []

    def steps(request):
        for a in (1, 2):
            result = yield request.replace(arguments={**request.arguments, "a": a})
            values.append(result.value)
        return result

    client = ToolClient(TOOLS, filters=[layer(colour, steps)])
    result = call(front, client, name, {"a": 0, "b": 0})

    assert ([1, 2], 2, 2) == (values, result.value, result.attempts)


def test_attempts_are_inside_of_the_filter(front, colour):
    """
    E-13: a filter goes on once, however often the body is tried.
    """
    passes = []

    @tool(retry=Retry(attempts=3, delay=0))
    def flaky(ctx: ToolContext) -> str:
        """Fail twice."""
        if ctx.attempt < 3:
            raise ConnectionError
        return "done"

    def steps(request):
        passes.append(request.name)
        return (yield request)

    result = call(front, ToolClient([flaky], filters=[layer(colour, steps)]), "flaky")

    assert (["flaky"], 3, "done") == (passes, result.attempts, result.value)


def test_changed_arguments_pass_the_gate_again(front, colour):
    """
    No filter gets past the check that the model could not get past.
    """

    def steps(request):
        return (yield request.replace(arguments={"a": "one", "b": 2}))

    result = call(
        front,
        ToolClient([add], filters=[layer(colour, steps)]),
        "add",
        {"a": 1, "b": 2},
    )

    assert ("invalid", "not_started") == (result.status, result.fate)


def test_what_the_body_found_comes_out_through_it(front, colour):
    """
    R131, R54: a filter that only looks changes no outcome.
    """
    seen = []

    @tool
    def find(key: str) -> str:
        """Find."""
        raise NotFound("There is none.")

    def steps(request):
        result = yield request
        seen.append(result.status)
        return result

    client = ToolClient([find], filters=[layer(colour, steps)] * 2)
    result = call(front, client, "find", {"key": "k"})

    assert (["not_found"] * 2, "not_found") == (seen, result.status)


class Both:
    """
    A filter with a form for either colour.
    """

    def __init__(self):
        self.used = []

    def around(self, request, call_next):
        """
        Go on.
        """
        self.used.append("around")
        return call_next(request)

    async def aaround(self, request, call_next):
        """
        Go on.
        """
        self.used.append("aaround")
        return await call_next(request)


def test_a_filter_with_both_forms_is_used_by_that_of_the_caller(front):
    """
    Nobody is sent to another thread who has a form for where it is.
    """
    both = Both()
    result = call(front, ToolClient([add], filters=[both]), "add", {"a": 1, "b": 2})

    assert (3, ["around" if front == "sync" else "aaround"]) == (
        result.value,
        both.used,
    )


class AsyncByName:
    """
    An async function under the name of the sync form.
    """

    async def around(self, request, call_next):
        """
        Go on.
        """


class SyncByName:
    """
    A sync function under the name of the async form.
    """

    def aaround(self, request, call_next):
        """
        Go on.
        """


class OneForm:
    """
    A filter that says of its other form that there is none.
    """

    around = None

    async def aaround(self, request, call_next):
        """
        Go on.
        """
        return await call_next(request)


class Yielding:
    """
    The two ways to write a filter, mixed.
    """

    def around(self, request):
        """
        Go on.
        """
        yield request


class AsyncYielding:
    """
    The same in async code.
    """

    async def aaround(self, request, call_next):
        """
        Go on.
        """
        yield request


@pytest.mark.parametrize(
    ("candidate", "hint"),
    [
        (AsyncByName(), "call it aaround()."),
        (SyncByName(), "call it around()."),
        (Yielding(), "and returns the result."),
        (
            AsyncYielding(),
            "yields: it awaits or calls call_next(request), and returns the result.",
        ),
    ],
)
def test_a_form_of_the_wrong_colour_is_refused(candidate, hint):
    """
    A coroutine in the place of a result would be taken for an answer.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolClient([], filters=[candidate])

    assert str(caught.value).endswith(hint)


def test_a_form_that_is_none_counts_for_none(front):
    """
    ``around = None`` is how a class takes back what it inherits.
    """
    client = ToolClient([add], filters=[OneForm()])

    assert 3 == call(front, client, "add", {"a": 1, "b": 2}).value
