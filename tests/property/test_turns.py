"""
Runs of a loop, turn by turn, against a simple model of the rules.

The machine plays random turns of calls that succeed, fail, are refused, wait, or stop the
run; it decides about what waits, in part or in full, here or from the JSON, and says what
has to come of it: each call has one answer, in order, budgets are exact, no body runs that
was refused, and the messages are valid after every step.
"""

from __future__ import annotations

import asyncio
import threading

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from loops import check, resume, run, scripted, stored
from tooldecl import Budget, ToolCall, ToolClient, ToolLoop, tool
from tooldecl.filters import Again, Approval, Approved, Denied, Proceed, Suspend


KINDS = ["ok", "fail", "env", "missing", "bad", "deny", "later", "far", "stop"]
TURNS = st.lists(st.lists(st.sampled_from(KINDS), min_size=1, max_size=5), max_size=3)
FRONTS = st.sampled_from(["sync", "async"])
CHOICES = st.lists(st.sampled_from(["yes", "no", "wait", "leave"]), max_size=5)


class World:
    """
    What the bodies do, and what they have done.
    """

    def __init__(self):
        self.ran = []
        self.broken = True
        self.stop = threading.Event()
        self.task, self.cut = None, None

    def hear(self, event):
        """
        Cancel the task of the run at one of its events.
        """
        if self.task is None or self.cut is None:
            return
        if self.cut == 0:
            self.task.cancel()
        self.cut -= 1

    def tools(self):
        """
        Make the tools; what a call is to do is its kind.
        """

        @tool
        def plain(kind: str) -> str:
            """Do something."""
            self.ran.append(kind)
            if kind == "fail":
                raise ValueError
            if kind == "env" and self.broken:
                raise PermissionError
            if kind == "stop":
                self.stop.set()
            return "ok"

        @tool(sensitive=True)
        def asked(kind: str) -> str:
            """Do something that is asked about."""
            self.ran.append(kind)
            return "ok"

        @tool(external=True)
        def far(kind: str) -> str:
            """Have something done."""

        return [plain, asked, far]

    def client(self):
        """
        Make a client that has none of the state of another.
        """

        def decide(request):
            return Denied() if request.arguments["kind"] == "deny" else Suspend()

        return ToolClient(self.tools(), filters=[Approval(decide)], hooks=[self.hear])


def made(kind):
    """
    Make a call of a kind, under the one id that this model knows.
    """
    name = {"missing": "nothing", "deny": "asked", "later": "asked", "far": "far"}

    return ToolCall(
        name.get(kind, "plain"), {} if kind == "bad" else {"kind": kind}, "x"
    )


class Rules:
    """
    The rules of one run, in a few lines.
    """

    def __init__(self, limit, pause, broken):
        self.limit, self.pause, self.broken = limit, pause, broken
        self.spent, self.stopped, self.over = 0, False, False
        self.statuses, self.ran = [], []
        self.turn, self.kinds, self.waiting, self.settled = 0, [], {}, set()

    def is_used_up(self):
        """
        Whether the next body is one too many.
        """
        used = self.limit is not None and self.spent >= self.limit
        self.over = self.over or used

        return used

    def status_of(self, kind):
        """
        Say what comes of a call that is new.
        """
        if self.stopped:
            return "cancelled"
        if kind in ("missing", "bad"):
            return {"missing": "unknown_tool", "bad": "invalid"}[kind]
        if self.is_used_up():
            return "budget"
        if kind == "far":
            self.spent += 1  # when it is given away
        if kind in ("deny", "later", "far"):
            return {"deny": "denied"}.get(kind, "pending")

        return self.body(kind)

    def body(self, kind, *, again=False):
        """
        Say what comes of a call whose body runs.
        """
        self.ran.append(kind)
        self.spent += 0 if again else 1
        self.stopped = self.stopped or kind == "stop"
        fails = kind == "fail" or (kind == "env" and self.broken)

        return "tool_error" if fails else "ok"

    def play(self, turns):
        """
        Say why a run of these turns ends.
        """
        for kinds in turns:
            if self.stopped:
                return "cancelled"
            self.kinds, self.waiting, self.settled = kinds, {}, set()
            self.turn = len(self.statuses)
            for place, kind in enumerate(kinds):
                status = self.status_of(kind)
                self.statuses.append(status)
                if status == "pending":
                    self.waiting[place] = kind
            reason = self.end_of_turn()
            if reason is not None:
                return reason

        return "cancelled" if self.stopped else "answer"

    def end_of_turn(self):
        """
        Say why the run ends after a turn, where it does.
        """
        if not self.waiting and self.pause:
            self.waiting = {
                place: kind
                for place, kind in enumerate(self.kinds)
                if kind == "env"
                and self.statuses[self.turn + place] == "tool_error"
                and place not in self.settled
            }
        if self.waiting:
            return "suspended"

        return "budget" if self.over else None

    def decide(self, choices, turns):
        """
        Say why the run ends when it goes on with these decisions.
        """
        for (place, kind), choice in zip(
            list(self.waiting.items()), choices, strict=False
        ):
            if choice == "leave":
                continue
            status = self.decided(place, kind, choice)
            self.statuses[self.turn + place] = status
            if status != "pending":
                del self.waiting[place]

        return self.end_of_turn() or self.play(turns)

    def decided(self, place, kind, choice):
        """
        Say what comes of a call that has waited.
        """
        if kind == "env":
            if choice != "no":
                return self.body(kind, again=True)
            self.settled.add(place)
            return "tool_error"
        if kind == "far":
            return "ok"
        if self.is_used_up():
            return "budget"
        if choice == "yes":
            return self.body(kind)

        return "denied" if choice == "no" else "pending"


def decision(kind, choice):
    """
    Give what the host gives for a choice.
    """
    if kind == "far":
        return "done elsewhere"
    if kind == "env":
        return Proceed() if choice == "no" else Again()

    return {"yes": Approved(), "no": Denied(), "wait": Suspend()}[choice]


class Runs(RuleBasedStateMachine):
    """
    One conversation, in one run after another.
    """

    @initialize(
        limit=st.none() | st.integers(0, 6), pause=st.booleans(), broken=st.booleans()
    )
    def begin(self, limit, pause, broken):
        """
        Make a world, and the rules of its runs.
        """
        self.limit, self.pause, self.broken = limit, pause, broken
        self.world, self.client = World(), None
        self.world.broken = broken
        self.client = self.world.client()
        self.messages, self.result, self.rules = [], None, None

    def loop(self, turns):
        """
        Make a loop around the next turns.
        """
        return ToolLoop(
            self.client,
            scripted(*[[made(kind) for kind in kinds] for kinds in turns], "Done."),
            max_turns=99,
            budget=None if self.limit is None else Budget(calls=self.limit),
            on_environment_error="pause" if self.pause else "proceed",
        )

    @precondition(lambda self: not self.is_suspended())
    @rule(turns=TURNS, front=FRONTS)
    def play(self, turns, front):
        """
        Run some turns, after whatever was said before.
        """
        self.world.stop.clear()
        self.world.ran.clear()
        self.rules = Rules(self.limit, self.pause, self.broken)
        reason = self.rules.play(turns)
        said = [*self.messages, {"role": "user", "content": "Go on."}]
        self.told = []
        self.result = run(
            front,
            self.loop(turns),
            said,
            stop=self.world.stop,
            on_end=self.told.append,
        )
        self.compare(reason)

    @precondition(lambda self: self.is_suspended())
    @rule(
        choices=CHOICES,
        turns=TURNS,
        front=FRONTS,
        keep=st.sampled_from(["here", "stored", "elsewhere"]),
    )
    def decide(self, choices, turns, front, keep):
        """
        Go on with what was decided.
        """
        suspension = self.result.suspension
        if keep != "here":
            suspension = stored(suspension)
        if keep == "elsewhere":
            self.client = self.world.client()
        waiting = list(self.rules.waiting.values())
        decisions = {
            call.call_id: decision(kind, choice)
            for call, kind, choice in zip(
                suspension.calls, waiting, choices, strict=False
            )
            if choice != "leave"
        }
        reason = self.rules.decide(choices, turns)
        self.told = []
        self.result = resume(
            front,
            self.loop(turns),
            suspension,
            decisions,
            stop=self.world.stop,
            on_end=self.told.append,
        )
        self.compare(reason)

    @precondition(lambda self: not self.is_suspended())
    @rule(turns=TURNS, cut=st.integers(0, 60))
    def cancel(self, turns, cut):
        """
        Run some turns and cancel the task at one of the events.
        """
        self.world.stop.clear()
        self.world.ran.clear()
        rules = Rules(self.limit, self.pause, self.broken)
        reason = rules.play(turns)
        said = [*self.messages, {"role": "user", "content": "Go on."}]
        ends = []

        async def go():
            self.world.task, self.world.cut = asyncio.current_task(), cut
            loop = self.loop(turns)
            return await loop.arun(said, stop=self.world.stop, on_end=ends.append)

        try:
            asyncio.run(go())
        except asyncio.CancelledError:
            assert self.world.cut < 0
        finally:
            self.world.task = None
        [end] = ends
        self.messages, self.result, self.rules = end.messages, end, rules
        if end.stop_reason == "suspended":  # told before the task has heard of it
            return
        statuses = [one.status.value for one in end.results]
        assert end.stop_reason in (reason, "cancelled")
        assert self.world.ran == rules.ran[: len(self.world.ran)]
        assert all(
            status in (expected, "cancelled")
            for status, expected in zip(statuses, rules.statuses, strict=False)
        )

    @precondition(lambda self: self.is_suspended())
    @rule()
    def give_up(self):
        """
        Leave what waits, and go on with a healed conversation.
        """
        self.messages = ToolLoop.close_transcript(self.result.messages)
        self.result = None

    @rule(broken=st.booleans())
    def mend(self, broken):
        """
        Break what the environment is, or mend it.
        """
        self.broken = self.world.broken = broken
        if self.rules is not None:
            self.rules.broken = broken

    def is_suspended(self):
        """
        Whether the run waits for decisions.
        """
        return self.result is not None and self.result.stop_reason == "suspended"

    def compare(self, reason):
        """
        Hold the run against the rules.
        """
        result, rules = self.result, self.rules
        self.messages = result.messages
        assert (reason, rules.statuses) == (
            result.stop_reason,
            [one.status.value for one in result.results],
        )
        assert rules.ran == self.world.ran
        assert [result] == self.told
        assert ("calls" if reason == "budget" else None) == result.stopped_by
        if self.limit is not None:
            assert rules.spent <= self.limit
        waiting = [] if result.suspension is None else result.suspension.calls
        assert list(rules.waiting) == [call.index for call in waiting]

    @invariant()
    def every_call_has_one_answer(self):
        """
        In the order of its turn, under an id that no other call has.
        """
        check(self.messages)
        asked = [c["id"] for m in self.messages for c in m.get("tool_calls", ())]
        answered = [m["tool_call_id"] for m in self.messages if m["role"] == "tool"]

        assert (asked, len(asked)) == (answered, len(set(asked)))


TestRuns = Runs.TestCase
TestRuns.settings = settings(max_examples=120, stateful_step_count=12, deadline=None)
