"""
Results that are too long for the model: it gets a head and a reference, the host all of it.
"""

from __future__ import annotations

import asyncio
import re
import threading

import pytest

from engine_stage import ENGINES, Stage, client_of
from fronts import call, call_batch
from ordering import HANGS_AFTER
from tooldecl import (
    FileResultStore,
    SqliteResultStore,
    ToolClient,
    ToolContext,
    ToolResult,
    tool,
)
from tooldecl.exceptions import DeclarationError
from tooldecl.telemetry import CallFinished
from tooldecl.testing import RecordingHook


MARK = re.compile(r"\[text cut, (\d+) chars in all, kept as ([\w-]+)\]$")


class Shelf:
    """
    A store in memory, which may be told what to do instead of keeping.
    """

    def __init__(self, act=None, **attributes):
        self.kept = {}
        self.threads = []
        self.began = threading.Event()
        self._act = act
        vars(self).update(attributes)

    def put(self, call_id, text):
        """
        Keep a text under a number.
        """
        self.threads.append(threading.current_thread())
        self.began.set()
        if self._act is not None:
            return self._act()
        reference = f"r{len(self.kept)}"
        self.kept[reference] = text

        return reference

    def get(self, reference):
        """
        Return a text.
        """
        return self.kept[reference]


@tool
def repeat(text: str, times: int) -> str:
    """Repeat a text."""
    return text * times


@tool
def table(rows: int) -> list[dict[str, int]]:
    """Return rows."""
    return [{"row": number} for number in range(rows)]


@tool
async def arepeat(text: str, times: int) -> str:
    """Repeat a text."""
    return text * times


def client_with(store, *, limit=100, **options):
    """
    Build the client of these tests.
    """
    options = {"on_overflow": "offload", "result_limit": limit, **options}

    return ToolClient([repeat, table, arepeat], store=store, **options)


@pytest.mark.parametrize(
    "make",
    [lambda p: FileResultStore(p / "out"), lambda p: SqliteResultStore(p / "out.db")],
    ids=["file", "sqlite"],
)
def test_the_model_gets_a_head_and_a_reference_and_the_host_all(front, make, tmp_path):
    """
    R115, SPEC 8: 5 MB and a limit of 20,000: within it, the size is said, and the whole
    can be had from the store as from the value.
    """
    text = "a line\r\nof text\n" * 330_000
    client = client_with(make(tmp_path), limit=20_000)
    arguments = {"text": "a line\r\nof text\n", "times": 330_000}
    result = call(front, client, "repeat", arguments)
    size, reference = MARK.search(result.content).groups()

    assert (20_000, True, len(text), str(len(text))) == (
        len(result.content),
        result.truncated,
        result.original_size,
        size,
    )
    assert text.startswith(MARK.sub("", result.content))
    assert (True, True) == (text == client.store.get(reference), text == result.value)


def test_a_result_within_the_limit_is_left_alone(front):
    """
    RES-01: exactly the limit is within; nothing is put anywhere.
    """
    shelf = Shelf()
    result = call(front, client_with(shelf), "repeat", {"text": "x", "times": 100})

    assert ("x" * 100, False, {}) == (result.content, result.truncated, shelf.kept)


def test_what_is_kept_is_what_the_model_would_have_got(front):
    """
    R116: of a value that is no text, its JSON, which the head shows the beginning of.
    """
    shelf = Shelf()
    result = call(front, client_with(shelf), "table", {"rows": 50})
    whole = shelf.get("r0")

    assert (True, 50, [{"row": n} for n in range(50)]) == (
        whole.startswith(MARK.sub("", result.content)),
        whole.count("row"),
        result.value,
    )


@pytest.mark.parametrize("limit", range(60, 75))
def test_the_head_ends_between_characters_and_the_whole_is_within(front, limit):
    """
    R116, E-39: no family is torn apart, and no limit is passed by one.
    """
    text = "👩‍👩‍👧" * 40
    result = call(
        front, client_with(Shelf(), limit=limit), "repeat", {"text": text, "times": 1}
    )
    head = MARK.sub("", result.content)

    assert len(result.content) <= limit
    assert "👩‍👩‍👧" * (len(head) // 5) == head


def test_a_tool_may_ask_for_it_alone(front):
    """
    SPEC 8: the tool's own limit and way come before the client's.
    """

    @tool(result_limit=80, on_overflow="offload")
    def long() -> str:
        """Say a lot."""
        return "x" * 500

    shelf = Shelf()
    client = ToolClient([long, repeat], store=shelf, result_limit=100)
    results = [
        call(front, client, "long"),
        call(front, client, "repeat", {"text": "x", "times": 101}),
    ]

    assert (["ok", "too_large"], 80, {"r0": "x" * 500}) == (
        [r.status for r in results],
        len(results[0].content),
        shelf.kept,
    )


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_every_engine_offloads(case, front, tmp_path):
    """
    SPEC 8: wherever the body ran, the store is the host's, and results are in order.
    """
    (tmp_path / "stage").mkdir()
    stage = Stage(tmp_path / "stage")
    shelf = Shelf()
    client = client_of(
        case.make(), result_limit=100, on_overflow="offload", store=shelf
    )
    words = ["a" * 300, "b", "c" * 301]
    try:
        results = call_batch(front, client, stage.calls(*(("work", w) for w in words)))
    finally:
        stage.close()

    assert [300, None, 301] == [r.original_size for r in results]
    assert {"A" * 300, "C" * 301} == set(shelf.kept.values())
    assert ["A" * 300, "B", "C" * 301] == [r.value for r in results]


# -- what goes wrong -------------------------------------------------------------------


def failing():
    """
    Keep nothing.
    """
    raise OSError("the disk is full")


@pytest.mark.parametrize(
    "act",
    [
        failing,
        lambda: None,
        lambda: "",
        lambda: "two\nlines",
        lambda: "\ud800",
        lambda: 5,
    ],
    ids=["raises", "none", "empty", "lines", "surrogate", "number"],
)
def test_a_store_that_keeps_nothing_costs_the_text_alone(front, act, caplog):
    """
    E-29: the call is answered ``too_large``, once; the host has the value, and the log
    says why.
    """
    runs = []

    @tool(retry=3)
    def long(ctx: ToolContext) -> str:
        """Say a lot, and write."""
        runs.append(1)
        ctx.write("x", 1)
        return "x" * 500

    client = ToolClient(
        [long], store=Shelf(act), on_overflow="offload", result_limit=100
    )
    result = call(front, client, "long")

    assert ("too_large", "x" * 500, 500, 1, {}) == (
        result.status,
        result.value,
        result.original_size,
        len(runs),
        client.state,
    )
    assert ["The store kept nothing of the result of 'long'."] == [
        record.getMessage() for record in caplog.records
    ]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, MemoryError])
def test_what_means_stop_leaves_unchanged(front, kind):
    """
    FAT-06: also where a store raises it, on whatever thread it runs; the hooks are told.
    """

    def stop():
        raise kind("out")

    hook = RecordingHook()
    client = client_with(Shelf(stop), hooks=[hook])
    with pytest.raises(kind):
        call(front, client, "repeat", {"text": "x", "times": 500})

    assert 1 == len(hook.of(CallFinished))


def test_a_reference_that_has_no_room_is_too_large(front, caplog):
    """
    E-39: no mark is left out; the log tells where the text is.
    """
    shelf = Shelf(lambda: "r" * 90)
    result = call(front, client_with(shelf), "repeat", {"text": "x", "times": 500})

    assert ("too_large", "x" * 500) == (result.status, result.value)
    assert caplog.records[0].getMessage() == (
        f"The result of 'repeat' is kept as {'r' * 90}, but its limit of 100 has no room "
        "for that."
    )


def test_the_text_of_a_failure_is_not_kept(front):
    """
    SPEC 4: a failure is cut and never refused; there is nothing that the host lacks.
    """

    @tool(result_limit=60, on_overflow="offload")
    def fail() -> str:
        """Fail at length."""
        raise ValueError("x" * 500)

    shelf = Shelf()
    result = call(front, ToolClient([fail], store=shelf), "fail")

    assert ("tool_error", {}) == (result.status, shelf.kept)


def test_what_a_filter_makes_is_kept_as_well(front):
    """
    RES-08: the text that goes out is the one that is held to the limit.
    """

    def longer(request):
        result = yield request
        return result.replace(content=result.content * 200)

    shelf = Shelf()
    client = client_with(shelf, filters=[longer])
    result = call(front, client, "repeat", {"text": "x", "times": 1})

    assert (True, {"r0": "x" * 200}) == (result.truncated, shelf.kept)


def test_a_filter_that_answers_too_much_alone_has_no_body_to_blame(front):
    """
    A store that fails then leaves a call that was not run, and says so.
    """

    def answering(request):
        return "x" * 500
        yield

    client = client_with(Shelf(failing), filters=[answering])
    result = call(front, client, "repeat", {"text": "x", "times": 1})

    assert ("guard_failed", "not_started") == (result.status, result.fate)


# -- where it waits --------------------------------------------------------------------


async def test_a_store_that_waits_does_not_hold_the_loop():
    """
    It writes to a disk or a network: on a thread, while the loop runs other things; the
    loop itself lets it go on here, which it could not if it were held.
    """
    go = threading.Event()

    def wait():
        return "r0" if go.wait(HANGS_AFTER) else "late"

    shelf = Shelf(wait)
    task = asyncio.create_task(
        client_with(shelf).ainvoke("arepeat", {"text": "x", "times": 500})
    )
    await asyncio.to_thread(shelf.began.wait, HANGS_AFTER)
    go.set()
    result = await task

    assert result.content.endswith("kept as r0]")
    assert threading.main_thread() not in shelf.threads


def test_in_sync_code_it_runs_where_the_caller_is():
    """
    No thread is made for what the caller waits for anyway.
    """
    shelf = Shelf()
    client_with(shelf).invoke("repeat", {"text": "x", "times": 500})

    assert [threading.current_thread()] == shelf.threads


async def test_without_a_thread_the_loop_waits():
    """
    A system that gives no further thread costs the loop a moment, and no result.
    """
    shelf = Shelf()
    client = client_with(shelf)
    before = threading.stack_size(1 << 47)  # stacks that no machine has
    try:
        result = await client.ainvoke("arepeat", {"text": "x", "times": 500})
    finally:
        threading.stack_size(before)

    assert (True, [threading.main_thread()]) == (result.truncated, shelf.threads)


async def test_a_caller_that_is_cancelled_does_not_wait_for_the_store():
    """
    CAN-02: the text may still be kept; nobody is told of it.
    """
    go = threading.Event()
    shelf = Shelf(lambda: str(go.wait(HANGS_AFTER)))
    hook = RecordingHook()
    client = client_with(shelf, hooks=[hook])
    task = asyncio.create_task(client.ainvoke("arepeat", {"text": "x", "times": 500}))
    await asyncio.to_thread(shelf.began.wait, HANGS_AFTER)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    shelf.threads[0].join(HANGS_AFTER)

    assert ["cancelled"] == [event.result.status for event in hook.of(CallFinished)]


# -- what cannot be kept ---------------------------------------------------------------


def test_without_a_store_it_is_refused_when_the_client_is_built():
    """
    E-03: an option that nobody can keep; every one of them is named.
    """

    @tool(on_overflow="offload")
    def long() -> str:
        """Say a lot."""
        return "x"

    with pytest.raises(ExceptionGroup) as both:
        ToolClient([long, repeat], on_overflow="offload")
    with pytest.raises(DeclarationError) as alone:
        ToolClient([long])
    with pytest.raises(DeclarationError):
        ToolClient([]).adding(long)

    rule = "takes 'offload' only in a client with a store=..., which has none."
    assert [f"ToolClient(on_overflow=...) {rule}", str(alone.value)] == [
        str(error) for error in both.value.exceptions
    ]
    assert str(alone.value).startswith("Tool 'long' (")
    assert str(alone.value).endswith(f": on_overflow {rule}")


@pytest.mark.parametrize(
    ("store", "least"),
    [(Shelf(), 39), (Shelf(longest_reference=10), 48), (FileResultStore("x"), 67)],
    ids=["shelf", "ten", "file"],
)
def test_a_limit_without_room_for_the_mark_is_refused(store, least):
    """
    E-39: the longest reference that the store says it gives is what has to fit.
    """

    def build(limit):
        return ToolClient(
            [repeat], store=store, result_limit=limit, on_overflow="offload"
        )

    with pytest.raises(DeclarationError) as caught:
        build(least - 1)

    assert least == build(least)._runtime.result_limit
    assert str(caught.value).endswith(
        f" has a result_limit of {least - 1}, and the mark of a stored result needs "
        f"{least} characters."
    )


def test_the_store_can_be_read_from_the_client():
    """
    A host that offers the model a tool to read on takes it from there.
    """
    shelf = Shelf()
    client = client_with(shelf)

    assert [True, True, True] == [
        client.store is shelf,
        client.without("table").store is shelf,
        ToolClient([]).store is None,
    ]


def test_the_limit_of_external_results_is_kept():
    """
    SPEC 2: 10,000 characters, another number, or none.
    """
    limits = [
        ToolClient([], **options)._runtime.external_limit
        for options in ({}, {"external_limit": 5}, {"external_limit": None})
    ]

    assert [10_000, 5, None] == limits


def test_an_offloaded_result_is_plain_data(front):
    """
    WRT-12: what a host stores of it has the size and the value, and goes through JSON.
    """
    result = call(front, client_with(Shelf()), "repeat", {"text": "x", "times": 500})
    plain = result.to_dict()

    assert (True, 500, "x" * 500, True) == (
        plain["truncated"],
        plain["original_size"],
        plain["value"],
        isinstance(result, ToolResult),
    )
