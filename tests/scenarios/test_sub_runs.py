"""
A loop that is a tool of another: nothing goes in but the task, and something comes out.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from fronts import call, call_batch
from loops import calls, check, run, scripted
from tooldecl import (
    Budget,
    Retry,
    Suspension,
    ToolClient,
    ToolContext,
    ToolLoop,
    Turn,
    current_context,
    meta_of,
    tool,
)
from tooldecl.engines import AsyncioEngine, SequentialEngine, ThreadEngine
from tooldecl.exceptions import NotImportableError, SubRunError
from tooldecl.filters import Approval, Approved, Suspend
from tooldecl.testing import RecordingHook


AMBIENT = contextvars.ContextVar("AMBIENT", default="root")
RUNS = []


@pytest.fixture(autouse=True)
def _no_runs():
    RUNS.clear()


@tool
def note(word: str) -> str:
    """Note a word."""
    RUNS.append(word)

    return word


def sub(loop, **options):
    """
    Make a tool of a loop.
    """
    return loop.as_tool(name="research", description="Research something.", **options)


def ask(front, loop, **options):
    """
    Call a loop as a tool, once.
    """
    return call(front, ToolClient([sub(loop, **options)]), "research", {"task": "x"})


def one_call(name="note", arguments=None):
    """
    Make a turn with one call.
    """
    return calls(("c", name, {"word": "w"} if arguments is None else arguments))


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


@tool(sensitive=True)
def pay(word: str) -> str:
    """Pay."""
    RUNS.append("pay")

    return "paid"


def waiting_client():
    """
    Make a client whose approvals are decided later.
    """
    return ToolClient([note, pay], filters=[Approval(lambda request: Suspend())])


WITHOUT_ANSWER = {
    "max_turns": ({"max_turns": 1}, "has used up its 1 turn", ["note"]),
    "budget": (
        {"budget": Budget(calls=1)},
        "was ended by its budget (calls)",
        ["note"] * 2,
    ),
    "repeats": (
        {"budget": Budget(repeats=2)},
        "made the same call again and again",
        ["note"] * 2,
    ),
    "suspended": (
        {},
        "waits for what is decided elsewhere about its call of 'pay'",
        ["pay"],
    ),
}


@pytest.mark.parametrize("reason", WITHOUT_ANSWER)
def test_a_child_without_an_answer_says_why(front, reason):
    """
    SUB-04: never with an empty text, and never as if it were an answer; the host has all
    of what was done.
    """
    options, why, names = WITHOUT_ANSWER[reason]
    model = scripted(*(one_call(name) for name in names))
    result = ask(front, ToolLoop(waiting_client(), model, **options))
    cause = result.error.__cause__

    assert ("tool_error", f"The sub-run 'research' {why}. It has no answer.") == (
        result.status,
        result.content,
    )
    assert (SubRunError, reason, reason, "research") == (
        type(cause),
        cause.stop_reason,
        cause.result.stop_reason,
        cause.name,
    )
    check(cause.result.messages)


def test_a_suspended_child_can_be_resumed_by_the_host(front):
    """
    EXT-01: its suspension is in the error; what it says then is for the host to use.
    """
    loop = ToolLoop(waiting_client(), scripted(one_call("pay"), "It is paid."))
    suspension = ask(front, loop).error.__cause__.result.suspension
    assert isinstance(suspension, Suspension)
    result = loop.resume(suspension, {"c": Approved()})

    assert ("It is paid.", ["pay"]) == (result.text, RUNS)


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_child_without_a_word_is_not_empty(front, text):
    """
    SUB-04: an empty answer would look like a lost one.
    """
    result = ask(front, ToolLoop(ToolClient([note]), scripted(text)))

    assert ("ok", "The sub-run 'research' ended without a word.") == (
        result.status,
        result.content,
    )


def test_a_child_whose_model_fails_is_a_tool_that_failed(front):
    """
    SPEC 4: by its cause, so a connection that was lost is tried again where that was
    declared, as a run of its own.
    """
    loop = ToolLoop(ToolClient([note]), scripted(ConnectionError("secret"), "Found."))
    failing = ToolLoop(ToolClient([note]), scripted(ConnectionError("secret")))
    result = ask(front, loop, retry=Retry(attempts=2, delay=0))
    failed = ask(front, failing)

    assert ("Found.", 2) == (result.content, result.attempts)
    assert ("tool_error", "transient", "Tool 'research' failed: ModelFailedError.") == (
        failed.status,
        failed.error_class,
        failed.content,
    )


class Hanging:
    """
    A model that makes one call, then waits for ever; of one colour.
    """

    def __init__(self):
        self.asked = 0
        self.hangs = threading.Event()

    def respond(self, request):
        """
        Return the first turn, and no other.
        """
        self.asked += 1
        if self.asked == 1:
            return Turn(calls=one_call())
        self.hangs.set()
        threading.Event().wait()

        return Turn("Never said.")


def test_a_child_that_is_late_is_stopped(front):
    """
    SUB-04, SUB-05, SUB-09: the parent's answer says so, also where the child's model only
    knows sync code; what it may say later changes nothing.
    """
    model = Hanging()
    result = ask(front, ToolLoop(ToolClient([note]), model), timeout=0.5)

    assert ("timeout", "stopped", ["w"], True) == (
        result.status,
        result.fate,
        RUNS,
        model.hangs.is_set(),
    )
    assert result.content.endswith("the limit declared on it. It was stopped.")


def test_a_tool_cannot_be_found_by_a_worker():
    """
    SPEC 2: a loop lives in this process, so a promise to kill it is refused at build.
    """
    child = ToolLoop(ToolClient([note]), scripted("Found."))
    with pytest.raises(NotImportableError):
        ToolClient([sub(child, isolation="process")])


async def test_a_parent_that_is_cancelled_ends_its_child():
    """
    E-27, CAN-02: down to the body that runs two loops deeper; no model is asked again.
    """
    started, heard = asyncio.Event(), []

    @tool
    async def hang() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            heard.append("cancel")

    models = [scripted(calls(("c", "hang")), "Never said.")]
    loop = ToolLoop(ToolClient([hang]), models[0])
    for _ in range(2):
        models.append(scripted(one_call("research", {"task": "y"}), "Never said."))
        loop = ToolLoop(ToolClient([sub(loop)]), models[-1])
    task = asyncio.create_task(loop.arun("Hi"))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (["cancel"], [1, 1, 1]) == (heard, [len(m.requests) for m in models])


def test_a_run_that_is_told_to_stop_stops_its_child(front):
    """
    CAN-02: told inside of the child's tool; the child asks its model no more and begins
    no further body, and the parent neither.
    """
    stop = threading.Event()

    @tool
    def stopping() -> str:
        """Stop the run."""
        stop.set()
        return "stopped it"

    inner = scripted([*calls(("s", "stopping")), *one_call()], "Never said.")
    outer = scripted(one_call("research", {"task": "x"}), "Never said.")
    child = ToolLoop(ToolClient([note, stopping]), inner)
    result = run(front, ToolLoop(ToolClient([sub(child)]), outer), stop=stop)
    [answer] = result.results

    assert ("cancelled", [1, 1], []) == (
        result.stop_reason,
        [len(model.requests) for model in (inner, outer)],
        RUNS,
    )
    assert "The sub-run 'research' was stopped. It has no answer." == answer.content


def test_a_child_that_cannot_be_stopped_goes_no_further(front):
    """
    SUB-05, E-27: its model swallows the cancellation; the parent's answer says that it
    may be running, and then it asks nobody and runs nothing. Without the timeout, which
    is the control, it does.
    """
    late = threading.Event()

    class Stubborn:
        def __init__(self, waits):
            self.asked = 0
            self._waits = waits

        async def arespond(self, request):
            self.asked += 1
            if self.asked > 1:
                return Turn("Said.")
            while self._waits and not late.is_set():
                try:
                    await asyncio.sleep(0.01)
                except asyncio.CancelledError:
                    pass
            return Turn(calls=one_call())

    ended = threading.Event()
    models = [Stubborn(True), Stubborn(False)]
    hook = RecordingHook()
    loops = [ToolLoop(ToolClient([note]), model) for model in models]
    made = sub(loops[0], timeout=0.05, isolation="thread")
    client = ToolClient([made], hooks=[hook, lambda e: _set_when_late(e, ended)])
    result = call(front, client, "research", {"task": "x"})
    late.set()
    assert ended.wait(20)
    ran = list(RUNS)
    control = ask(front, loops[1])

    assert ("timeout", "abandoned", 1, []) == (
        result.status,
        result.fate,
        models[0].asked,
        ran,
    )
    assert ("Said.", 2, ["w"]) == (control.content, models[1].asked, RUNS)


def _set_when_late(event, ended):
    if type(event).__name__ == "LateFinish":
        ended.set()
