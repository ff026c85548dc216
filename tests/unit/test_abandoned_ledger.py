"""
The ledger of bodies that were given up, and the tasks that asyncio forgets.

The numbers are those of the invariants at the head of ``_isolation/_abandoned.py``.
"""

from __future__ import annotations

import asyncio
import gc
import logging

from attempts import Late, attempt_of
from tooldecl._isolation import Entry, Ledger, forget_task
from tooldecl._isolation._abandoned import forgotten_tasks, has_bodies


def entry_of(attempt, owner="mine", late=None, task=None) -> Entry:
    """
    Make an entry for an attempt.
    """
    return Entry(attempt, owner, Late() if late is None else late, task)


class TestEntries:
    """
    Invariant 1: in the ledger from the answer to the end of the body.
    """

    def test_what_is_entered_is_listed_for_its_owner_until_it_leaves(self):
        """
        The oldest first, each with its age; others' are theirs.
        """
        ledger, late = Ledger(), Late()
        attempts = [attempt_of(lambda: "x") for _ in range(3)]
        owners = ["mine", "yours", "mine"]
        for attempt, owner in zip(attempts, owners, strict=True):
            ledger.enter(entry_of(attempt, owner, late))
        mine, yours, all_of_them = ledger.of("mine"), ledger.of("yours"), len(ledger)
        for attempt in attempts:
            ledger.leave(attempt)

        assert (2, 1, 3) == (len(mine), len(yours), all_of_them)
        assert mine[0].age >= mine[1].age >= 0
        assert attempts == [attempt for attempt, _ in late]
        assert (0, ()) == (len(ledger), ledger.of("mine"))

    def test_what_is_not_there_cannot_leave(self):
        """
        Its end was not late, so nobody is told.
        """
        ledger, late = Ledger(), Late()
        attempt = attempt_of(lambda: "x")
        ledger.leave(attempt)
        ledger.enter(entry_of(attempt, late=late))
        ledger.discard(attempt)
        ledger.leave(attempt)

        assert [] == late

    def test_hooks_may_look_at_the_ledger(self):
        """
        Invariant 4: it is not locked while they are told.
        """
        ledger = Ledger()
        seen = []
        attempt = attempt_of(lambda: "x")
        ledger.enter(entry_of(attempt, late=lambda *_: seen.append(len(ledger))))
        ledger.leave(attempt)

        assert [0] == seen

    def test_any_ledger_counts_for_the_end_of_the_interpreter(self):
        """
        Whose body it is makes no difference there.
        """
        gc.collect()
        ledger = Ledger()
        attempt = attempt_of(lambda: "x")
        before = has_bodies()
        ledger.enter(entry_of(attempt))
        within = has_bodies()
        ledger.leave(attempt)

        assert (False, True, False) == (before, within, has_bodies())

    def test_a_task_of_a_closed_loop_is_dropped(self):
        """
        It can never run again, so nothing of it is left.
        """
        ledger = Ledger()

        async def main():
            task = asyncio.ensure_future(asyncio.sleep(0))
            ledger.enter(entry_of(attempt_of(lambda: "x"), task=task))
            counted = len(ledger)
            await task
            return counted

        assert (1, 0) == (asyncio.run(main()), len(ledger))


class TestForgottenTasks:
    """
    Invariants 2 and 3: asyncio does not count them, and they are kept until they end.
    """

    async def test_it_is_off_the_list_and_runs_on(self, caplog):
        """
        Whoever cancels or awaits all tasks of the loop does not find it.
        """
        release, ran = asyncio.Event(), asyncio.Event()

        async def body():
            await release.wait()
            ran.set()

        task = asyncio.ensure_future(body())
        forget_task(task)
        listed = task in asyncio.all_tasks()
        kept = task in forgotten_tasks()
        del task
        gc.collect()
        release.set()
        with caplog.at_level(logging.DEBUG, "asyncio"):
            await ran.wait()
            await asyncio.sleep(0)

        assert (False, True) == (listed, kept)
        assert ((), []) == (
            tuple(t for t in forgotten_tasks() if not t.get_loop().is_closed()),
            caplog.records,
        )
