"""
Budgets: exact under every engine, charged once, and free for what never ran.
"""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from engine_stage import (
    ENGINES,
    OVERLAPPING,
    Stage,
    begin_batch,
    client_of,
    outcome,
    peak,
)
from fronts import call, call_batch
from ordering import HANGS_AFTER
from tooldecl import (
    Budget,
    Retry,
    ToolCall,
    ToolClient,
    ToolError,
    ToolLoop,
    Turn,
    tool,
)
from tooldecl.engines import SequentialEngine, ThreadEngine
from tooldecl.exceptions import BudgetExceededError, DeclarationError, NotFound
from tooldecl.testing import FakeClock, ScriptedModel


every_engine = pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
overlapping = pytest.mark.parametrize("case", OVERLAPPING, ids=lambda case: case.name)

RUNS = []


@pytest.fixture
def stage(tmp_path):
    """
    Meet bodies of any process, and leave none of them held.
    """
    stage = Stage(tmp_path)
    yield stage
    stage.close()


@tool
def note(word: str) -> str:
    """Note a word."""
    RUNS.append(word)

    return word.upper()


@tool
def other(word: str) -> str:
    """Note a word as well."""
    RUNS.append(word)

    return word.upper()


@tool
def missing(word: str) -> str:
    """Find nothing."""
    RUNS.append(word)
    raise NotFound("There is none.")


@tool
def boom(word: str) -> str:
    """Fail."""
    RUNS.append(word)
    raise ToolError("It is broken.")


@tool(result_limit=3)
def wordy(word: str) -> str:
    """Say too much."""
    RUNS.append(word)

    return word * 9


@tool
def shapeless(word: str) -> object:
    """Return what cannot go out."""
    RUNS.append(word)

    return object()


@tool(timeout=0.05)
def slow(word: str, gate_of: str = "") -> str:
    """Take longer than there is."""
    RUNS.append(word)
    HOLD.wait(HANGS_AFTER)

    return word


HOLD = threading.Event()


@tool(retry=Retry(attempts=3, delay=0))
def flaky(word: str) -> str:
    """Fail twice."""
    RUNS.append(word)
    if len(RUNS) < 3:
        raise ConnectionError(word)

    return word.upper()


TOOLS = [note, other, missing, boom, wordy, shapeless, slow, flaky]


def client_with(**options):
    """
    Build the client of these tests.
    """
    return ToolClient(TOOLS, **options)


def calls_of(*entries):
    """
    Make calls from pairs of tool and word.
    """
    return [ToolCall(name, {"word": word}) for name, word in entries]


def statuses(results):
    """
    List how calls ended.
    """
    return [result.status.value for result in results]


# -- exactness -------------------------------------------------------------------------


@every_engine
@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_first_calls_in_request_order_are_run(case, front, stage, most):
    """
    BUD-01, GATE-12, E-24: of eight calls in one batch exactly so many bodies run, under
    every engine, and they are the first ones.
    """
    client = client_of(case.make(), budget=Budget(calls=most))
    calls = stage.calls(*(("work", f"w{n}") for n in range(8)))
    results = call_batch(front, client, calls)
    ran = sorted(line for line in stage.journal if line.startswith("in "))

    assert ["ok"] * most + ["budget"] * (8 - most) == statuses(results)
    assert ([f"in w{n}" for n in range(most)], most) == (ran, client.meter.calls)


@overlapping
@pytest.mark.parametrize(("budget", "inside"), [(Budget(calls=3), 3), (None, 6)])
def test_bodies_that_are_inside_at_once_are_counted(case, front, stage, budget, inside):
    """
    BUD-06: three bodies are held together, so all were charged before one had ended; the
    control shows that without a budget six would be.
    """
    client = client_of(case.make(max_concurrency=6), budget=budget)
    calls = stage.calls(*(("hold", f"w{n}") for n in range(6)))
    future = begin_batch(front, client, calls)
    stage.arrivals(inside)
    stage.go(inside)
    results = outcome(future)

    assert ["ok"] * inside + ["budget"] * (6 - inside) == statuses(results)
    assert inside == peak(stage.journal)


@pytest.mark.parametrize(("budget", "expected"), [(Budget(calls=5), 5), (None, 24)])
def test_calls_from_many_threads_are_counted(budget, expected):
    """
    BUD-06: 24 threads that begin together; the control runs all of them.
    """
    client = client_with(budget=budget)
    together, results = threading.Barrier(24), []

    def run():
        together.wait(HANGS_AFTER)
        results.append(client.invoke("note", {"word": "a"}))

    threads = [threading.Thread(target=run) for _ in range(24)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (expected, expected) == (len(RUNS), statuses(results).count("ok"))


@every_engine
def test_a_cap_of_one_tool_leaves_the_others_alone(case, front, stage):
    """
    R129: A, A, A, B with two of A: three run, the third A says that it was not, and the
    order is kept.
    """
    client = client_of(case.make(), budget=Budget(per_tool={"work": 2}))
    calls = stage.calls(("work", "a"), ("work", "b"), ("work", "c"), ("awork", "d"))
    results = call_batch(front, client, calls)

    assert ["A", "B", None, "D"] == [result.value for result in results]
    assert (
        "Tool 'work' was not run: the client's budget of 2 calls of this tool is used up."
        == results[2].content
    )


@every_engine
def test_surplus_in_a_turn_is_not_run(case, front, stage):
    """
    R56: three calls where one turn may make one: three answers, two say not run; the next
    turn begins afresh.
    """
    client = client_of(case.make(), budget=Budget(per_turn=1))
    calls = stage.calls(("work", "a"), ("work", "b"), ("work", "c"))
    first, second = (call_batch(front, client, calls) for _ in range(2))

    assert ["ok", "not_run", "not_run"] == statuses(first) == statuses(second)
    assert (
        "Tool 'work' was not run: it is beyond the 1 call that the client's budget allows "
        "in one turn." == first[2].content
    )
    assert client.meter.stopped_by is None


def test_a_single_call_is_a_turn_of_one(front):
    """
    BUD-04: one works, and none is none.
    """
    limits = (Budget(per_turn=1), Budget(per_turn=0))
    results = [
        call(front, client_with(budget=limit), "note", {"word": "a"})
        for limit in limits
    ]

    assert ["ok", "not_run"] == statuses(results)


# -- what costs, and what does not -----------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("note", {"wrong": 1}), ("note", "{"), ("nothing", {"word": "a"})],
)
def test_what_the_gate_refuses_is_free(front, name, arguments):
    """
    GATE-13: INVALID and UNKNOWN before the limit, which they do not touch; and beyond it
    they are still told what is wrong with them.
    """
    client = client_with(budget=Budget(calls=1))
    before = [call(front, client, name, arguments).status for _ in range(3)]
    middle = call(front, client, "note", {"word": "a"}).status
    after = call(front, client, name, arguments).status

    assert (1, "ok", before[0]) == (client.meter.calls, middle, after)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("missing", "not_found"),
        ("boom", "tool_error"),
        ("wordy", "too_large"),
        ("shapeless", "unencodable"),
        ("slow", "timeout"),
    ],
)
def test_a_body_that_ran_costs_one_however_it_ended(front, name, status):
    """
    GATE-14, E-29: an executed failure has taken its effect.
    """
    client = client_with(budget=Budget(calls=1))
    HOLD.clear()
    try:
        results = [call(front, client, name, {"word": "a"}) for _ in range(2)]
    finally:
        HOLD.set()

    assert ([status, "budget"], 1) == (statuses(results), len(RUNS))


def test_further_attempts_cost_nothing(front):
    """
    E-36: one call, one charge, three bodies.
    """
    client = client_with(budget=Budget(calls=1), clock=FakeClock())
    result = call(front, client, "flaky", {"word": "a"})

    assert ("ok", 3, 3, 1) == (
        result.status,
        result.attempts,
        len(RUNS),
        client.meter.calls,
    )


def twice(request):
    """
    Run the body again.
    """
    yield request
    result = yield request

    return result


def test_a_filter_that_runs_the_body_again_costs_nothing_more(front):
    """
    LOOP-07: the call was let through once.
    """
    client = client_with(budget=Budget(calls=1), filters=[twice])
    results = [call(front, client, "note", {"word": w}) for w in ("a", "b")]

    assert (["ok", "budget"], ["a", "a"]) == (statuses(results), RUNS)


def refusing(request):
    """
    Let nothing through that begins with x.
    """
    if request.arguments["word"].startswith("x"):
        raise ValueError("no")
    result = yield request

    return result


@every_engine
def test_what_a_filter_blocks_is_free(case, front, stage):
    """
    BUD-07: a blocked call costs nothing, even where it stands before the others in a
    batch that runs at once; of those that are let through never one too many is run.
    """
    client = client_of(case.make(), budget=Budget(calls=2), filters=[refusing])
    words = ("x1", "x2", "a", "b", "c")
    results = call_batch(front, client, stage.calls(*(("work", w) for w in words)))
    ran = [line for line in stage.journal if line.startswith("in ")]

    assert (2, 2, 1) == tuple(
        statuses(results).count(s) for s in ("guard_failed", "ok", "budget")
    )
    assert (2, 2) == (len(ran), client.meter.calls)


def test_a_busy_engine_costs_nothing(front, gate):
    """
    GATE-13: BUSY is a refusal; once there is a place, the budget is still there.
    """

    @tool
    def hold() -> str:
        """Be held."""
        gate.pass_through()
        return "held"

    engine = ThreadEngine(max_concurrency=1, over_limit="reject")
    client = ToolClient([hold, note], engine=engine, budget=Budget(calls=2))
    future = begin_batch(front, client, [ToolCall("hold")])
    gate.wait_for_arrivals()
    busy = call(front, client, "note", {"word": "a"})
    gate.open()
    outcome(future)
    after = call(front, client, "note", {"word": "b"})

    assert (["busy", "ok"], ["b"]) == (statuses([busy, after]), RUNS)


def test_what_its_batch_had_no_time_for_costs_nothing(front):
    """
    BUD-07: the second call was looked at and never begun.
    """
    clock = FakeClock()

    @tool
    def spend() -> str:
        """Take all the time of the batch."""
        clock.advance(5)
        return "spent"

    client = ToolClient([spend, note], clock=clock, budget=Budget(calls=2))
    calls = [ToolCall("spend"), *calls_of(("note", "a"))]
    results = call_batch(front, client, calls, within=1)

    assert (["ok", "not_run"], 1) == (statuses(results), client.meter.calls)


async def test_a_call_that_was_cancelled_while_it_waited_costs_nothing(gate):
    """
    BUD-07: it stood in line for its group; the control is the one before it, which had
    begun.
    """

    @tool(serial="one")
    async def hold() -> str:
        """Be held."""
        await asyncio.to_thread(gate.pass_through)
        return "held"

    client = ToolClient([hold], budget=Budget(calls=5))
    first = asyncio.create_task(client.ainvoke("hold"))
    await asyncio.to_thread(gate.wait_for_arrivals)
    second = asyncio.create_task(client.ainvoke("hold"))
    await asyncio.sleep(0)
    charged = client.meter.calls
    second.cancel()
    await asyncio.wait([second])
    gate.open()
    await first

    assert (2, 1) == (charged, client.meter.calls)


# -- time and repeats ------------------------------------------------------------------


def test_no_body_begins_once_the_time_is_over(front):
    """
    BUD-03: the error says how much time has passed; a body that runs is not cut.
    """
    clock = FakeClock()

    @tool
    def spend() -> str:
        """Take more time than there is."""
        clock.advance(12)
        return "spent"

    client = ToolClient([spend], clock=clock, budget=Budget(seconds=10))
    clock.advance(100)
    results = call_batch(front, client, [ToolCall("spend"), ToolCall("spend")])
    error = results[1].error

    assert (["ok", "budget"], "seconds", 10, 12) == (
        statuses(results),
        error.limit_name,
        error.limit,
        error.spent,
    )
    assert (
        "Tool 'spend' was not run: the client's budget of 10 s is over."
        == results[1].content
    )


def test_no_further_attempt_begins_once_the_time_is_over(front):
    """
    BUD-03: a wait that would end beyond it is not begun; the call keeps its own failure.
    """
    clock = FakeClock()

    @tool(retry=Retry(attempts=9, delay=4, factor=1, jitter=0))
    def fail() -> str:
        """Fail for a while."""
        RUNS.append("fail")
        raise ConnectionError

    client = ToolClient([fail], clock=clock, budget=Budget(seconds=10))
    result = call(front, client, "fail")

    assert ("tool_error", 3, [4, 4]) == (result.status, len(RUNS), clock.sleeps)


@every_engine
def test_equal_calls_in_a_row_are_stopped(case, front, stage):
    """
    R128: two are run, over the border of a batch and with the keys in another order.
    """
    client = client_of(case.make(), budget=Budget(repeats=2))
    first = call_batch(front, client, stage.calls(("work", "a"), ("work", "b")))
    turned = ToolCall("work", json.dumps({"word": "b", "where": stage.where}))
    second = call_batch(front, client, [turned, turned])

    assert (["ok", "ok"], ["ok", "budget"]) == (statuses(first), statuses(second))
    assert (
        "Tool 'work' was not run: the client's budget allows 2 equal calls in a row."
        == second[1].content
    )
    assert "repeats" == client.meter.stopped_by


def test_a_call_that_repeats_itself_in_vain_is_seen(front):
    """
    R124, R128: failing calls make a row, and so do those that the gate refuses.
    """
    stopped = []
    for name in ("boom", "nothing"):
        client = client_with(budget=Budget(repeats=3))
        for _ in range(3):
            call(front, client, name, {"word": "a"})
        stopped.append(client.meter.stopped_by)

    assert ["repeats", "repeats"] == stopped


# -- whose budget ----------------------------------------------------------------------


def test_a_budget_may_be_given_with_one_call_or_batch(front):
    """
    SPEC 9: it counts for that call or batch, beside the client's.
    """
    client = client_with(budget=Budget(calls=3))
    calls = calls_of(("note", "a"), ("note", "b"), ("note", "c"))
    batch = call_batch(front, client, calls, budget=Budget(calls=1))
    single = call(front, client, "note", {"word": "d"}, budget=Budget(calls=0))
    more = call_batch(front, client, calls)

    assert ["ok", "budget", "budget"] == statuses(batch)
    assert ("budget", "call") == (single.status, single.error.level)
    assert (["ok", "ok", "budget"], ["a", "a", "b"]) == (statuses(more), RUNS)
    assert ("client", 3) == (more[2].error.level, client.meter.calls)


def test_derived_clients_spend_the_same_budget(front):
    """
    They are the same run: a client with one tool more is no way around the limit.
    """
    client = client_with(budget=Budget(calls=2))
    derived = client.without("boom")
    results = [
        call(front, c, "note", {"word": "a"})
        for c in (client, derived, derived, client)
    ]

    assert (["ok", "ok", "budget", "budget"], True) == (
        statuses(results),
        derived.meter is client.meter,
    )


def test_two_clients_with_one_budget_have_a_meter_each(front):
    """
    R146: a Budget says how much, and is no account.
    """
    budget = Budget(calls=1)
    results = [
        call(front, client_with(budget=budget), "note", {"word": "a"}) for _ in range(2)
    ]

    assert ["ok", "ok"] == statuses(results)


def test_calls_made_from_inside_of_a_call_are_charged_too(front):
    """
    A tool that calls tools is no way around the limit either.
    """
    clients = []

    @tool
    def outer() -> list[str]:
        """Call another tool twice."""
        words = ("a", "b")
        return [clients[0].invoke("note", {"word": w}).status.value for w in words]

    clients.append(ToolClient([outer, note], budget=Budget(calls=2)))

    assert (["ok", "budget"], 2) == (
        call(front, clients[0], "outer").value,
        clients[0].meter.calls,
    )


def run_loop(front, loop, text="go"):
    """
    Run a loop by either front.
    """
    return loop.run(text) if front == "sync" else asyncio.run(loop.arun(text))


def test_a_loop_has_a_budget_for_each_run(front):
    """
    R126: at most so many bodies run, however often the model asks, and a second run
    begins afresh.
    """
    client = client_with()
    results = []
    for _ in range(2):
        turns = [Turn(calls=calls_of(("note", str(n)))) for n in range(4)]
        model = ScriptedModel([*turns, Turn("done")])
        loop = ToolLoop(client, model, budget=Budget(calls=2))
        results.append(run_loop(front, loop).results)

    assert [["ok", "ok", "budget"]] * 2 == [statuses(r[:3]) for r in results]
    assert ("loop", 4) == (results[0][2].error.level, len(RUNS))


class TwoCalls:
    """
    A model that makes two calls, and is done once they are answered.
    """

    def respond(self, request):
        """
        Return the next turn.
        """
        if request.messages[-1]["role"] == "tool":
            return Turn("done")

        return Turn(calls=calls_of(("note", "a"), ("note", "b")))

    async def arespond(self, request):
        """
        Return the next turn.
        """
        return self.respond(request)


def test_one_loop_object_counts_each_run_for_itself(front):
    """
    SPEC 9: a meter belongs to a run, and two runs of one loop have two.
    """
    loop = ToolLoop(client_with(), TwoCalls(), budget=Budget(calls=1))
    results = [run_loop(front, loop).results for _ in range(2)]

    assert [["ok", "budget"]] * 2 == list(map(statuses, results))


@pytest.mark.parametrize(
    ("build", "where"),
    [
        (
            lambda b: ToolLoop(client_with(), ScriptedModel([]), budget=b),
            "ToolLoop(budget=...)",
        ),
        (lambda b: client_with().invoke("note", {"word": "a"}, budget=b), "budget=..."),
        (lambda b: client_with().invoke_batch([], budget=b), "budget=..."),
    ],
    ids=["loop", "call", "batch"],
)
def test_a_budget_that_limits_nothing_is_refused(build, where):
    """
    E-01: a misspelt name of a tool would be a limit that nobody keeps.
    """
    with pytest.raises(DeclarationError) as misspelt:
        build(Budget(per_tool={"nota": 1}))
    with pytest.raises(DeclarationError) as odd:
        build({"calls": 3})

    assert str(misspelt.value) == (
        f"{where} limits 'nota' in per_tool, and the client has no tool of that name."
    )
    assert f"{where} takes a Budget, got {{'calls': 3}}." == str(odd.value)


def test_a_refused_call_can_be_raised(front):
    """
    SPEC 4: what is in the result is an error like every other.
    """
    client = client_with(budget=Budget(calls=0))
    result = call(front, client, "note", {"word": "a"})
    with pytest.raises(BudgetExceededError):
        result.unwrap()

    assert ("not_started", 0, "semantic") == (
        result.fate,
        result.attempts,
        result.error_class,
    )


def test_without_a_budget_there_is_no_meter():
    """
    BUD-04: nothing set, nothing counted.
    """
    assert client_with(engine=SequentialEngine()).meter is None
