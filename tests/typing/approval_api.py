"""
Right use of filters, approvals and suspensions, as type checkers see it (R139): checked,
never run.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, Literal, assert_type

from tooldecl import (
    BatchResult,
    NotFound,
    PendingCall,
    Suspension,
    ToolCall,
    ToolClient,
    ToolError,
    ToolRequest,
    ToolResult,
)
from tooldecl.exceptions import ApprovalExpiredError, CallPendingError, ResumeError
from tooldecl.filters import (
    Answer,
    Approval,
    Approved,
    Approver,
    Decision,
    Denied,
    Filter,
    Suspend,
    TerminalApprover,
    approve_all,
    deny_all,
)


def flow(request: ToolRequest) -> Generator[ToolRequest, ToolResult, object]:
    result = yield request
    return result


class Sync:
    def around(
        self, request: ToolRequest, call_next: Callable[[ToolRequest], ToolResult]
    ) -> ToolResult | str:
        return call_next(request)


class Async:
    async def aaround(
        self,
        request: ToolRequest,
        call_next: Callable[[ToolRequest], Awaitable[ToolResult]],
    ) -> ToolResult:
        return await call_next(request)


def policy(request: ToolRequest) -> Decision:
    if request.meta.sensitive:
        return Approved(arguments={**request.arguments, "x": 1})
    return Denied("why")


async def person(request: ToolRequest) -> Decision:
    return Answer(request.name) if request.arguments else Suspend(expires=5)


def as_filter(layer: Filter) -> Filter:
    return layer


def as_approver(approver: Approver) -> Approver:
    return approver


as_filter(flow)
as_filter(Sync())
as_filter(Async())
as_approver(policy)
as_approver(person)
as_approver(approve_all)
as_approver(TerminalApprover(otherwise=deny_all, tell=print))

client = ToolClient(
    [],
    filters=[flow, Sync(), Async(), Approval(policy), Approval(person, expires=60)],
)


async def resumes(suspension: Suspension) -> None:
    batch = client.resume(suspension, {"a": Approved(), "b": 5, "c": ToolError("x")})
    assert_type(batch, BatchResult)
    assert_type(batch.suspension, Suspension | None)
    assert_type(batch[0], ToolResult)
    assert_type(await client.aresume(suspension, {"a": NotFound("x")}), BatchResult)
    assert_type(Suspension.from_json(suspension.to_json()), Suspension)


def looks(call: PendingCall, batch: BatchResult) -> None:
    assert_type(call.kind, Literal["approval", "external", "environment"])
    assert_type(call.arguments, Mapping[str, Any])
    assert_type(call.expires_at, float | None)
    assert_type(client.invoke_batch([ToolCall("x")]), BatchResult)
    assert_type([result.ok for result in batch], list[bool])


def errors(
    expired: ApprovalExpiredError, pending: CallPendingError, refused: ResumeError
) -> None:
    assert_type(expired.kind, Literal["approval", "external"])
    assert_type(pending.kind, Literal["approval", "external"])
    assert_type(refused.problems, dict[str, str])
