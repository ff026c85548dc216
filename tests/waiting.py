"""
Filter objects of either colour, made from one generator that yields what goes on.
"""

from __future__ import annotations

import asyncio

from collections.abc import Callable, Generator
from typing import Any

from tooldecl import tool


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


class _One:
    def __init__(self, colour: str, form: Any) -> None:
        setattr(self, colour, form)


def only(colour: str, both: Any) -> Any:
    """
    Return a filter that has one form of a filter that has both.
    """
    return _One(colour, getattr(both, colour))


def held_tools(gate: Any) -> list[Any]:
    """
    Make tools that are held: one that cannot be stopped, one that can.
    """

    @tool
    def hold() -> str:
        """Be held."""
        gate.pass_through()
        return "held"

    @tool
    async def ahold() -> str:
        """Be held."""
        gate.arrive()
        await asyncio.Event().wait()
        return "held"

    @tool
    def quick() -> str:
        """Be quick."""
        return "quick"

    return [hold, ahold, quick]


class Noting:
    """
    Note how it ends.
    """

    def __init__(self, log: list[str]) -> None:
        self.log = log

    def around(self, request: Any, call_next: Any) -> Any:
        """
        Go on.
        """
        try:
            return call_next(request)
        except BaseException as error:
            self.log.append(type(error).__name__)
            raise
        finally:
            self.log.append("left")

    async def aaround(self, request: Any, call_next: Any) -> Any:
        """
        Go on.
        """
        try:
            return await call_next(request)
        except BaseException as error:
            self.log.append(type(error).__name__)
            raise
        finally:
            self.log.append("left")
