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

from . import _exit as _exit
from ._abandoned import (
    AbandonedCall,
    Entry,
    Ledger,
    abandoned_calls,
    forget_task,
)
from ._attempt import SOURCES, Attempt, TimeoutSource
from ._awaiting import needs_loop
from ._body import BodyStopped, GeneratorTooLong, arun_body, run_body
from ._hosts import DaemonExecutor, NoThreadError, start_thread
from ._incontext import in_context
from ._jobs import GRACE, Job, Place
from ._lines import Line, Ticket
from ._loops import LoopClosedError, LoopHolder
from ._outcome import ask_to_stop, fate_of_stopped, settle
from ._signals import LeftRunning, Stopped, StopSignal
from ._stays import arun_away, arun_job, run_here, run_job
from ._threads import submit
from ._waits import LoopWaiter, ThreadWaiter


__all__ = [
    "GRACE",
    "SOURCES",
    "AbandonedCall",
    "Attempt",
    "BodyStopped",
    "DaemonExecutor",
    "Entry",
    "GeneratorTooLong",
    "Job",
    "Ledger",
    "LeftRunning",
    "Line",
    "LoopClosedError",
    "LoopHolder",
    "LoopWaiter",
    "NoThreadError",
    "Place",
    "StopSignal",
    "Stopped",
    "ThreadWaiter",
    "Ticket",
    "TimeoutSource",
    "abandoned_calls",
    "arun_away",
    "arun_body",
    "arun_job",
    "ask_to_stop",
    "fate_of_stopped",
    "forget_task",
    "in_context",
    "needs_loop",
    "run_body",
    "run_here",
    "run_job",
    "settle",
    "start_thread",
    "submit",
]
