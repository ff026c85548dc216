"""
Approval under every engine: who is asked at once, what is held meanwhile, what is run.
"""

from __future__ import annotations

import asyncio
import threading

import pytest

from approval_tools import TOOLS
from approving import COLOURS, approver
from engine_stage import ENGINES, OVERLAPPING, Stage, begin_batch, outcome
from engine_tools import VAIN
from fronts import call_batch
from ordering import HANGS_AFTER
from tooldecl import ToolClient
from tooldecl.filters import Answer, Approval, Approved, Denied


@pytest.fixture
def stage(tmp_path):
    """
    A place where bodies of any process meet the test.
    """
    stage = Stage(tmp_path)
    yield stage
    stage.close()


DECISIONS = {
    "yes": Approved(),
    "no": Denied("no"),
    "mine": Answer("mine"),
    "odd": None,
}


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_every_engine_runs_what_was_approved_and_nothing_else(
    front, case, colour, stage
):
    """
    R136, R53: three kinds of no and a yes in one batch; each call has its own decision,
    in order, and the bodies of two run, sync and async.
    """
    ask = approver(colour, lambda r: DECISIONS[r.arguments["word"]])
    calls = [
        *stage.calls(*(("spend", word) for word in DECISIONS)),
        *stage.calls(("aspend", "yes"), ("aspend", "no"), ("peek", "free")),
    ]
    with case.make() as engine:
        client = ToolClient(TOOLS, engine=engine, filters=[Approval(ask)])
        batch = call_batch(front, client, calls)
        client.close()

    assert ["ok", "denied", "ok", "guard_failed", "ok", "denied", "ok"] == [
        result.status for result in batch
    ]
    assert ["YES", None, "mine", None, "YES", None, "FREE"] == [r.value for r in batch]
    assert ["in free", "in yes", "in yes"] == sorted(stage.journal)


class Crowd:
    """
    Approvers that all have to be inside before any may leave.
    """

    def __init__(self, count, seconds):
        self.barrier, self.seconds = threading.Barrier(count), seconds

    def sync(self, request):
        """
        Meet.
        """
        self.barrier.wait(self.seconds)
        return Approved()


def crowded(front, engine, stage, *, seconds):
    """
    Run a batch of three whose approvers meet; return the statuses.
    """
    crowd = Crowd(3, seconds)
    calls = stage.calls(*(("spend", word) for word in "abc"))
    with engine:
        client = ToolClient(TOOLS, engine=engine, filters=[Approval(crowd.sync)])
        batch = call_batch(front, client, calls)
        client.close()

    return [result.status for result in batch]


@pytest.mark.parametrize("case", OVERLAPPING, ids=lambda case: case.name)
def test_calls_of_a_batch_are_asked_about_at_once(front, case, stage):
    """
    A person who decides slowly about one call does not keep the others from being asked.
    """
    statuses = crowded(front, case.make(), stage, seconds=HANGS_AFTER)

    assert ["ok"] * 3 == statuses


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
def test_with_room_for_one_they_are_asked_about_one_by_one(front, case, stage):
    """
    The control, and what is documented: a question holds its call's place.
    """
    engine = case.make(max_concurrency=1)
    statuses = crowded(front, engine, stage, seconds=VAIN / 5)

    assert ["guard_failed"] * 3 == statuses


@pytest.mark.parametrize("case", ENGINES, ids=lambda case: case.name)
@pytest.mark.parametrize("colour", COLOURS)
def test_an_approver_may_call_tools_of_its_client(front, case, colour, stage):
    """
    It looks something up before it decides, and has a place already: with room for one
    it would wait for itself.
    """

    def decide(request):
        found = client.invoke("peek", {"where": stage.where, "word": "found"})
        return Approved() if found.value == "FOUND" else None

    with case.make(max_concurrency=1) as engine:
        client = ToolClient(
            TOOLS, engine=engine, filters=[Approval(approver(colour, decide))]
        )
        future = begin_batch(front, client, stage.calls(("spend", "a")))
        [result] = outcome(future)
        client.close()

    assert ("A", ["in found", "in a"]) == (result.value, stage.journal)


@pytest.mark.parametrize("case", OVERLAPPING, ids=lambda case: case.name)
def test_a_body_runs_while_somebody_is_asked_about_another(front, case, stage):
    """
    The body of the first call is inside while the second one is decided about: the
    approver itself waits for that.
    """
    arrived = []

    def decide(request):
        if request.arguments["word"] == "second":
            stage.arrivals(1)
            arrived.append(request.arguments["word"])
            stage.go(2)
        return Approved()

    calls = stage.calls(("spend_held", "first"), ("spend_held", "second"))
    with case.make() as engine:
        client = ToolClient(TOOLS, engine=engine, filters=[Approval(decide)])
        batch = outcome(begin_batch(front, client, calls))
        client.close()

    assert (["second"], ["FIRST", "SECOND"]) == (arrived, [r.value for r in batch])


def test_async_approvers_share_one_loop(front, stage):
    """
    They wait together where they wait at all: a hundred questions need no hundred threads.
    """
    here, left, loops = asyncio.Event(), [100], set()

    async def ask(request):
        loops.add(id(asyncio.get_running_loop()))
        left[0] -= 1
        if not left[0]:
            here.set()
        await asyncio.wait_for(here.wait(), HANGS_AFTER)
        return Denied()

    with OVERLAPPING[0].make(max_concurrency=100) as engine:
        client = ToolClient(TOOLS, engine=engine, filters=[Approval(ask)])
        calls = stage.calls(*(("spend", str(n)) for n in range(100)))
        statuses = {r.status for r in call_batch(front, client, calls)}
        client.close()

    assert ({"denied"}, 1) == (statuses, len(loops))
