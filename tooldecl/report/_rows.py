"""
What is known of each call, attempt and batch: the facts that a report shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ._entries import Entry


@dataclass(slots=True)
class Tried:
    """
    One attempt of a call.

    Attributes:
        ended: When it did; None where the journal ends before.
        how: ``ran``, ``failed``, ``timeout`` or ``cancelled``.
        why: What is known of its failure.
        fate: What became of its body.
        late: When a body that was given up ended after all; None where nobody saw it.
        late_with: What it ended with.
    """

    number: int
    began: float
    ended: float | None
    how: str
    why: str = ""
    fate: str = ""
    late: float | None = None
    late_with: str = ""

    @property
    def outlived(self) -> bool:
        """
        Whether the body ran on after it was given up.
        """
        return self.fate == "abandoned" or self.late is not None

    @property
    def late_by(self) -> float:
        """
        Return how long it was seen to run on.
        """
        if self.late is None:
            return 0.0

        return self.late - (self.began if self.ended is None else self.ended)


@dataclass(slots=True)
class Asked:
    """
    One wait for a person.
    """

    since: float
    until: float | None = None
    decision: str = ""


@dataclass(slots=True)
class Batch:
    """
    One batch of calls.

    Attributes:
        places: The ids of its calls, and the place of each in the order asked for.
    """

    started: float
    places: dict[str, int]
    ended: float | None = None


@dataclass(slots=True)
class Row:
    """
    One call.

    Attributes:
        started: When its turn in its batch came, or it came in by itself.
        queued: Spans of time that it waited for its turn.
        answered: When it had its answer; None where the journal ends before.
        facts: The entry of its answer.
        notes: What else happened, with the time of each.
    """

    session: str
    call_id: str
    name: str
    started: float
    arguments: str = ""
    arguments_shape: str = ""
    sensitive: bool = False
    answered: float | None = None
    status: str = ""
    fate: str = ""
    attempts: int = 0
    queued: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    asked: list[Asked] = field(default_factory=list[Asked])
    tried: list[Tried] = field(default_factory=list[Tried])
    notes: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    facts: Entry = field(default_factory=dict[str, object])
    batch: Batch | None = None

    @property
    def begins(self) -> float:
        """
        Return when it came in: with its batch, where it waited for its turn there.
        """
        return min([self.started, *(since for since, _ in self.queued)])

    @property
    def waited(self) -> float:
        """
        Return the seconds that it waited for its turn since it came in.
        """
        return sum(until - since for since, until in self.queued)

    @property
    def order(self) -> tuple[float, int]:
        """
        Return what to sort by: calls of a batch stand in the order asked for.
        """
        if self.batch is None:
            return self.begins, 0

        return self.batch.started, self.batch.places.get(self.call_id, 0)

    @property
    def outlived(self) -> bool:
        """
        Whether a body of it ran on after it was given up.
        """
        return any(attempt.outlived for attempt in self.tried)

    @property
    def never_seen_to_end(self) -> bool:
        """
        Whether a body that was given up may be running still.
        """
        return any(t.outlived and t.late is None for t in self.tried)

    @property
    def waited_for_people(self) -> float:
        """
        Return the seconds that decisions took.
        """
        ends = self.started if self.answered is None else self.answered

        return sum(
            max(0.0, (ends if asked.until is None else asked.until) - asked.since)
            for asked in self.asked
        )

    @property
    def returned(self) -> float | None:
        """
        Return when whoever asked had the answer: with the batch, where there was one.
        """
        return self.answered if self.batch is None else self.batch.ended

    @property
    def outlived_its_batch(self) -> bool:
        """
        Whether a body of it was still running when whoever asked had the answer.
        """
        returned = self.returned
        if returned is None:
            return False

        return any(
            t.outlived and (t.late is None or t.late > returned) for t in self.tried
        )


@dataclass(slots=True)
class Run:
    """
    One run of a loop.
    """

    started: float
    run_id: str
    asked: list[float] = field(default_factory=list[float])
    ended: float | None = None
    stop_reason: str = ""


@dataclass(slots=True)
class Session:
    """
    What one hook has seen: its times are comparable, and no others are.
    """

    key: str
    rows: list[Row] = field(default_factory=list[Row])
    batches: list[Batch] = field(default_factory=list[Batch])
    runs: list[Run] = field(default_factory=list[Run])
    notes: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    wall: str = ""
    wall_at: float = 0.0
    process: int = 0
    last: float = 0.0
