"""
Random batches, decisions and orders of resuming, against the rules in ten lines.

Whatever waits, travels and is decided: every call has one place and one answer, a body
runs once, only with the arguments that were agreed to, and never without a yes.
"""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tooldecl import Suspension, ToolCall, ToolClient, tool
from tooldecl.engines import SequentialEngine, ThreadEngine
from tooldecl.exceptions import ResumeError
from tooldecl.filters import Answer, Approval, Approved, Denied, Suspend


RUNS: Counter[tuple[int, int]] = Counter()


@tool
def free(n: int, m: int = 0) -> str:
    """Run unasked."""
    RUNS[n, m] += 1

    return "free"


@tool(sensitive=True)
def asked(n: int, m: int = 0) -> str:
    """Run once somebody has agreed."""
    RUNS[n, m] += 1

    return f"ran {m}"


@tool(external=True)
def away(n: int, m: int = 0) -> int:
    """Run elsewhere."""
    RUNS[n, m] += 1

    return 0


@tool(sensitive=True, external=True)
def both(n: int, m: int = 0) -> int:
    """Run elsewhere once somebody has agreed."""
    RUNS[n, m] += 1

    return 0


TOOLS = [free, asked, away, both]
DECISIONS = {
    "yes": lambda n: Approved(),
    "edit": lambda n: Approved(arguments={"n": n, "m": 7}),
    "no": lambda n: Denied("no"),
    "answer": lambda n: Answer("mine"),
    "later": lambda n: Suspend(),
}


class Desk:
    """
    A client and what somebody says at once about each call; later is the default.
    """

    def __init__(self, at_once, threads, second):
        self.questions: Counter[int] = Counter()
        self._at_once = at_once
        approvals = [Approval(self._decide)]
        if second:
            approvals.append(Approval(lambda _: Approved()))
        engine = ThreadEngine(max_concurrency=4) if threads else SequentialEngine()
        self.client = ToolClient(TOOLS, engine=engine, filters=approvals)

    def _decide(self, request):
        n = request.arguments["n"]
        self.questions[n] += 1

        return DECISIONS[self._at_once.get(n, "later")](n)


def expected(name, decision):
    """
    Tell what a decision makes of a call: its status, and what has run.
    """
    if name == "free":
        return "ok", 0
    if decision == "no":
        return "denied", None
    if decision == "answer":
        return "ok", None
    if name == "asked":
        return "ok", 7 if decision == "edit" else 0

    return "ok", None


calls = st.lists(st.sampled_from([t.__name__ for t in TOOLS]), max_size=8)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), names=calls, threads=st.booleans(), second=st.booleans())
def test_every_call_is_answered_once_and_runs_once_if_agreed(
    data, names, threads, second
):
    """
    APR, EXT, R53, R54, R136: in any order, over JSON and over clients.
    """
    RUNS.clear()
    final = {
        n: data.draw(st.sampled_from([d for d in DECISIONS if d != "later"]))
        for n in range(len(names))
    }
    at_once = {n: d for n, d in final.items() if data.draw(st.booleans())}
    desk = Desk(at_once, threads, second)
    batch = desk.client.invoke_batch(
        [ToolCall(name, {"n": n}, str(n)) for n, name in enumerate(names)]
    )
    for _ in range(60):
        suspension = batch.suspension
        if suspension is None:
            break
        if data.draw(st.booleans()):
            suspension = Suspension.from_json(suspension.to_json())
        elsewhere = data.draw(st.integers(0, 3)) == 0
        if elsewhere:
            desk = Desk(at_once, threads, second)
        some = data.draw(
            st.sets(st.sampled_from([c.call_id for c in suspension.calls]))
        )
        decisions = {
            c.call_id: decided(data, c, final)
            for c in suspension.calls
            if c.call_id in some
        }
        before = RUNS.copy()
        again = desk.client.resume(suspension, decisions)
        if decisions:
            try:
                desk.client.resume(suspension, decisions)
            except ResumeError:
                pass
            else:
                raise AssertionError("It was taken up twice.")
        assert_no_other_runs(before, decisions, names, final)
        batch = again
        assert [str(n) for n in range(len(names))] == [r.call_id for r in batch]

    for n, name in enumerate(names):
        if batch.suspension is not None and str(n) in {
            c.call_id for c in batch.suspension.calls
        }:
            assert "pending" == batch[n].status
            continue
        status, m = expected(
            name, final[n] if "ask" in name or name == "both" else "yes"
        )
        assert status == batch[n].status, (name, final[n], batch[n])
        assert ({} if m is None else {(n, m): 1}) == {
            key: count for key, count in RUNS.items() if key[0] == n
        }


def decided(data, call, final):
    """
    Draw what is given for a call that waits: its final decision, or a while more.
    """
    n = call.arguments["n"]
    if call.kind == "external":
        return 42
    if data.draw(st.integers(0, 3)) == 0:
        return Suspend()

    return DECISIONS[final[n]](n)


def assert_no_other_runs(before, decisions, names, final):
    """
    Only what was decided about has run, once.
    """
    for key, count in (RUNS - before).items():
        assert (1, True, "asked") == (count, str(key[0]) in decisions, names[key[0]])
        assert final[key[0]] in ("yes", "edit")
