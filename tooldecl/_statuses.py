"""
Which error a call ends with makes which status.

The statuses are described in docs/reference/errors.md.
"""

from __future__ import annotations

from ._calls import Status
from .exceptions import (
    ApprovalDeniedError,
    ApprovalExpiredError,
    BudgetExceededError,
    CallCancelledError,
    CallError,
    CallPendingError,
    EngineBusyError,
    GuardFailedError,
    InvalidArgumentsError,
    MalformedJSONError,
    NotRunError,
    ResultTooLargeError,
    ToolFailedError,
    ToolTimeoutError,
    UnencodableResultError,
    UnknownToolError,
    WorkerDiedError,
)


STATUS: dict[type[CallError], Status] = {
    ApprovalDeniedError: Status.DENIED,
    ApprovalExpiredError: Status.APPROVAL_EXPIRED,
    CallPendingError: Status.PENDING,
    BudgetExceededError: Status.BUDGET,
    CallCancelledError: Status.CANCELLED,
    EngineBusyError: Status.BUSY,
    GuardFailedError: Status.GUARD_FAILED,
    InvalidArgumentsError: Status.INVALID,
    MalformedJSONError: Status.INVALID,
    NotRunError: Status.NOT_RUN,
    ResultTooLargeError: Status.TOO_LARGE,
    ToolFailedError: Status.TOOL_ERROR,
    ToolTimeoutError: Status.TIMEOUT,
    UnencodableResultError: Status.UNENCODABLE,
    UnknownToolError: Status.UNKNOWN_TOOL,
    WorkerDiedError: Status.WORKER_DIED,
}
