"""
Fold the entries of a journal into what is known of each call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from ._entries import Entry
from ._reading import count, is_sound, number, seconds, text, texts
from ._rows import Asked, Batch, Row, Run, Session, Tried


_TIMEOUT = "ToolTimeoutError"


@final
class Fold:
    """
    Everything that a journal tells.

    Attributes:
        sessions: In the order of their first entries.
        events: How many events there were.
        unreadable: How many lines of the journal were no entries, or had numbers that
            no entry of ours has.
    """

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._by_key: dict[str, Session] = {}
        self._rows: dict[tuple[str, str, str], list[Row]] = {}
        self.events = 0
        self.unreadable = 0
        for entry in entries:
            if text(entry, "event") == "unreadable":
                self.unreadable += 1
            else:
                self._take(entry)

    @property
    def sessions(self) -> list[Session]:
        """
        Return the sessions in which something happened.
        """
        return list(self._by_key.values())

    @property
    def rows(self) -> list[Row]:
        """
        Return all calls.
        """
        return [row for session in self.sessions for row in session.rows]

    def _take(self, entry: Entry) -> None:
        kind, at = text(entry, "event"), number(entry, "at")
        if at is None or not is_sound(entry):  # it need not come from a journal
            self.unreadable += 1
            return
        key = text(entry, "session")
        session = self._by_key.setdefault(key, Session(key, last=at))
        session.last = max(session.last, at)
        if kind == "journal":
            session.wall, session.wall_at = text(entry, "wall"), at
            session.process = count(entry, "process")
            return
        self.events += 1
        if kind == "CallStarted":
            row = self._started(session, entry, at)
            if row.batch is not None:  # as far as is known until its answer
                row.queued = [(row.batch.started, at)]
        elif "call_id" in entry:
            self._of_call(session, kind, entry, at)
        else:
            _of_session(session, kind, entry, at)

    def _started(self, session: Session, entry: Entry, at: float) -> Row:
        row = Row(
            session=session.key,
            call_id=text(entry, "call_id"),
            name=text(entry, "name"),
            started=at,
            arguments=text(entry, "arguments"),
            arguments_shape=text(entry, "arguments_shape"),
            sensitive=entry.get("sensitive") is True,
        )
        for batch in reversed(session.batches):
            if batch.ended is None and row.call_id in batch.places:
                row.batch = batch
                break
        session.rows.append(row)
        self._rows.setdefault((session.key, row.call_id, row.name), []).append(row)

        return row

    def _of_call(self, session: Session, kind: str, entry: Entry, at: float) -> None:
        rows = self._rows.get(
            (session.key, text(entry, "call_id"), text(entry, "name"))
        )
        if not rows:  # its beginning is not in the journal
            self._started(session, {**entry, "arguments": ""}, at)
            self._of_call(session, kind, entry, at)
            return
        if kind == "LateFinish":
            _late(rows, entry, at)
        elif kind == "CallFinished":
            open_ = [row for row in rows if row.answered is None]
            _finished((open_ or rows)[0 if open_ else -1], entry, at)
        else:
            open_ = [row for row in rows if row.answered is None]
            _happened((open_ or rows)[-1], kind, entry, at)


def _happened(row: Row, kind: str, entry: Entry, at: float) -> None:
    if kind == "AttemptFailed":
        _failed(row, entry, at)
    elif kind == "ApprovalAsked":
        row.asked.append(Asked(at))
    elif kind == "ApprovalDecided":
        decision = text(entry, "decision")
        if not row.asked or row.asked[-1].until is not None:
            row.asked.append(Asked(at))  # it came with a resumed call
        row.asked[-1].until, row.asked[-1].decision = at, decision
    elif kind == "LoopBlocked":
        row.notes.append((at, f"held its loop {seconds(entry, 'blocked_for'):.3g} s"))
    elif kind == "Progress":
        row.notes.append((at, _progress(entry)))


def _progress(entry: Entry) -> str:
    done, total = number(entry, "done"), number(entry, "total")
    message = text(entry, "message")
    share = "?" if done is None else f"{done:g}"
    share += "" if total is None else f" of {total:g}"

    return f"progress {share}" + (f": {message}" if message else "")


def _failed(row: Row, entry: Entry, at: float) -> None:
    attempt = count(entry, "attempt") or len(row.tried) + 1
    is_timeout = text(entry, "kind") == _TIMEOUT
    tried = Tried(
        number=attempt,
        began=_or(number(entry, "began"), _next_begin(row)),
        ended=at,
        how="timeout" if is_timeout else "failed",
        why=why_of(entry),
        fate=text(entry, "fate"),
    )
    if text(entry, "kind") == "CallCancelledError":
        tried.how = "cancelled"
    row.tried.append(tried)


def _next_begin(row: Row) -> float:
    """
    Guess when an attempt began of which that was not written down.
    """
    ends = [t.ended for t in row.tried if t.ended is not None]
    ends += [a.until for a in row.asked if a.until is not None]

    return max([row.started, *ends])


def _or(value: float | None, other: float) -> float:
    return other if value is None else value


def _finished(row: Row, entry: Entry, at: float) -> None:
    row.answered, row.facts = at, entry
    row.status, row.fate = text(entry, "status"), text(entry, "fate")
    row.attempts = count(entry, "attempts")
    # What was taken back has never begun.
    taken_back = [t for t in row.tried if t.number > row.attempts]
    row.notes += [(_or(t.ended, at), f"did not begin: {t.why}") for t in taken_back]
    row.tried = [t for t in row.tried if t.number <= row.attempts]
    if row.attempts and len(row.tried) < row.attempts:
        ended = number(entry, "ended")
        if ended is None and row.status == "cancelled":
            ended = at
        how = "cancelled" if row.status == "cancelled" else "ran"
        began = _or(number(entry, "began"), _next_begin(row))
        row.tried.append(Tried(row.attempts, began, _or(ended, at), how))
    if row.tried:
        row.tried[-1].fate = row.fate
    _queued(row, entry, at)


def _queued(row: Row, entry: Entry, at: float) -> None:
    """
    Say when a call has waited: first in its batch, and then right after the gate.
    """
    row.queued = []
    total = seconds(entry, "queue_wait")
    after = min(total, max(0.0, at - row.started - seconds(entry, "elapsed")))
    before = total - after
    if before > 0:
        row.queued.append((row.started - before, row.started))
    if after > 0:
        row.queued.append((row.started, row.started + after))


def _late(rows: list[Row], entry: Entry, at: float) -> None:
    """
    Give a late end to the attempt that it belongs to: ids come again in later batches.
    """
    wanted = count(entry, "attempt") or 1
    candidates = [
        (row, tried)
        for row in reversed(rows)
        for tried in row.tried
        if tried.number == wanted and tried.late is None
    ]
    given_up = [pair for pair in candidates if pair[1].fate == "abandoned"]
    if not candidates:
        rows[-1].notes.append((at, "a body that was given up has ended"))
        return
    row, tried = (given_up or candidates)[0]
    tried.late = _or(tried.ended, at) + seconds(entry, "late_by")
    tried.late_with = why_of(entry) or f"a value ({text(entry, 'value_shape')})"
    row.notes.append((tried.late, f"ended late, with {tried.late_with}"))


def why_of(entry: Entry) -> str:
    """
    Say what went wrong, as far as it was written down.
    """
    kind = ", ".join(texts(entry, "raised")) or text(entry, "kind")
    why = text(entry, "why")

    return f"{kind}: {why}" if kind and why else kind or why


def _of_session(session: Session, kind: str, entry: Entry, at: float) -> None:
    ids = {call_id: place for place, call_id in enumerate(texts(entry, "call_ids"))}
    if kind == "BatchStarted":
        session.batches.append(Batch(at, ids))
    elif kind == "BatchFinished":
        for batch in session.batches:
            if batch.ended is None and batch.places == ids:
                batch.ended = at
                break
    elif kind == "WriteConflict":
        note = f"{len(ids)} calls wrote the slot {text(entry, 'slot')}; the last won"
        session.notes.append((at, note))
    else:
        _of_run(session, kind, entry, at)


def _of_run(session: Session, kind: str, entry: Entry, at: float) -> None:
    run_id = text(entry, "run_id")
    if kind == "LoopStarted":
        session.runs.append(Run(at, run_id))
        return
    for run in reversed(session.runs):
        if run.run_id == run_id and run.ended is None:
            if kind == "ModelAsked":
                run.asked.append(at)
            elif kind == "LoopFinished":
                run.ended, run.stop_reason = at, text(entry, "stop_reason")
            break
