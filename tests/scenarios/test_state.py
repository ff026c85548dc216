"""
State: what calls read is a snapshot, what they write counts when they succeed, in call order.
"""

from __future__ import annotations

import threading

import pytest

from fronts import call, call_batch
from tooldecl import Retry, ToolCall, ToolClient, ToolContext, tool
from tooldecl.telemetry import BatchFinished, LateFinish, WriteConflict
from tooldecl.testing import FakeClock, RecordingHook


@tool
def write(slot: str, value: object, ctx: ToolContext, fail: bool = False) -> str:
    """Write to a slot, and perhaps fail."""
    ctx.write(slot, value)
    if fail:
        raise ValueError("no")

    return "written"


@tool
def read(slot: str, ctx: ToolContext) -> object:
    """Read a slot."""
    return ctx.state.get(slot)


def writing(slot, value, **more):
    """
    Make a call that writes.
    """
    return ToolCall("write", {"slot": slot, "value": value, **more})


def reading(slot):
    """
    Make a call that reads.
    """
    return ToolCall("read", {"slot": slot})


def client_with(**options):
    """
    Build the client of these tests.
    """
    return ToolClient([write, read], **options)


def test_the_last_writer_in_call_order_wins_and_the_conflict_is_told(front):
    """
    WRT-01, WRT-10: a warning event, no error; both calls have succeeded.
    """
    hook = RecordingHook()
    client = client_with(hooks=[hook])
    calls = [writing("x", 1), writing("y", 9), writing("x", 2)]
    results = call_batch(front, client, calls)
    [conflict] = hook.of(WriteConflict)

    assert ({"x": 2, "y": 9}, True) == (client.state, results.ok)
    assert ("x", (results[0].call_id, results[2].call_id)) == (
        conflict.slot,
        conflict.call_ids,
    )
    assert hook.events.index(conflict) < hook.events.index(hook.of(BatchFinished)[0])


def test_a_batch_reads_the_state_as_it_was_when_it_began(front):
    """
    WRT-07: a reader after a writer sees nothing of it; the next batch does.
    """
    client = client_with(state={"x": 0})
    first = call_batch(front, client, [writing("x", 1), reading("x")])
    second = call_batch(front, client, [reading("x")])

    assert (0, 1) == (first[1].value, second[0].value)


def test_a_call_that_failed_has_written_nothing(front):
    """
    WRT-09: only the good one's writes are in the state, and in the results.
    """
    client = client_with()
    results = call_batch(front, client, [writing("a", 1, fail=True), writing("b", 2)])

    assert ({"b": 2}, [{}, {"b": 2}]) == (client.state, [r.writes for r in results])


@pytest.mark.parametrize("how", ["too large", "unencodable", "gate"])
def test_a_result_that_could_not_go_out_has_written_nothing(front, how):
    """
    SPEC 4: writes are accepted with the result, or not at all.
    """

    @tool(result_limit=5)
    def give(ctx: ToolContext) -> object:
        """Write and return what cannot go out."""
        ctx.write("x", 1)
        return "x" * 9 if how == "too large" else object()

    client = ToolClient([give])
    call(front, client, "give", {"z": 1} if how == "gate" else None)

    assert {} == client.state


def test_nothing_written_leaves_the_state_as_it_is(front):
    """
    WRT-05: no copy and no event.
    """
    hook = RecordingHook()
    client = client_with(state={"x": 1}, hooks=[hook])
    before = client.state
    call_batch(front, client, [reading("x"), reading("y")])

    assert (True, []) == (client.state is before, hook.of(WriteConflict))


def test_single_calls_read_and_write_like_batches_of_one(front):
    """
    docs/decisions/0010: a counter over three calls counts to three.
    """

    @tool
    def count(ctx: ToolContext) -> int:
        """Count."""
        ctx.write("n", ctx.state.get("n", 0) + 1)
        return ctx.state.get("n", 0)

    client = ToolClient([count])
    values = [call(front, client, "count").value for _ in range(3)]

    assert ([0, 1, 2], {"n": 3}) == (values, client.state)


def test_what_a_body_sees_cannot_be_changed(front):
    """
    A tool that could write into the snapshot would write for its siblings.
    """
    seen = []

    @tool
    def meddle(ctx: ToolContext) -> None:
        """Try to change what is shown."""
        seen.append(ctx.state)
        ctx.state["cart"].append("more")

    client = ToolClient([meddle], state={"cart": ["tea"]})
    result = call(front, client, "meddle")

    assert ("tool_error", ("TypeError",), {"cart": ["tea"]}) == (
        result.status,
        result.error.type_names,
        client.state,
    )


def test_what_was_written_is_a_copy(front):
    """
    R148: the body goes on using its list; the state has what it was at the write.
    """

    @tool
    def keep(ctx: ToolContext) -> str:
        """Write a list and go on changing it."""
        cart = {"tea": [1]}
        ctx.write("cart", cart)
        cart["tea"].append(2)
        return "kept"

    client = ToolClient([keep])
    result = call(front, client, "keep")

    assert ({"cart": {"tea": [1]}}, {"cart": {"tea": [1]}}) == (
        client.state,
        result.writes,
    )


def test_a_value_that_contains_itself_is_the_bodys_failure(front):
    """
    Copying it never ends, which must not be the client's affair.
    """

    @tool
    def write_circle(ctx: ToolContext) -> None:
        """Write a list that contains itself."""
        made = []
        made.append(made)
        ctx.write("x", made)

    result = call(front, ToolClient([write_circle]), "write_circle")

    assert ("tool_error", ("RecursionError",)) == (
        result.status,
        result.error.type_names,
    )


def test_a_slot_is_named_by_a_text(front):
    """
    A slot of another kind could not be sent, and would be found by nobody.
    """

    @tool
    def misname(ctx: ToolContext) -> None:
        """Write to a slot without a name."""
        ctx.write(5, 1)

    client = ToolClient([misname])
    result = call(front, client, "misname")

    assert ("tool_error", "A slot is a text, got int.", {}) == (
        result.status,
        str(result.error.__cause__),
        client.state,
    )


def test_what_an_abandoned_body_writes_later_is_dropped(front, gate, listener):
    """
    R17: neither what it wrote before its deadline nor what it writes after it.
    """

    @tool(timeout=0.02)
    def late(ctx: ToolContext) -> str:
        """Write, hang, write."""
        ctx.write("early", 1)
        gate.pass_through()
        ctx.write("late", 1)
        return "done"

    client = ToolClient([late, read], hooks=[listener])
    result = call(front, client, "late")
    gate.open()
    listener.wait_for(LateFinish)

    assert ("timeout", {}, {}) == (result.status, result.writes, client.state)


def test_a_body_that_writes_without_end_does_not_disturb_its_deadline(front):
    """
    The answer is made while the body's thread is in the middle of a write.
    """
    end = threading.Event()

    @tool(timeout=0.02)
    def busy(ctx: ToolContext) -> None:
        """Write until told to end."""
        number = 0
        while not end.is_set() and not ctx.cancelled:
            ctx.write(str(number), [number])
            number += 1

    client = ToolClient([busy])
    try:
        statuses = [call(front, client, "busy").status for _ in range(10)]
    finally:
        end.set()

    assert (["timeout"] * 10, {}) == (statuses, client.state)


def test_only_the_attempt_that_succeeded_has_written(front):
    """
    A repeat begins anew, with nothing of the first try in it.
    """

    @tool(retry=Retry(attempts=2, delay=0))
    def flaky(ctx: ToolContext) -> None:
        """Write and fail the first time."""
        ctx.write(f"n{ctx.attempt}", ctx.attempt)
        if ctx.attempt == 1:
            raise ConnectionError

    client = ToolClient([flaky], clock=FakeClock())
    call(front, client, "flaky")

    assert {"n2": 2} == client.state


def test_derived_clients_go_their_own_way(front):
    """
    R144: a derived client begins with the state as it is then; from there on neither sees
    the other.
    """
    client = client_with(state={"x": 1})
    call(front, client, "write", {"slot": "x", "value": 2})
    derived = client.without("read")
    call(front, derived, "write", {"slot": "x", "value": 3})
    call(front, client, "write", {"slot": "y", "value": 4})

    assert ({"x": 2, "y": 4}, {"x": 3}) == (client.state, derived.state)


def test_two_clients_of_one_tool_share_no_state(front):
    """
    R146: the state belongs to the client; the tool knows nothing of it.
    """
    first, second = client_with(), client_with()
    call(front, first, "write", {"slot": "x", "value": 1})

    assert ({"x": 1}, {}) == (first.state, second.state)


def test_each_call_has_the_hosts_object_it_was_given(front):
    """
    R110: keys and users of one call are not those of another, and no way leads from one
    context to the other.
    """
    seen = []

    @tool
    def whoami(ctx: ToolContext) -> str:
        """Say for whom this runs."""
        seen.append(ctx)
        return ctx.deps["user"]

    client = ToolClient([whoami])
    results = [call(front, client, "whoami", deps={"user": u}) for u in ("ann", "bob")]
    batch = call_batch(front, client, [ToolCall("whoami")] * 2, deps={"user": "cy"})
    public = {name for name in dir(ToolContext) if not name.startswith("_")}

    assert ["ann", "bob", "cy", "cy"] == [r.value for r in (*results, *batch)]
    assert {
        "attempt",
        "call_id",
        "cancelled",
        "deadline",
        "deps",
        "idempotency_key",
        "leave_running",
        "previous_error",
        "progress",
        "remaining",
        "state",
        "tool",
        "write",
    } == public


def test_state_need_not_be_json(front):
    """
    The host's handles are state too; the result is JSON all the same.
    """
    thing = object()

    @tool
    def keep(ctx: ToolContext) -> bool:
        """Keep a thing."""
        ctx.write("again", ctx.state["thing"])
        return ctx.state["thing"] is thing

    client = ToolClient([keep], state={"thing": thing})
    result = call(front, client, "keep")

    assert (True, True, {"again": "(object)"}) == (
        result.value,
        client.state["again"] is thing,
        result.to_dict()["writes"],
    )
