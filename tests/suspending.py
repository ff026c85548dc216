"""
Tools and clients whose calls wait, and both fronts to go on with them.
"""

from __future__ import annotations

import asyncio

from typing import Any

from tooldecl import Suspension, ToolCall, ToolClient, ToolContext, tool
from tooldecl.filters import Approval, Suspend


RUNS: list[str] = []


@tool
def add(a: int, b: int, ctx: ToolContext) -> int:
    """Add two integers."""
    RUNS.append("add")
    ctx.write("sum", a + b)

    return a + b


@tool(sensitive=True)
def pay(amount: int, ctx: ToolContext) -> str:
    """Pay."""
    RUNS.append(f"pay {amount}")
    ctx.write("paid", amount)

    return f"paid {amount}, key {ctx.idempotency_key}, sum {ctx.state.get('sum')}"


@tool(external=True)
def click(x: int) -> int:
    """Click in the browser."""
    RUNS.append("click")

    return x


@tool(external=True, sensitive=True)
def sign(text: str) -> str:
    """Sign on the phone."""
    RUNS.append("sign")

    return text


TOOLS = [add, pay, click, sign]

# One that has its result, two that wait for a decision, one that waits for its result.
CALLS = [
    ToolCall("add", {"a": 1, "b": 2}, "a"),
    ToolCall("pay", {"amount": 5}, "p"),
    ToolCall("pay", {"amount": 7}, "q"),
    ToolCall("click", {"x": 1}, "c"),
]


def later(_request: object) -> Suspend:
    """
    Decide later.
    """
    return Suspend()


def client_of(*filters: Any, approver: Any = later, **options: Any) -> ToolClient:
    """
    Make a client whose sensitive calls wait.
    """
    return ToolClient(TOOLS, filters=[*filters, Approval(approver)], **options)


def resume(
    front: str, client: ToolClient, suspension: Any, decisions: Any, **options: Any
) -> Any:
    """
    Go on by either front.
    """
    if front == "sync":
        return client.resume(suspension, decisions, **options)

    return asyncio.run(client.aresume(suspension, decisions, **options))


def travelled(suspension: Suspension | None) -> Suspension:
    """
    Send a suspension through its JSON.
    """
    assert suspension is not None

    return Suspension.from_json(suspension.to_json())


def same(suspension: Suspension | None) -> Suspension:
    """
    Take a suspension as it is.
    """
    assert suspension is not None

    return suspension


ROUTES = {"same": same, "travelled": travelled}


def statuses(batch: Any) -> list[str]:
    """
    List the statuses of a batch.
    """
    return [result.status.value for result in batch]
