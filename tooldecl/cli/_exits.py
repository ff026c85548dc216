"""
The exit codes, and which of them a call's status is.

The matching page is docs/reference/cli.md; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import final

from .. import Status


@final
class Exit(IntEnum):
    """
    What a command of ours leaves with.
    """

    OK = 0
    FAILED = 1
    INVALID = 2
    TOOL_ERROR = 3
    TIMEOUT = 4
    REFUSED = 5
    LIMIT = 6
    HUNG_UP = 129
    INTERRUPTED = 130
    NOBODY_READS = 141
    TERMINATED = 143


EXITS: dict[Status, Exit] = {
    Status.OK: Exit.OK,
    Status.NOT_FOUND: Exit.TOOL_ERROR,
    Status.TOOL_ERROR: Exit.TOOL_ERROR,
    Status.TIMEOUT: Exit.TIMEOUT,
    Status.TOO_LARGE: Exit.TOOL_ERROR,
    Status.UNENCODABLE: Exit.TOOL_ERROR,
    Status.WORKER_DIED: Exit.TOOL_ERROR,
    Status.INVALID: Exit.INVALID,
    Status.UNKNOWN_TOOL: Exit.INVALID,
    Status.BUDGET: Exit.LIMIT,
    Status.BUSY: Exit.LIMIT,
    Status.DENIED: Exit.REFUSED,
    Status.APPROVAL_EXPIRED: Exit.REFUSED,
    Status.GUARD_FAILED: Exit.REFUSED,
    Status.NOT_RUN: Exit.LIMIT,
    Status.CANCELLED: Exit.TIMEOUT,
    Status.PENDING: Exit.REFUSED,
}


# What left something behind is worse than what failed, and that than what never ran.
_WORST_FIRST = (Exit.TIMEOUT, Exit.TOOL_ERROR, Exit.INVALID, Exit.LIMIT, Exit.REFUSED)


def exit_of(status: Status) -> Exit:
    """
    Return the exit code of a command that made one call.
    """
    return EXITS[status]


def exit_of_all(statuses: Iterable[Status]) -> Exit:
    """
    Return the exit code of a command that made several calls: of the worst of them.
    """
    codes = {EXITS[status] for status in statuses}

    return next((code for code in _WORST_FIRST if code in codes), Exit.OK)
