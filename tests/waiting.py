"""
Filter objects of either colour, made from one generator that yields what goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any


COLOURS = ("around", "aaround")

Steps = Callable[..., Generator[Any, Any, Any]]


class SyncLayer:
    """
    A filter that waits in sync code.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def around(self, request: Any, call_next: Any) -> Any:
        """
        Take the steps, going on with what they yield.
        """
        flow = self._steps(request)
        move: Any = (flow.send, None)
        while True:
            try:
                sent = move[0](move[1])
            except StopIteration as stop:
                return stop.value
            try:
                move = (flow.send, call_next(sent))
            except BaseException as error:  # the steps may catch it
                move = (flow.throw, error)


class AsyncLayer:
    """
    A filter that waits in async code.
    """

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    async def aaround(self, request: Any, call_next: Any) -> Any:
        """
        Take the steps, going on with what they yield.
        """
        flow = self._steps(request)
        move: Any = (flow.send, None)
        while True:
            try:
                sent = move[0](move[1])
            except StopIteration as stop:
                return stop.value
            try:
                move = (flow.send, await call_next(sent))
            except BaseException as error:  # the steps may catch it
                move = (flow.throw, error)


def layer(colour: str, steps: Steps) -> Any:
    """
    Make a filter of a colour; ``"flow"`` is the generator function itself.
    """
    kinds: dict[str, Any] = {"around": SyncLayer, "aaround": AsyncLayer}

    return kinds[colour](steps) if colour in kinds else steps
