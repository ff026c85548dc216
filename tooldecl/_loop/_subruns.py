"""
A loop that is itself a tool: a task goes in, and what the loop has to say comes out.

Invariants:

1. Nothing of the call around it is seen by a sub-run: it has context variables of its
   own, and the engine and the limits of its own client. Only the places that the call
   holds go with it, or a sub-run on the same engine would wait for its own caller, and
   the texts that hooks of its client carry.
2. When the call around it has its answer, or its run is to stop, the sub-run asks its
   model no more and begins no further body.
3. What comes out is never empty: a sub-run that has no answer says why.
4. A sub-run that was cancelled while a body of it was given up is not said to be
   stopped: its call is as abandoned as that body.

The matching page is docs/how-to/sub-runs.md.
"""

from __future__ import annotations

import asyncio

from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from functools import partial
from typing import Any, TypeAlias, final

from .._calls import Fate
from .._carriers import carry_over
from .._context import (
    AROUND,
    CallFacts,
    ToolContext,
    current_context,
    facts_of,
    held_here,
)
from .._decl import tool
from .._errors import is_fatal
from .._isolation import DaemonExecutor, LeftRunning, in_context
from .._policy import shown
from .._runtime import Incoming
from .._texts import type_names
from .._turns import LoopResult, Model, ModelRequest, Stop, StopReason, Turn
from ..exceptions import DeclarationError, SubRunError, ToolError
from ..telemetry import Hook


OnEnd: TypeAlias = Callable[[LoopResult], object]
Run: TypeAlias = Callable[[str, Stop, object, OnEnd], Awaitable[LoopResult]]
Apart: TypeAlias = Callable[[str], Awaitable[LoopResult]]
TaskTool: TypeAlias = Callable[[str], Awaitable[str]]
TasksTool: TypeAlias = Callable[[list[str]], Awaitable[list[dict[str, str]]]]

_ANSWERS = (StopReason.ANSWER, StopReason.RETURN_DIRECT)


def task_tool(
    run: Run,
    hooks: tuple[Hook, ...],
    name: str,
    description: str,
    options: Mapping[str, Any],
) -> TaskTool:
    """
    Return a tool that runs one task, with *hooks* to watch it.
    """

    async def run_task(task: str) -> str:
        """
        Run a task.

        Args:
            task: What is to be done, in full: nothing else is known where it is done.
        """
        return _words(name, await _apart(run, hooks, task))

    return tool(name=name, description=description, **options)(run_task)


def tasks_tool(
    run: Run,
    hooks: tuple[Hook, ...],
    name: str,
    description: str,
    options: Mapping[str, Any],
    *,
    max_concurrency: int,
    stop_on: tuple[type[BaseException], ...],
) -> TasksTool:
    """
    Return a tool that runs several tasks at once.

    Args:
        max_concurrency: How many run at once at most.
        stop_on: What leaves a sub-run as it is.

    Raises:
        DeclarationError: *max_concurrency* is no whole number from 1.
    """
    if type(max_concurrency) is not int or max_concurrency < 1:
        raise DeclarationError(
            "fan_out(max_concurrency=...) takes a whole number from 1, got "
            f"{shown(max_concurrency)}."
        )

    async def run_tasks(tasks: list[str]) -> list[dict[str, str]]:
        """
        Run tasks.

        Args:
            tasks: What is to be done, each in full: nothing else is known where it is
                done, and none knows of the others.
        """
        if not tasks:
            raise ToolError("There is no task in it. Send at least one.")
        apart = partial(_apart, run, hooks)
        window, left = asyncio.Semaphore(max_concurrency), list[str]()

        async def one(number: int, task: str) -> dict[str, str]:
            label = f"{name}-{number}"
            async with window:
                try:
                    return await _contained(apart, label, task, stop_on)
                except LeftRunning:
                    left.append(label)
                    raise

        running = [
            asyncio.create_task(one(number, task))
            for number, task in enumerate(tasks, start=1)
        ]
        try:
            return await asyncio.gather(*running)
        except asyncio.CancelledError as error:
            if left:
                raise LeftRunning from error
            raise
        finally:
            for child in running:
                child.cancel()

    return tool(name=name, description=description, **options)(run_tasks)


async def _contained(
    apart: Apart, name: str, task: str, stop_on: tuple[type[BaseException], ...]
) -> dict[str, str]:
    """
    Run one task of several; what it fails with is its own outcome.
    """
    try:
        result = await apart(task)
        status, text = result.stop_reason.value, _words(name, result)
    except SubRunError as error:
        status, text = error.stop_reason, str(error)
    except (Exception, SystemExit) as error:  # the others have nothing to do with it
        if is_fatal(error, stop_on):
            raise
        kinds = ", ".join(type_names(error))
        status, text = "failed", f"The sub-run {name!r} failed: {kinds}."

    return {"name": name, "status": status, "text": text}


async def _apart(run: Run, hooks: tuple[Hook, ...], task: str) -> LoopResult:
    """
    Run one task in a context of its own, for as long as the call around it goes on.
    """
    parent = current_context()
    facts = CallFacts("", {})
    facts.holds = held_here()
    variables = Context()
    variables.run(AROUND.set, facts)
    carry_over(hooks, variables)
    deps = None if parent is None else parent.deps
    ends: list[LoopResult] = []

    async def run_here() -> None:
        await run(task, _Parent(parent), deps, ends.append)

    try:
        await in_context(run_here(), variables)
    except asyncio.CancelledError as error:
        left = (one.fate is Fate.ABANDONED for end in ends for one in end.results)
        if any(left):
            raise LeftRunning from error
        raise

    return ends[0]


@final
class _Parent:
    """
    Whether the call around a sub-run goes on.
    """

    __slots__ = ("_context",)

    def __init__(self, context: ToolContext | None) -> None:
        self._context = context

    def is_set(self) -> bool:
        """
        Whether it has its answer, or its own run is to stop.
        """
        if self._context is None:
            return False
        facts = facts_of(self._context)
        stopped = isinstance(facts, Incoming) and facts.is_stopped

        return self._context.cancelled or stopped


@final
class Threaded:
    """
    A model that only answers sync code, asked from async code on a thread of its own.
    """

    __slots__ = ("_model",)

    def __init__(self, model: Model) -> None:
        self._model = model

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn.
        """
        return self._model.respond(request)

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the model's next turn; a caller that is cancelled does not wait for it.
        """
        loop = asyncio.get_running_loop()

        return await loop.run_in_executor(DaemonExecutor(), self.respond, request)


def in_async(model: Model) -> Model:
    """
    Return a model that async code can ask.
    """
    given: object = getattr(model, "arespond", None)

    return model if callable(given) else Threaded(model)


def _words(name: str, result: LoopResult) -> str:
    """
    Return what a sub-run has to say.

    Raises:
        SubRunError: It has no answer.
    """
    if result.stop_reason not in _ANSWERS:
        why = _why(result)
        raise SubRunError(
            name=name, stop_reason=result.stop_reason.value, why=why, result=result
        )
    if not result.text.strip():
        return f"The sub-run {name!r} ended without a word."
    if result.truncated:
        return (
            f"{result.text}\n(Here the answer of {name!r} was cut off by its length.)"
        )

    return result.text


def _why(result: LoopResult) -> str:
    match result.stop_reason:
        case StopReason.MAX_TURNS:
            turns = "its 1 turn" if result.turns == 1 else f"its {result.turns} turns"
            return f"has used up {turns}"
        case StopReason.BUDGET:
            return f"was ended by its budget ({result.stopped_by})"
        case StopReason.REPEATS:
            return "made the same call again and again"
        case StopReason.SUSPENDED:
            calls = () if result.suspension is None else result.suspension.calls
            names = ", ".join(dict.fromkeys(repr(call.name) for call in calls))
            return f"waits for what is decided elsewhere about its call of {names}"
        case _:
            return "was stopped"
