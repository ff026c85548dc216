"""
Call a tool by either front, and wait for what its client tells of later.
"""

from __future__ import annotations

import asyncio
import threading

from typing import Any

from ordering import HANGS_AFTER
from tooldecl import ToolClient, ToolResult
from tooldecl.telemetry import Event


FRONTS = ("sync", "async")


# How often a call is repeated whose body had not begun within its limit: on a machine
# that is that busy a test of what bodies do would show nothing.
PATIENCE = 20


def call(
    front: str, client: ToolClient, name: str, *args: Any, **kwargs: Any
) -> ToolResult:
    """
    Call one tool from a script without a loop, or from a loop of its own.
    """
    if front == "async":
        return asyncio.run(acall(client, name, *args, **kwargs))
    for _ in range(PATIENCE):
        result = client.invoke(name, *args, **kwargs)
        if not _came_too_late(result):
            return result

    raise AssertionError("No body began.")


async def acall(client: ToolClient, name: str, *args: Any, **kwargs: Any) -> ToolResult:
    """
    Call one tool from the running loop.
    """
    for _ in range(PATIENCE):
        result = await client.ainvoke(name, *args, **kwargs)
        if not _came_too_late(result):
            return result

    raise AssertionError("No body began.")


def _came_too_late(result: ToolResult) -> bool:
    return result.status == "timeout" and result.fate == "not_started"


def call_batch(front: str, client: ToolClient, *args: Any, **kwargs: Any) -> Any:
    """
    Run a batch by either front.
    """
    if front == "sync":
        return client.invoke_batch(*args, **kwargs)

    return asyncio.run(client.ainvoke_batch(*args, **kwargs))


class Listener:
    """
    A hook that keeps every event, and lets a test wait for one.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def of(self, kind: type) -> list[Any]:
        """
        Return the events of one kind so far.
        """
        with self._changed:
            return [event for event in self.events if isinstance(event, kind)]

    def wait_for(self, kind: type, count: int = 1) -> list[Any]:
        """
        Wait until there are *count* events of one kind, and return them.
        """
        with self._changed:
            if not self._changed.wait_for(
                lambda: len(self.of(kind)) >= count, HANGS_AFTER
            ):
                raise AssertionError(f"{len(self.of(kind))} of {count} events came.")

        return self.of(kind)


def body_threads() -> list[threading.Thread]:
    """
    List the threads that run bodies, or wait for some.
    """
    return [t for t in threading.enumerate() if t.name.startswith("tooldecl-body-")]


def join_body_threads() -> None:
    """
    Wait until those threads have ended; idle ones take a second for it.
    """
    for thread in body_threads():
        thread.join(HANGS_AFTER)
