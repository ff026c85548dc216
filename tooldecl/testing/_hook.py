"""
What a client told, kept, and what a test says of it.
"""

from __future__ import annotations

import json

from collections.abc import Mapping
from typing import final

from .. import ToolClient, ToolResult
from ..engines import abandoned_calls
from ..telemetry import CallFinished, CallStarted, Event
from ._recording import is_object


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


def assert_called(
    hook: RecordingHook, name: str, /, **arguments: object
) -> list[ToolResult]:
    """
    Fail unless a tool was called with these arguments, in JSON form, and perhaps others.

    Args:
        hook: What was recorded.
        name: Name of the tool.
        arguments: What the call had; without any, every call of the tool counts.

    Returns:
        The results of the calls that fit, in the order in which they began.

    Raises:
        AssertionError: No call fits; it lists those there were.
    """
    found = _fitting(hook, name, arguments)
    if not found:
        _check_shown(hook, name, arguments)
        raise AssertionError(
            f"{_wanted(name, arguments)} was not called. {_calls(hook)}"
        )

    return [result for result in found if result is not None]


def assert_not_called(hook: RecordingHook, name: str, /, **arguments: object) -> None:
    """
    Fail when a tool was called with these arguments.

    Raises:
        AssertionError: There is such a call; it lists all there were.
    """
    _check_shown(hook, name, arguments)
    if _fitting(hook, name, arguments):
        raise AssertionError(f"{_wanted(name, arguments)} was called. {_calls(hook)}")


def _fitting(
    hook: RecordingHook, name: str, wanted: Mapping[str, object]
) -> list[ToolResult | None]:
    ended: set[int] = set()
    found: list[ToolResult | None] = []
    for place, event in enumerate(hook.events):
        if not isinstance(event, CallStarted):
            continue
        at, result = _end_of(hook, place, event, ended)
        if at is not None:
            ended.add(at)
        given = _arguments(event)
        if event.name == name and all(
            key in given and given[key] == value for key, value in wanted.items()
        ):
            found.append(result)

    return found


def _end_of(
    hook: RecordingHook, place: int, event: CallStarted, ended: set[int]
) -> tuple[int | None, ToolResult | None]:
    """
    Return where a call ended, and its result; ids may come twice.
    """
    for at, later in enumerate(hook.events[place:], place):
        if at in ended or not isinstance(later, CallFinished):
            continue
        if (later.call_id, later.name) == (event.call_id, event.name):
            return at, later.result

    return None, None


def _arguments(event: CallStarted) -> Mapping[str, object]:
    given: object = event.arguments
    if isinstance(given, (str, bytes)):
        try:
            given = json.loads(given)
        except ValueError:
            return {}

    return given if is_object(given) else {}


def _check_shown(
    hook: RecordingHook, name: str, arguments: Mapping[str, object]
) -> None:
    """
    Say so where nobody can know the arguments.
    """
    for event in hook.events:
        if not isinstance(event, CallStarted) or event.name != name or not arguments:
            continue
        if event.meta is not None and event.meta.sensitive:
            raise AssertionError(
                f"The tool {name!r} is declared sensitive: hooks are not told its "
                "arguments. Assert on its effect, or on what its approver was asked."
            )


def _wanted(name: str, arguments: Mapping[str, object]) -> str:
    shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())

    return f"{name}({shown})"


def _calls(hook: RecordingHook) -> str:
    calls = [
        f"\n  {_wanted(event.name, _arguments(event))}"
        for event in hook.events
        if isinstance(event, CallStarted)
    ]

    return f"The calls were:{''.join(calls)}" if calls else "Nothing was called."


def assert_no_abandoned(client: ToolClient | None = None) -> None:
    """
    Fail when a body that was given up may still be running.

    Args:
        client: Whose bodies count; all there are in this process if None.

    Raises:
        AssertionError: It names each of them and its age.
    """
    calls = abandoned_calls() if client is None else client.abandoned
    left = [f"{call.name} ({call.age:.1f} s)" for call in calls]
    if left:
        raise AssertionError(f"Abandoned calls are still running: {', '.join(left)}.")
