"""
The waits in a line for places and groups, and the signal that ends them.

The numbers are those of the invariants at the head of ``_isolation/_lines.py``.
"""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from engine_stage import begin, outcome, stood, taken
from ordering import HANGS_AFTER
from tooldecl._isolation import Line, Stopped, StopSignal, Ticket


class TestWaiting:
    """
    The wait of a thread, and of a task.
    """

    def test_a_thread_is_woken(self):
        """
        It waits as long as it takes, and has its place when it wakes.
        """
        line = Line(1)
        first, ticket = taken(line), stood(line)
        future = begin(line.enter, ticket, None)
        line.leave(first)

        assert (True, True) == (outcome(future), ticket.given)

    async def test_a_task_is_woken(self):
        """
        From another thread, too.
        """
        line = Line(1)
        first, ticket = taken(line), stood(line)
        task = asyncio.create_task(line.aenter(ticket, None))
        await asyncio.to_thread(line.leave, first)

        assert (True, True) == (await task, ticket.given)

    async def test_a_wait_ends_with_its_time(self):
        """
        SPEC 6: and the ticket stands in line no longer, in both colours.
        """
        line = Line(1)
        first, ticket, other = taken(line), stood(line), stood(line)

        assert not line.enter(ticket, 0.01)
        assert not await line.aenter(other, 0.01)
        line.leave(first)
        assert (False, False, 0) == (ticket.given, other.given, line.taken)

    async def test_what_was_given_before_the_wait_is_not_waited_for(self):
        """
        Nobody would wake who has been woken already.
        """
        line = Line(1)
        first, ticket = taken(line), stood(line)
        line.leave(first)

        assert line.enter(ticket, None)
        assert await line.aenter(ticket, None)

    @pytest.mark.parametrize("early", [True, False])
    def test_a_signal_ends_it(self, early):
        """
        SPEC 6: no further body begins once its batch is over.
        """
        line, signal = Line(1), StopSignal()
        taken(line)
        ticket = stood(line)
        if early:
            signal.set()
        future = begin(line.enter, ticket, None, signal)
        signal.set()
        with pytest.raises(Stopped):
            outcome(future)

        line.leave(ticket)
        assert 1 == line.taken

    def test_a_place_and_a_signal_at_once(self):
        """
        Invariant 2: who is woken by both gives back what it has.
        """
        for _ in range(200):
            line, signal = Line(1), StopSignal()
            first, ticket = taken(line), stood(line)
            future = begin(line.enter, ticket, None, signal)
            leaving = begin(line.leave, first)
            signal.set()
            outcome(leaving)
            try:
                outcome(future)
            except Stopped:
                pass
            line.leave(ticket)

            assert 0 == line.taken


class TestSignals:
    """
    Set once, heard by all.
    """

    def test_each_callback_is_called_once(self):
        """
        Also one that comes too late, and none that has gone.
        """
        signal, heard = StopSignal(), []

        def gone():
            heard.append("gone")

        signal.add(lambda: heard.append("before"))
        signal.add(gone)
        signal.discard(gone)
        signal.set()
        signal.set()
        signal.add(lambda: heard.append("after"))
        signal.discard(gone)

        assert (["before", "after"], True) == (heard, signal.is_set)


class TestCrowd:
    """
    Many threads at once.
    """

    def test_the_limit_holds(self):
        """
        SPEC 6: four places and twenty threads, of which four are inside together.
        """
        line, inside, peaks = Line(4), [], []
        lock, meeting = threading.Lock(), threading.Barrier(4)

        def visit():
            ticket = Ticket()
            if not line.stand(ticket):
                line.enter(ticket, None)
            with lock:
                inside.append(ticket)
                peaks.append(len(inside))
            meeting.wait(HANGS_AFTER)
            with lock:
                inside.remove(ticket)
            line.leave(ticket)

        for future in [begin(visit) for _ in range(20)]:
            outcome(future)

        assert (4, 0) == (max(peaks), line.taken)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_child_begins_with_an_empty_line():
    """
    Invariant 5: those who held its places are not there.
    """
    line = Line(1)
    taken(line, group="g")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if line.try_take(Ticket(group="g")) else 1)

    assert 0 == os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
