"""
The line for places and groups.

The numbers are those of the invariants at the head of ``_isolation/_lines.py``.
"""

from __future__ import annotations

import asyncio

import pytest

from engine_stage import stood, taken
from tooldecl._isolation import Line, Ticket


class TestOrder:
    """
    First come, first served.
    """

    def test_a_place_that_is_left_goes_to_the_first(self):
        """
        Invariant 1: it is never free in between, so that nobody overtakes.
        """
        line = Line(1)
        first = taken(line)
        tickets = [stood(line) for _ in range(3)]
        line.leave(first)

        assert ([True, False, False], 1) == ([t.given for t in tickets], line.taken)
        assert not line.try_take(Ticket())

    @pytest.mark.parametrize("places", [1, 2, 5])
    def test_never_more_than_its_places(self, places):
        """
        SPEC 6: and all of them are used.
        """
        line = Line(places)
        tickets = [Ticket() for _ in range(10)]
        given = [line.stand(ticket) for ticket in tickets]

        assert [True] * places + [False] * (10 - places) == given
        for ticket in tickets:
            line.leave(ticket)
        assert 0 == line.taken

    def test_a_line_without_a_number_has_places_for_all(self):
        """
        SPEC 6: ``max_concurrency=None``; groups are kept apart all the same.
        """
        line = Line(None)
        for _ in range(100):
            taken(line)
        taken(line, group="g")

        assert not line.stand(Ticket(group="g"))

    def test_one_of_a_group_at_a_time(self):
        """
        SPEC 1: in the order in which they came, and others beside them.
        """
        line = Line()
        first = taken(line, group="g", place=False)
        second, third = stood(line, group="g"), stood(line, group="g")
        taken(line, group="h")
        line.leave(first)

        assert (True, False) == (second.given, third.given)
        line.leave(second)
        assert third.given

    def test_who_waits_for_a_place_holds_no_group(self):
        """
        Invariant 1: a call from inside of another needs no place, and takes the group.
        """
        line = Line(1)
        outer = taken(line)
        both = stood(line, group="g")
        inner = taken(line, place=False, group="g")
        line.leave(outer)
        assert not both.given
        line.leave(inner)

        assert both.given

    def test_who_waits_for_a_group_keeps_no_place(self):
        """
        Invariant 1: what it could have is free for others.
        """
        line = Line(2)
        taken(line, group="g")
        stood(line, group="g")

        assert taken(line).given


class TestLeaving:
    """
    A ticket ends once, whatever its state is.
    """

    def test_leaving_twice_gives_one_place_back(self):
        """
        Invariant 2: clean-up may run twice.
        """
        line = Line(2)
        first, _ = taken(line), taken(line)
        line.leave(first)
        line.leave(first)

        assert 1 == line.taken

    def test_who_leaves_while_it_waits_is_skipped(self):
        """
        Invariant 2: a place that is given to nobody would be lost.
        """
        line = Line(1)
        first, second, third = taken(line), stood(line), stood(line)
        line.leave(second)
        line.leave(first)

        assert (False, True, 1) == (second.given, third.given, line.taken)

    def test_a_ticket_that_never_stood_may_leave(self):
        """
        Invariant 2: an exception may come before its turn.
        """
        line = Line(1)
        line.leave(Ticket())

        assert 0 == line.taken

    @pytest.mark.parametrize("ticks", range(8))
    async def test_a_cancelled_wait_loses_no_place(self, ticks):
        """
        Invariant 2: whenever the cancellation comes, before or after the place.
        """
        line = Line(1)
        first, ticket = taken(line), stood(line)

        async def wait():
            try:
                return await line.aenter(ticket, None)
            finally:
                line.leave(ticket)

        task = asyncio.create_task(wait())
        for tick in range(8):
            await asyncio.sleep(0)
            if tick == 3:
                line.leave(first)
            if tick == ticks:
                task.cancel()
        await asyncio.wait({task})

        assert 0 == line.taken


class TestCircles:
    """
    A wait that could never end is not begun.
    """

    def test_two_that_want_what_the_other_has(self):
        """
        Invariant 3: the second to ask is the one that is told.
        """
        line = Line()
        taken(line, group="a")
        taken(line, group="b")
        first = Ticket(group="b", holds=("a",))
        second = Ticket(group="a", holds=("b",))

        assert (False, False) == (line.stand(first), line.stand(second))
        assert (False, True) == (first.circular, second.circular)

    def test_three_in_a_circle(self):
        """
        Invariant 3: however many there are in between.
        """
        line = Line()
        tickets = [Ticket(group=w, holds=(h,)) for h, w in ("ab", "bc", "ca")]
        for group in "abc":
            taken(line, group=group)
        for ticket in tickets:
            line.stand(ticket)

        assert [False, False, True] == [ticket.circular for ticket in tickets]

    def test_a_wait_with_an_end_is_no_circle(self):
        """
        Invariant 3: the control: who holds the group waits for nobody, or for somebody else.
        """
        line = Line()
        for group in "abc":
            taken(line, group=group)
        line.stand(Ticket(group="c", holds=("b",)))
        ticket = stood(line, group="b", holds=("a",))

        assert not ticket.circular
