"""
A loop that is a tool of another: nothing goes in but the task, and something comes out.
"""

from __future__ import annotations

import contextvars

import pytest

from fronts import call, call_batch
from loops import calls, check, run, scripted
from scenarios.noting_tools import RUNS, note
from scenarios.sub_loops import one_call, sub
from tooldecl import (
    ToolClient,
    ToolContext,
    ToolLoop,
    current_context,
    meta_of,
    tool,
)
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.testing import RecordingHook


AMBIENT = contextvars.ContextVar("AMBIENT", default="root")


def test_a_parent_reads_what_its_child_says(front):
    """
    SUB-01, OBS-01: the child gets the task and nothing else; each client's hooks hear of
    its own calls.
    """
    hooks = [RecordingHook(), RecordingHook()]
    child = ToolLoop(
        ToolClient([note], hooks=hooks[:1]), scripted(one_call(), "Found.")
    )
    client = ToolClient([sub(child)], hooks=hooks[1:])
    turn = calls(("p", "research", {"task": "Find it."}))
    result = run(front, ToolLoop(client, scripted(turn, "It was found.")))
    check(result.messages)

    assert ("answer", ["Found."], ["w"]) == (
        result.stop_reason,
        [r.content for r in result.results],
        RUNS,
    )
    assert [{"role": "user", "content": "Find it."}] == (
        child._model.requests[0].messages
    )
    assert [{"note"}, {"research"}] == [
        {e.name for e in hook.events if hasattr(e, "name")} for hook in hooks
    ]


def test_the_model_is_shown_one_text():
    """
    SPEC 9: one parameter, with words of its own, and every option of a tool.
    """
    child = ToolLoop(ToolClient([note]), scripted())
    made = sub(child, timeout=5, retry=2, tags=["deep"], return_direct=True)
    [shown] = ToolClient([made]).definitions("anthropic")

    assert ("research", "Research something.", ["task"], "string") == (
        shown["name"],
        shown["description"],
        shown["input_schema"]["required"],
        shown["input_schema"]["properties"]["task"]["type"],
    )
    assert (5, 2, ("deep",), True, True) == (
        meta_of(made).timeout,
        meta_of(made).retry.attempts,
        meta_of(made).tags,
        meta_of(made).return_direct,
        meta_of(made).is_async,
    )


def test_an_option_that_is_none_is_pythons_own_error():
    """
    E-01: as with the decorator, where the tool is made.
    """
    child = ToolLoop(ToolClient([note]), scripted())
    with pytest.raises(TypeError, match="timeuot"):
        sub(child, timeuot=5)


async def test_it_can_be_called_directly():
    """
    SPEC 1: it is an async function of a text, as any decorated one.
    """
    child = ToolLoop(ToolClient([note]), scripted("Found."))

    assert "Found." == await sub(child)("Find it.")


@pytest.mark.parametrize("timeout", [None, 30])
@pytest.mark.parametrize("make", [SequentialEngine, ThreadEngine, AsyncioEngine])
def test_what_surrounds_the_parent_stops_at_the_border(front, make, timeout):
    """
    SUB-06: neither its context variables nor its call; and what the child sets stays there.
    """
    seen = []

    @tool
    def look() -> str:
        """Look around."""
        seen.append((AMBIENT.get(), current_context().tool))
        AMBIENT.set("child")
        return "seen"

    class Watching:
        def __init__(self):
            self._model = scripted(calls(("c", "look")), "Done.")

        def respond(self, request):
            seen.append((AMBIENT.get(), current_context()))
            return self._model.respond(request)

        async def arespond(self, request):
            return self.respond(request)

    AMBIENT.set("parent")
    child = ToolLoop(ToolClient([look], engine=make()), Watching())
    client = ToolClient([sub(child, timeout=timeout)], engine=make())
    result = call(front, client, "research", {"task": "x"})

    assert ("Done.", "parent") == (result.content, AMBIENT.get())
    assert [("root", None), ("root", "look"), ("root", None)] == seen


def test_no_engine_and_no_limit_is_inherited(front):
    """
    SUB-07: the parent's engine has a limit that the child's calls would not keep.
    """
    limits = []

    @tool
    def look(ctx: ToolContext) -> None:
        """Look at the limit."""
        limits.append(ctx.remaining())

    child = ToolLoop(ToolClient([look]), scripted(calls(("c", "look")), "Done."))
    client = ToolClient([sub(child)], engine=ThreadEngine(timeout=30))
    call(front, client, "research", {"task": "x"})
    own = ToolClient([look], engine=ThreadEngine(timeout=30))
    call(front, own, "look")

    assert (None, True) == (limits[0], limits[1] > 0)


def test_a_child_on_its_parents_engine_does_not_wait_for_it(front):
    """
    SUB-07: with room for one, which the parent's call has, the whole would hang; three
    loops deep.
    """
    engine = ThreadEngine(max_concurrency=1)
    inner = ToolLoop(ToolClient([note], engine=engine), scripted(one_call(), "Inner."))
    turn = one_call("research", {"task": "y"})
    outer = ToolLoop(ToolClient([sub(inner)], engine=engine), scripted(turn, "Outer."))
    client = ToolClient([sub(outer)], engine=engine)
    batch = call_batch(front, client, one_call("research", {"task": "x"}))

    assert (["Outer."], ["w"]) == ([r.content for r in batch], RUNS)


def test_the_hosts_own_object_goes_with_the_call(front):
    """
    SPEC 4: the tools of the child may need it as those of the parent do.
    """
    seen = []

    @tool
    def look(ctx: ToolContext) -> None:
        """Look at it."""
        seen.append(ctx.deps)

    child = ToolLoop(ToolClient([look]), scripted(calls(("c", "look")), "Done."))
    call(front, ToolClient([sub(child)]), "research", {"task": "x"}, deps="mine")

    assert ["mine"] == seen


class Carry:
    """
    Takes the ambient word along.
    """

    def __call__(self, event):
        """
        Watch nothing.
        """

    def carry(self):
        """
        Take it.
        """
        return {"word": AMBIENT.get()}

    @staticmethod
    def restore(values):
        """
        Say from where it is.
        """
        AMBIENT.set(f"carried {values['word']}")


@pytest.mark.parametrize("kind", ["as_tool", "fan_out"])
def test_what_a_hook_of_its_client_carries_goes_with_it(front, kind):
    """
    A trace goes on in a sub-run, which sees nothing else of what surrounds it; a hook of
    the parent's client alone takes nothing.
    """
    seen = []

    @tool
    def look() -> str:
        """Look around."""
        seen.append(AMBIENT.get())
        return "seen"

    def run(inner, outer):
        turns = [calls(("c", "look")), "Done."]
        child = ToolLoop(ToolClient([look], hooks=inner), scripted(*turns))
        task = getattr(child, kind)(name="research", description="Research.")
        given = {"task": "x"} if kind == "as_tool" else {"tasks": ["x"]}
        call(front, ToolClient([task], hooks=outer), "research", given)

    AMBIENT.set("parent")
    run([Carry()], [])
    run([], [Carry()])

    assert (["carried parent", "root"], "parent") == (seen, AMBIENT.get())
