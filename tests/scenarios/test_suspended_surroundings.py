"""
What goes with a call that waits: state, filters, budgets, hooks, ids and keys.
"""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from engine_stage import ENGINES
from fronts import Listener, call, call_batch
from suspending import (
    CALLS,
    RUNS,
    TOOLS,
    client_of,
    later,
    resume,
    statuses,
    travelled,
)
from tooldecl import Budget, ToolCall, ToolClient, ToolContext, tool
from tooldecl.exceptions import ResumeError
from tooldecl.filters import Approval, Approved, Denied, Suspend
from tooldecl.telemetry import ApprovalAsked, BatchFinished, BatchStarted
from waiting import COLOURS, layer


def test_deps_are_given_anew(front):
    """
    The host's own object crosses no JSON: whoever goes on gives it again.
    """
    seen = []

    @tool(sensitive=True)
    def use(ctx: ToolContext) -> None:
        """Use the host's object."""
        seen.append(ctx.deps)

    client = ToolClient([use], filters=[Approval(lambda _: Suspend())])
    first = call_batch(front, client, [ToolCall("use", {}, "u")], deps="old")
    resume(front, client, travelled(first.suspension), {"u": Approved()}, deps="new")

    assert ["new"] == seen


def test_hooks_hear_of_the_second_part_as_of_a_batch(front):
    """
    OBS: what is taken up is a batch of its own, of the calls that go on; nobody is asked
    again about what was decided.
    """
    listener = Listener()
    client = client_of(hooks=[listener])
    first = call_batch(front, client, CALLS)
    resume(front, client, first.suspension, {"p": Approved(), "c": 1})

    assert [("a", "p", "q", "c"), ("p", "c")] == [
        event.call_ids for event in listener.of(BatchStarted)
    ]
    assert [2, 2] == [len(listener.of(k)) for k in (BatchFinished, ApprovalAsked)]


def test_the_state_is_that_of_the_batch_and_writes_are_folded(front, route):
    """
    E-25, WRT: a resumed call sees what its batch saw, and what it writes counts.
    """
    client = client_of(state={"sum": 0})
    first = call_batch(front, client, CALLS[:2])
    batch = resume(front, client, route(first.suspension), {"p": Approved()})

    assert batch[1].value.endswith("sum 0")
    assert {"sum": 3, "paid": 5} == dict(client.state)


@pytest.mark.parametrize(
    "decision", [Denied(), Approved(arguments={"amount": 0, "x": 1})]
)
def test_what_is_refused_in_the_end_writes_nothing(front, route, decision):
    """
    APR-04: no run, no writes.
    """
    client = client_of()
    first = call_batch(front, client, CALLS[1:2])
    refusal = (
        nullcontext() if isinstance(decision, Denied) else pytest.raises(ResumeError)
    )
    with refusal:
        resume(front, client, route(first.suspension), {"p": decision})

    assert ({}, []) == (dict(client.state), RUNS)


def test_a_fresh_client_takes_over_the_state(front):
    """
    APR-11: what was written before is there after a restart, until something is written
    here.
    """
    first = call_batch(front, client_of(), CALLS[:2])
    fresh = client_of()
    resume(front, fresh, travelled(first.suspension), {})
    assert {"sum": 3} == dict(fresh.state)

    used = client_of()
    call_batch(front, used, [ToolCall("add", {"a": 5, "b": 5})])
    resume(front, used, travelled(first.suspension), {"p": Approved()})
    assert {"sum": 10, "paid": 5} == dict(used.state)


def counting(log, factor=1):
    """
    Make steps of a filter that note what passes and change the amount.
    """

    def steps(request):
        amount = request.arguments["amount"] * factor
        log.append(amount)
        return (yield request.replace(arguments={"amount": amount}))

    return steps


@pytest.mark.parametrize("kind", [*COLOURS, "flow"])
def test_filters_run_again_from_what_was_sent(front, route, kind):
    """
    R132: what was decided about is what the filters make of the call, both times; it is
    not changed twice.
    """
    log = []
    client = client_of(layer(kind, counting(log, factor=10)))
    first = call_batch(front, client, CALLS[1:2])
    [waiting] = first.suspension.calls
    resume(front, client, route(first.suspension), {"p": Approved()})

    assert ([50, 50], {"amount": 50}, ["pay 50"]) == (log, waiting.arguments, RUNS)


@pytest.mark.parametrize("answer", ["asked", "refused"])
def test_a_decision_does_not_count_for_what_filters_make_of_it_later(
    front, route, answer
):
    """
    APR-18, R132: the amount is another one now, so it is asked about anew.
    """
    asked = []

    def approver(request):
        asked.append(request.arguments["amount"])
        return Suspend() if answer == "asked" else Denied("no")

    first = call_batch(front, client_of(), CALLS[1:2])
    other = client_of(layer("flow", counting([], factor=100)), approver=approver)
    batch = resume(front, other, travelled(first.suspension), {"p": Approved()})

    assert ([500], [], ["pending" if answer == "asked" else "denied"]) == (
        asked,
        RUNS,
        statuses(batch),
    )
    if answer == "asked":
        batch = resume(front, other, route(batch.suspension), {"p": Approved()})
        assert (["pay 500"], [500]) == (RUNS, asked)


@pytest.mark.parametrize("kind", [*COLOURS, "flow"])
def test_a_filter_around_sees_a_call_that_waits_and_may_answer_it(front, kind):
    """
    APR-20: a fallback in place of waiting; then nothing waits, and nothing can be resumed.
    """
    seen = []

    def steps(request):
        result = yield request
        seen.append(result.status)
        return result if request.arguments["amount"] == 5 else "Ask me tomorrow."

    batch = call_batch(front, client_of(layer(kind, steps)), CALLS[1:3])

    assert (["pending"] * 2, ["pending", "ok"]) == (seen, statuses(batch))
    assert ["p"] == [c.call_id for c in batch.suspension.calls]


@pytest.mark.parametrize("kind", [*COLOURS, "flow"])
def test_a_filter_may_say_otherwise_what_is_waited_for(front, kind):
    """
    The text for the model is the filter's to change; the host still finds the suspension.
    """

    def steps(request):
        result = yield request
        return result.replace(content="I have asked your manager.", error=None)

    client = client_of(layer(kind, steps))
    result = call(front, client, "pay", {"amount": 5}, call_id="p")
    batch = resume(front, client, result.error.suspension, {"p": Denied("no")})

    assert ("I have asked your manager.", "pending") == (result.content, result.status)
    assert ["denied"] == statuses(batch)


def test_a_filter_cannot_make_up_a_call_that_waits(front):
    """
    A pending result of its own could never be resumed: the filter has failed.
    """
    kept = []

    def steps(request):
        result = yield request
        kept.append(result)
        return kept[0]

    client = client_of(layer("flow", steps))
    batch = call_batch(front, client, [CALLS[1]])
    assert ["pending"] == statuses(batch)
    quick = client_of(layer("flow", steps), approver=lambda _: Approved())

    assert ["guard_failed"] == statuses(call_batch(front, quick, [CALLS[1]]))


@pytest.mark.parametrize("limits", [{"calls": 2}, {"per_tool": {"pay": 1}}])
def test_the_budget_is_exact_across_the_wait(front, route, limits):
    """
    E-20, E-24: waiting costs nothing, a body one; the second of two that were approved is
    one too many.
    """
    client = client_of(budget=Budget(**limits))
    first = call_batch(front, client, CALLS[:3])
    assert 1 == client.budget_meter.calls if hasattr(client, "budget_meter") else True
    batch = resume(
        front, client, route(first.suspension), {"p": Approved(), "q": Approved()}
    )

    assert (["ok", "ok", "budget"], ["add", "pay 5"]) == (statuses(batch), RUNS)


def test_nothing_waits_that_no_budget_is_left_for(front):
    """
    E-20: the budget is looked at before anybody is asked.
    """
    client = client_of(budget=Budget(calls=1))
    batch = call_batch(front, client, [*CALLS[:1], *CALLS])

    assert ["ok", "budget", "budget", "budget", "budget"] == statuses(batch)


def test_what_is_given_away_is_charged_then(front, route):
    """
    E-24: it runs elsewhere from then on; its result costs nothing more, and is taken even
    if nothing is left.
    """
    client = client_of(budget=Budget(calls=1))
    clicks = [ToolCall("click", {"x": n}, str(n)) for n in range(2)]
    first = call_batch(front, client, clicks)
    batch = resume(front, client, route(first.suspension), {"0": 42})

    assert (["pending", "budget"], ["ok", "budget"], 42) == (
        statuses(first),
        statuses(batch),
        batch[0].value,
    )


def test_the_key_of_a_call_stays_the_same(front):
    """
    EXT-08: a service that has seen the key before knows the call again, after a restart
    too; another call of the batch has another one.
    """
    first = call_batch(front, client_of(), CALLS[:3])
    text = first.suspension.to_json()
    decisions = {"p": Approved(), "q": Approved(arguments={"amount": 5})}
    runs = [
        [
            r.value
            for r in resume(
                front, client_of(), type(first.suspension).from_json(text), decisions
            )
        ]
        for _ in range(2)
    ]

    assert runs[0][1:] == runs[1][1:]
    assert runs[0][1] != runs[0][2]


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_every_engine_goes_on(front, route, case):
    """
    Where a body runs is no part of a suspension: it may be another engine.
    """
    first = call_batch(front, client_of(), CALLS)
    with case.make() as engine:
        client = ToolClient(TOOLS, engine=engine, filters=[Approval(later)])
        batch = resume(
            front,
            client,
            route(first.suspension),
            {"p": Approved(), "q": Denied(), "c": 1},
        )
        client.close()

    assert ["ok", "ok", "denied", "ok"] == statuses(batch)
    assert batch[1].value.startswith("paid 5")
