"""
Layers around a call, and who decides about it.

::

    def add_one(request):
        changed = {**request.arguments, "x": request.arguments["x"] + 1}
        result = yield request.replace(arguments=changed)
        return result
"""

from __future__ import annotations

from .._decisions import (
    Again,
    Answer,
    Approved,
    Decision,
    Denied,
    Proceed,
    Suspend,
)
from ._approval import Approval, Approver, TerminalApprover, approve_all, deny_all
from ._chain import AsyncAround, Filter, SyncAround


__all__ = [
    "Again",
    "Answer",
    "Approval",
    "Approved",
    "Approver",
    "AsyncAround",
    "Decision",
    "Denied",
    "Filter",
    "Proceed",
    "Suspend",
    "SyncAround",
    "TerminalApprover",
    "approve_all",
    "deny_all",
]
