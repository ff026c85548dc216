"""
Fakes for tests of one's own tools: a clock that does not wait, a model with a script.
"""

from __future__ import annotations

import threading

from collections.abc import Iterable
from typing import final

from . import ModelRequest, ToolClient, Turn
from .models.fake import FakeLLM, FakeReply, FakeRequest
from .telemetry import Event


__all__ = [
    "FakeClock",
    "FakeLLM",
    "FakeReply",
    "FakeRequest",
    "RecordingHook",
    "ScriptedModel",
    "assert_no_abandoned",
]


@final
class FakeClock:
    """
    A clock that moves only when somebody sleeps on it or moves it.

    Attributes:
        sleeps: Every wait asked for, in seconds, in order.
    """

    def __init__(self, now: float = 0.0) -> None:
        self._now = now
        self._lock = threading.Lock()
        self.sleeps: list[float] = []

    def monotonic(self) -> float:
        """
        Return the time it shows, in seconds.
        """
        return self._now

    def advance(self, seconds: float) -> None:
        """
        Move on by *seconds*.
        """
        with self._lock:
            self._now += seconds

    def sleep(self, seconds: float) -> None:
        """
        Move on by *seconds* at once, and note the wait.
        """
        with self._lock:
            self.sleeps.append(seconds)
            self._now += seconds

    async def asleep(self, seconds: float) -> None:
        """
        Move on by *seconds* at once, and note the wait.
        """
        self.sleep(seconds)


@final
class RecordingHook:
    """
    Keeps every event it is told of, in order.

    Attributes:
        events: The events so far.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[Event]) -> list[Event]:
        """
        Return the events of one kind.
        """
        return [event for event in self.events if isinstance(event, kind)]


@final
class ScriptedModel:
    """
    A model that answers from a script.

    Args:
        script: Its turns, in order; an exception in it is raised in its place.

    Attributes:
        requests: Every request it got, in order.
    """

    def __init__(self, script: Iterable[Turn | Exception]) -> None:
        self._script = list(script)
        self._lock = threading.Lock()
        self.requests: list[ModelRequest] = []

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the next turn of the script.

        Raises:
            AssertionError: The script is over.
        """
        with self._lock:
            self.requests.append(request)
            count = len(self.requests)
        if count > len(self._script):
            raise AssertionError(
                f"The script of this model has {len(self._script)} turns and it was "
                f"asked for turn {count}."
            )
        turn = self._script[count - 1]
        if isinstance(turn, Exception):
            raise turn

        return turn

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the next turn of the script; as `respond`.
        """
        return self.respond(request)


def assert_no_abandoned(client: ToolClient) -> None:
    """
    Fail when a body that was given up may still be running.

    Raises:
        AssertionError: It names each of them and its age.
    """
    left = [f"{call.name} ({call.age:.1f} s)" for call in client.abandoned]
    if left:
        raise AssertionError(f"Abandoned calls are still running: {', '.join(left)}.")
