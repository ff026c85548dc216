"""
Where one body runs, and how it is stopped.

=========  =====================  =================================  =====================
place      runs in                at the deadline                    left behind
=========  =====================  =================================  =====================
inline     the caller's thread    not enforced: refused at build
thread     a daemon thread        the caller stops waiting           the thread, till the
                                                                     body ends
task       a task of the          the task is cancelled              a task that refuses
           caller's loop
=========  =====================  =================================  =====================

The matching page is docs/explanation/timeouts-and-isolation.md.
"""

from __future__ import annotations

from ._abandoned import AbandonedCall, Entry, Ledger, forget_task
from ._body import (
    Attempt,
    BodyStopped,
    GeneratorTooLong,
    InContext,
    TimeoutSource,
    arun_body,
    is_awaitable,
    run_body,
)
from ._jobs import GRACE, Job, Place, arun_job, ask_to_stop, run_job, settle
from ._loops import LoopHolder, LoopThread
from ._threads import NoThreadError, submit


__all__ = [
    "GRACE",
    "AbandonedCall",
    "Attempt",
    "BodyStopped",
    "Entry",
    "GeneratorTooLong",
    "InContext",
    "Job",
    "Ledger",
    "LoopHolder",
    "LoopThread",
    "NoThreadError",
    "Place",
    "TimeoutSource",
    "arun_body",
    "arun_job",
    "ask_to_stop",
    "forget_task",
    "is_awaitable",
    "run_body",
    "run_job",
    "settle",
    "submit",
]
