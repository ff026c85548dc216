"""
The far side of a foreign executor: one attempt, in a killable process of its own.

Whatever executes this, a thread or a process of another machine, has a pool for all
errands, and an attempt is run as at home: the same clock, the same kill, one
implementation. The executor's own worker never runs, imports or unpickles a tool.
"""

from __future__ import annotations

import contextvars
import hashlib
import itertools
import os
import select
import sys
import threading

from typing import Any, NamedTuple, final

from .._clock import monotonic, wall
from .._context import CallFacts, OnProgress, ToolContext, facts_of, no_progress
from .._isolation import Attempt, Ledger, Place, ask_to_stop, start_thread
from ._dialogue import Answer, Said, request_of
from ._handle import Worker
from ._inworker import WorkerRun
from ._loading import Cargo
from ._outcome import batch_over
from ._parcel import envelope_of, open_parcel
from ._pool import Pool


# Tools that are remembered, so that a worker loads each once.
KEPT = 256

# Not among the numbers of the host's own tools: another pool has those.
_NUMBER = itertools.count(1)


class _Named(NamedTuple):
    """
    What is known of a tool where it is not loaded.
    """

    name: str


@final
class _Shop:
    """
    What the errands of one process share.

    Attributes:
        pool: Their workers; each errand has a place of its own, given by who sends it.
        host: The pid of a process whose own clients keep the pool open.
        orphan: The pid of a process whose errands nobody waits for any more.
    """

    def __init__(self) -> None:
        self.pool = Pool(1)
        self.host = self.orphan = 0
        self._watching = 0
        self._cargo: dict[bytes, Cargo] = {}
        self._running: dict[str, Attempt] = {}
        self._unwanted: set[str] = set()
        self._sent: dict[str, bool] = {}
        self._environment: dict[str, str] | None = None

    def cargo(self, head: Said, pickled: bytes) -> Cargo:
        """
        Return a tool under the number that the workers here know it by.
        """
        key = hashlib.sha256(pickled).digest()
        found = self._cargo.get(key)
        if found is None:
            modules = tuple((name, file) for name, file in head["modules"])
            found = Cargo(
                number=next(_NUMBER),
                name=head["tool"],
                pickled=pickled,
                modules=modules,
            )
            if len(self._cargo) >= KEPT:
                self._cargo.clear()
            self._cargo[key] = found

        return found

    def join_here(self, user: object) -> None:
        """
        Keep the pool open for a client of this process, until it leaves.
        """
        if self.host != os.getpid():
            self.host = os.getpid()
            # Before those of executors, which wait for all their threads.
            vars(threading)["_register_atexit"](self._stop_all)
        self.pool.join(user, ())

    def keep_to_environment(self) -> None:
        """
        End workers that were started in another environment than this process has now.

        Whoever runs errands here one by one may say in it what each of them has.
        """
        now, before = dict(os.environ), self._environment
        self._environment = now
        if before is not None and before != now:
            self.pool.leave(self)

    def expect(self, token: str) -> None:
        """
        Note whether an errand begins here that is being sent.
        """
        self._sent[token] = False

    def forget(self, token: str) -> bool:
        """
        Note that it was sent; tell whether it has begun here meanwhile.
        """
        return self._sent.pop(token, False)

    def begin(self, token: str, attempt: Attempt) -> bool:
        """
        Note that an errand begins; False where nobody wants it any more.
        """
        self._running[token] = attempt
        if token in self._sent:
            self._sent[token] = True

        return token not in self._unwanted and self.orphan != os.getpid()

    def end(self, token: str) -> None:
        """
        Forget an errand.
        """
        self._running.pop(token, None)
        self._unwanted.discard(token)

    def stop(self, token: str) -> None:
        """
        End an errand that runs in this process, or keep it from beginning in it.
        """
        self._unwanted.add(token)
        attempt = self._running.get(token)
        if attempt is not None:
            ask_to_stop(attempt, cancels=False)

    def watch_parent(self) -> None:
        """
        Stop all errands when the process ends that has started this one to work for it.
        """
        here = os.getpid()
        if self._watching == here:
            return
        self._watching = here
        parent = _parent()
        if parent is not None:
            watcher = threading.Thread(
                target=self._end_with,
                args=(parent,),
                name="tooldecl-parent",
                daemon=True,
            )
            start_thread(watcher)

    def _end_with(self, parent: int) -> None:
        try:
            fd = os.pidfd_open(parent)
        except ProcessLookupError:
            pass
        else:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            poll.poll()
            os.close(fd)
        self.orphan = os.getpid()
        self._stop_all()
        self.pool.close()

    def _stop_all(self) -> None:
        for token in list(self._running):
            self.stop(token)

    def user(self) -> object:
        """
        Return who keeps the pool open while an errand runs, and after it where no
        client of this process does.
        """
        return object() if self.host == os.getpid() else self


SHOP = _Shop()


@final
class _ErrandRun(WorkerRun):
    """
    Runs one attempt for a host that waits elsewhere.

    Attributes:
        answer: What its worker said, as it came.
    """

    __slots__ = ("_head", "answer")

    def __init__(self, cargo: Cargo, head: Said) -> None:
        place = Place(ledger=Ledger(), owner=None, on_late=lambda _attempt, _late: None)
        super().__init__(SHOP.pool, {cargo.name: cargo}, place, head["found"])
        self.answer: Answer | None = None
        self._head = head

    def _request(self, number: int, worker: Worker, attempt: Attempt) -> bytes:
        head = self._head

        return request_of(number, worker, attempt, head["facts"], head["arguments"])

    def _take(self, answer: Answer, attempt: Attempt) -> bool:
        head, _ = self.answer = answer
        attempt.finished = float(head.get("ended") or monotonic())

        return bool(head.get("failed", {}).get("spent"))


def run_errand(parcel: bytes, on_progress: OnProgress = no_progress) -> bytes:
    """
    Run one attempt and return its envelope.

    Args:
        on_progress: Told how far the body is.
    """
    began = monotonic()
    SHOP.watch_parent()
    head, pickled = open_parcel(parcel)
    attempt, token = _attempt_of(head), head["token"]
    facts_of(attempt.context).on_progress = on_progress
    try:
        if not SHOP.begin(token, attempt):
            return envelope_of(attempt, None, 0.0, token=token)
        return _answer(attempt, head, pickled, began)
    finally:
        SHOP.end(token)


def _answer(attempt: Attempt, head: Said, pickled: bytes, began: float) -> bytes:
    if head["until"] is not None:
        attempt.batch_until = began + max(0.0, head["until"] - wall())
    if attempt.batch_until is not None and attempt.batch_until <= began:
        attempt.ended_by = batch_over(head["tool"])
    elif head["expires"] is not None and head["expires"] <= wall():
        attempt.refused = f"its {head['by']} did not come to it in time"
    else:
        return _run(attempt, head, pickled, began)

    return envelope_of(attempt, None, 0.0, token=head["token"])


def _run(attempt: Attempt, head: Said, pickled: bytes, began: float) -> bytes:
    run = _ErrandRun(SHOP.cargo(head, pickled), head)
    user = SHOP.user()
    SHOP.pool.join(user, ())
    try:
        run.run(attempt)
    finally:
        if user is not SHOP:
            SHOP.pool.leave(user)

    seconds = monotonic() - began

    return envelope_of(attempt, run.answer, seconds, token=head["token"])


def _attempt_of(head: Said) -> Attempt:
    facts = CallFacts(head["facts"]["call_id"], {})
    named: Any = _Named(head["tool"])
    facts.meta = named
    context = ToolContext(facts, attempt=head["facts"]["attempt"])
    attempt = Attempt(_nothing, {}, context, contextvars.copy_context())
    attempt.where = "process"
    attempt.timeout, attempt.source = head["timeout"], head["source"]

    return attempt


def _parent() -> int | None:
    """
    Return the process whose pool of processes this one is in, if it is in one.
    """
    module = sys.modules.get("multiprocessing.process")  # nobody is in one without it
    parent = None if module is None else module.parent_process()
    pid: int | None = None if parent is None else parent.pid

    return pid


def _nothing(_values: dict[str, Any], _context: ToolContext) -> object:
    raise AssertionError("unreachable")
