"""
Stand-ins with a script: a model that answers, and somebody who decides.
"""

from __future__ import annotations

import reprlib
import threading

from collections.abc import Iterable
from typing import Generic, TypeVar, final, get_args

from .. import ModelRequest, ToolRequest, Turn
from ..filters import Decision


T = TypeVar("T")


class _Script(Generic[T]):
    """
    Lines that are said one after another, each once.
    """

    def __init__(
        self,
        lines: Iterable[T | Exception],
        whose: str,
        unit: str,
        kinds: tuple[type, ...],
    ) -> None:
        self._lines = list(lines)
        for line in self._lines:
            if not isinstance(line, (*kinds, Exception)):
                raise TypeError(
                    f"The script of this {whose} has {unit}s and exceptions, "
                    f"got {reprlib.repr(line)}."
                )
        self._whose, self._unit = whose, unit
        self._lock = threading.Lock()
        self._said = 0

    def next(self) -> T:
        with self._lock:
            self._said += 1
            count = self._said
        if count > len(self._lines):
            raise AssertionError(
                f"The script of this {self._whose} has {len(self._lines)} {self._unit}s "
                f"and it was asked for {self._unit} {count}."
            )
        line = self._lines[count - 1]
        if isinstance(line, Exception):
            raise line

        return line

    def check_over(self) -> None:
        left = len(self._lines) - self._said
        if left > 0:
            raise AssertionError(
                f"The script of this {self._whose} has {len(self._lines)} {self._unit}s "
                f"and it was asked for {self._said}: {left} are left."
            )


@final
class ScriptedModel:
    """
    A model that answers from a script.

    Args:
        script: Its turns, in order; an exception in it is raised in its place.

    Attributes:
        requests: Every request it got, in order.

    Raises:
        TypeError: An entry of the script is something else.
    """

    def __init__(self, script: Iterable[Turn | Exception]) -> None:
        self._script = _Script(script, "model", "turn", (Turn,))
        self.requests: list[ModelRequest] = []

    def respond(self, request: ModelRequest, /) -> Turn:
        """
        Return the next turn of the script.

        Raises:
            AssertionError: The script is over.
        """
        self.requests.append(request)

        return self._script.next()

    async def arespond(self, request: ModelRequest, /) -> Turn:
        """
        Return the next turn of the script; as `respond`.
        """
        return self.respond(request)

    def assert_complete(self) -> None:
        """
        Fail when the model was not asked for every turn of its script.

        Raises:
            AssertionError: It says how many are left.
        """
        self._script.check_over()


@final
class ScriptedApprover:
    """
    An approver that decides from a script: ``Approval(ScriptedApprover([Approved()]))``.

    A script that is over fails the question, as any approver's error does: the call is
    ``guard_failed``, and the log says why.

    Args:
        script: Its decisions, in order; an exception in it is raised in its place.

    Attributes:
        requests: Every request it was asked about, in order.

    Raises:
        TypeError: An entry of the script is something else.
    """

    def __init__(self, script: Iterable[Decision | Exception]) -> None:
        self._script = _Script[Decision](
            script, "approver", "decision", get_args(Decision)
        )
        self.requests: list[ToolRequest] = []

    def __call__(self, request: ToolRequest, /) -> Decision:
        self.requests.append(request)

        return self._script.next()

    def assert_complete(self) -> None:
        """
        Fail when the approver was not asked for every decision of its script.

        Raises:
            AssertionError: It says how many are left.
        """
        self._script.check_over()
