"""
Several tasks for one loop at once: in order, named, and each for itself.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
import threading

import pytest

from fronts import call
from loops import calls, scripted
from ordering import HANGS_AFTER
from tooldecl import ToolClient, ToolLoop, Turn, tool
from tooldecl.engines import ThreadEngine
from tooldecl.exceptions import DeclarationError
from tooldecl.testing import RecordingHook


AMBIENT = contextvars.ContextVar("AMBIENT", default="root")


@tool
def note(word: str) -> str:
    """Note a word."""
    return word


class Echo:
    """
    A model that answers with what *answer* makes of the task.
    """

    def __init__(self, answer=lambda task: f"about {task}"):
        self._answer = answer
        self.asked = []

    async def arespond(self, request):
        """
        Return the only turn.
        """
        task = request.messages[0]["content"]
        self.asked.append(task)
        said = self._answer(task)
        if asyncio.iscoroutine(said):
            said = await said
        if isinstance(said, BaseException):
            raise said

        return said if isinstance(said, Turn) else Turn(said)


def many(model, *, max_concurrency=8, client=None, stop_on=(), **options):
    """
    Make a client whose one tool is a loop for several tasks.
    """
    own = ToolClient([note], stop_on=stop_on)
    loop = ToolLoop(client or own, model, **options)
    made = loop.fan_out(
        name="scout", description="Scout.", max_concurrency=max_concurrency
    )

    return ToolClient([made])


def test_answers_come_in_order_and_by_name(front):
    """
    SUB-02: three children under one call, each with a name and a run of its own, whichever
    ends first.
    """
    done = {task: asyncio.Event() for task in "abcd"}
    done["d"].set()
    ended = []

    async def answer(task):
        await done[chr(ord(task) + 1)].wait()
        done[task].set()
        ended.append(task)
        return f"about {task}"

    hook = RecordingHook()
    own = ToolClient([note], hooks=[hook])
    client = many(Echo(answer), client=own)
    result = call(front, client, "scout", {"tasks": ["a", "b", "c"]}, call_id="one")

    assert ("ok", "one") == (result.status, result.call_id)
    assert [
        {"name": f"scout-{n}", "status": "answer", "text": f"about {task}"}
        for n, task in enumerate("abc", start=1)
    ] == result.value
    assert result.value == json.loads(result.content)
    assert (["c", "b", "a"], 3) == (ended, len({e.run_id for e in hook.events}))


@pytest.mark.parametrize("tasks", [[]])
def test_no_task_is_an_error(front, tasks):
    """
    SUB-03: in words for the model, and no child is asked.
    """
    model = Echo()
    result = call(front, many(model), "scout", {"tasks": tasks})

    assert ("tool_error", "There is no task in it. Send at least one.", []) == (
        result.status,
        result.content,
        model.asked,
    )


@pytest.mark.parametrize("tasks", ["a", [1], [None], {"a": "b"}])
def test_what_is_no_list_of_texts_is_refused(front, tasks):
    """
    GATE-07: before any child is asked.
    """
    model = Echo()

    assert "invalid" == call(front, many(model), "scout", {"tasks": tasks}).status
    assert [] == model.asked


def meeting(parties):
    """
    Return an answer that waits for so many children, and how many were inside at most.
    """
    inside, most = [], []

    async def answer(task):
        inside.append(task)
        most.append(len(inside))
        for _ in range(1_000):
            if len(inside) >= parties:
                break
            await asyncio.sleep(0)
        inside.remove(task)
        return task

    return answer, most


@pytest.mark.parametrize(("limit", "peak"), [(8, 3), (2, 2), (1, 1)])
def test_children_run_at_once_within_their_limit(front, limit, peak):
    """
    SUB-08: all are inside together; with a smaller limit, which is the control, they are
    not.
    """
    answer, most = meeting(min(limit, 3))
    client = many(Echo(answer), max_concurrency=limit)
    result = call(front, client, "scout", {"tasks": ["a", "b", "c"]})

    assert (["a", "b", "c"], peak) == ([r["text"] for r in result.value], max(most))


def test_sync_models_are_asked_at_once_too(front):
    """
    SUB-08: each on a thread of its own.
    """
    barrier = threading.Barrier(3)

    class Meeting:
        def respond(self, request):
            barrier.wait(HANGS_AFTER)
            return Turn("Met.")

    result = call(front, many(Meeting()), "scout", {"tasks": ["a", "b", "c"]})

    assert ["Met."] * 3 == [r["text"] for r in result.value]


def test_a_child_that_fails_leaves_the_others_alone(front):
    """
    SUB-04: each outcome is its own and none is empty; texts of foreign exceptions stay
    with the host.
    """
    says = {
        "fails": ConnectionError("secret"),
        "asks": Turn(calls=calls(("c", "note", {"word": "w"}))),
        "mute": "",
        "well": "Found.",
    }
    client = many(Echo(says.get), max_turns=1)
    result = call(front, client, "scout", {"tasks": list(says)})

    assert [
        ("scout-1", "failed", "The sub-run 'scout-1' failed: ModelFailedError."),
        (
            "scout-2",
            "max_turns",
            "The sub-run 'scout-2' has used up its 1 turn. It has no answer.",
        ),
        ("scout-3", "answer", "The sub-run 'scout-3' ended without a word."),
        ("scout-4", "answer", "Found."),
    ] == [(r["name"], r["status"], r["text"]) for r in result.value]


def test_children_do_not_see_each_other(front):
    """
    SUB-06: neither their context variables nor those of the call around them.
    """
    seen = []

    async def answer(task):
        seen.append(AMBIENT.get())
        AMBIENT.set(task)
        await asyncio.sleep(0)
        return task

    AMBIENT.set("parent")
    call(front, many(Echo(answer)), "scout", {"tasks": ["a", "b"]})

    assert (["root", "root"], "parent") == (seen, AMBIENT.get())


def test_what_means_stop_ends_all_of_it(front):
    """
    R22: a type that the child's client lets through is no outcome of one task.
    """

    class HaltError(Exception):
        pass

    @tool
    def halting() -> None:
        """Halt."""
        raise HaltError

    client = ToolClient([halting], stop_on=[HaltError])
    loop = ToolLoop(client, scripted(*[calls(("c", "halting"))] * 2))
    made = loop.fan_out(name="scout", description="Scout.")
    with pytest.raises(HaltError):
        call(
            front,
            ToolClient([made], stop_on=[HaltError]),
            "scout",
            {"tasks": ["a", "b"]},
        )
    loop = ToolLoop(client, scripted(*[calls(("c", "halting"))] * 2))
    made = loop.fan_out(name="scout", description="Scout.")
    contained = call(front, ToolClient([made]), "scout", {"tasks": ["a", "b"]})

    assert "Tool 'scout' failed: HaltError." == contained.content


@pytest.mark.parametrize(
    ("said", "status", "text"),
    [
        (SystemExit(2), "failed", "The sub-run 'scout-2' failed: SystemExit."),
        ("half \ud83d", "answer", "half \ufffd"),
    ],
)
def test_what_one_says_costs_the_others_nothing(front, said, status, text):
    """
    SUB-02: neither an exit nor a text that no wire takes.
    """
    model = Echo(lambda task: said if task == "b" else f"about {task}")
    result = call(front, many(model), "scout", {"tasks": ["a", "b"]})

    assert [("answer", "about a"), (status, text)] == [
        (one["status"], one["text"]) for one in result.value
    ]


def test_what_means_stop_ends_the_others(front):
    """
    R22, E-27: nobody waits for them any more, so they get their cancel.
    """
    heard = []

    async def answer(task):
        if task == "b":
            raise MemoryError
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            heard.append(task)

    with pytest.raises(MemoryError):
        call(front, many(Echo(answer)), "scout", {"tasks": ["a", "b"]})

    assert ["a"] == heard


async def test_a_parent_that_is_cancelled_ends_all_children():
    """
    E-27: those that run get their cancel, those that wait for their turn never begin.
    """
    started, heard = asyncio.Event(), []

    async def answer(task):
        if task == "b":
            started.set()
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            heard.append(task)

    model = Echo(answer)
    client = many(model, max_concurrency=2)
    task = asyncio.create_task(client.ainvoke("scout", {"tasks": ["a", "b", "c"]}))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (["a", "b"], ["a", "b"]) == (sorted(heard), model.asked)


def test_children_share_an_engine_of_one_with_their_parent(front):
    """
    SUB-07: the place is that of the call around them, and none of them waits for it.
    """
    engine = ThreadEngine(max_concurrency=1)
    turn = calls(("c", "note", {"word": "w"}))

    class Calling:
        async def arespond(self, request):
            done = request.messages[-1]["role"] == "tool"
            return Turn("Done.") if done else Turn(calls=turn)

    loop = ToolLoop(ToolClient([note], engine=engine), Calling())
    made = loop.fan_out(name="scout", description="Scout.")
    client = ToolClient([made], engine=engine)
    result = call(front, client, "scout", {"tasks": ["a", "b"]})

    assert ["Done.", "Done."] == [r["text"] for r in result.value]


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, None])
def test_a_limit_that_is_none_is_refused(limit):
    """
    VAL-07: when the tool is made.
    """
    with pytest.raises(DeclarationError) as caught:
        many(Echo(), max_concurrency=limit)

    assert (
        f"fan_out(max_concurrency=...) takes a whole number from 1, got {limit!r}."
        == str(caught.value)
    )
