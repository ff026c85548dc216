"""
From ``MODULE[:OBJECT]`` to a client, with every way in which that can go wrong said.
"""

from __future__ import annotations

import importlib
import os
import sys
import traceback

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, final

from .. import DeclarationError, ToolClient, ToolSpec, meta_of, tools_in
from ..engines import Engine
from ..filters import Approval, Approver, TerminalApprover
from ..telemetry import Hook
from ._files import NotThereError, import_file
from ._plain import is_listed
from ._words import plain


if TYPE_CHECKING:
    import click


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    What a target names: a client, or tools of which one can be made.

    Attributes:
        target: As it was typed.
        given: The client that it names, or None.
        tools: The tools, where it names no client.
    """

    target: str
    given: ToolClient | None
    tools: tuple[object, ...]

    def client(
        self,
        *,
        engine: Engine | None = None,
        approver: Approver | None = None,
        hooks: Iterable[Hook] = (),
    ) -> ToolClient:
        """
        Return the client that was named, or one of the tools.

        Args:
            engine: The engine of a client that is made here.
            approver: Decides about its sensitive tools; without one, whoever sits at
                the terminal is asked, and where nobody does, they are refused.
            hooks: Its hooks.

        Raises:
            click.UsageError: A client was named, which has all that already.
            click.ClickException: No client can be made of the tools.
        """
        if self.given is not None:
            if engine is not None or approver is not None or tuple(hooks):
                raise _misuse(
                    f"{self.target} is a client: its engine, its filters and its hooks "
                    "are its own. To choose others, name a list of tools, or the module."
                )
            return self.given
        ask = TerminalApprover(tell=_tell) if approver is None else approver
        with foreign(f"No client can be made of {self.target}"):
            return ToolClient(
                self.tools, engine=engine, filters=[Approval(ask)], hooks=hooks
            )


def load(target: str) -> ToolClient:
    """
    Return the client that ``MODULE[:OBJECT]`` names, or one of the tools that it names.

    Raises:
        click.ClickException: There is none; the message says why.
    """
    return find(target).client()


def find(target: str) -> Found:
    """
    Import what ``MODULE[:OBJECT]`` names, and say which it is.

    Args:
        target: A dotted module or the path to a ``.py`` file, and after a colon the
            name of a client, of a list of tools or of one tool; without one, every
            tool of the module is meant.

    Raises:
        click.UsageError: It is no target at all.
        click.ClickException: There is no such thing; the message says why.
    """
    place, name = _split(target)
    module = _imported(place)
    if not name:
        return Found(target=target, given=None, tools=_all_of(module, target))
    found = _object(module, name, target)
    if isinstance(found, ToolClient):
        return Found(target=target, given=found, tools=())

    return Found(target=target, given=None, tools=_listed(found, target))


def _split(target: str) -> tuple[str, str]:
    """
    Return the module and the object, which may be none; a path may have colons itself.
    """
    if _is_file(target):
        return target, ""
    place, colon, name = target.rpartition(":")
    if not colon:
        return target, ""
    if not place or not name:
        raise _misuse(f"{target!r} is not MODULE[:OBJECT].")

    return place, name


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except OSError:  # it is too long for a path
        return False


def _imported(place: str) -> ModuleType:
    """
    Import a file or a dotted module; the current folder is looked into first.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    with foreign(f"Importing {place} failed"):
        if place.endswith(".py") or os.sep in place:
            try:
                return import_file(place)
            except NotThereError as reason:
                raise _failure(str(reason)) from None
        if not all(place.split(".")):
            raise _failure(f"{place!r} is neither a dotted module nor a .py file.")
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if not f"{place}.".startswith(f"{missing}."):
                raise
            raise _failure(
                f"There is no module {missing!r}, neither in {here} nor installed in "
                f"{sys.prefix}."
            ) from None


def _all_of(module: ModuleType, target: str) -> tuple[object, ...]:
    with foreign(f"{target} names no tools"):
        try:
            return tools_in(module)
        except DeclarationError as error:
            clients = [n for n, x in vars(module).items() if isinstance(x, ToolClient)]
            if not clients:
                raise
            named = " or ".join(f"{target}:{name}" for name in clients)
            raise _failure(f"{error} It holds a client: say {named}.") from None


def _object(module: ModuleType, name: str, target: str) -> object:
    found: object = module
    for part in name.split("."):
        with foreign(f"{target} cannot be read"):
            try:
                found = getattr(found, part)
            except AttributeError:
                names = [n for n in dir(found) if not n.startswith("__")]
                near = get_close_matches(part, names, n=1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise _failure(f"{target}: there is no {part!r}.{hint}") from None

    return found


def _listed(found: object, target: str) -> tuple[object, ...]:
    """
    Return the tools of a list, or one tool as such.
    """
    if isinstance(found, ToolSpec) or _is_tool(found):
        return (found,)
    if not is_listed(found):
        kind = type(found).__name__
        raise _failure(
            f"{target} is neither a client nor a list of tools, but: {kind}."
        )
    with foreign(f"{target} cannot be read"):
        tools = tuple(found)
    if not tools:
        raise _failure(f"There is no tool in {target}: it is empty.")

    return tools


def _is_tool(found: object) -> bool:
    if not callable(found):
        return False
    try:
        meta_of(found)
    except DeclarationError:
        return False

    return True


@contextmanager
def foreign(what: str) -> Generator[None, None, None]:
    """
    Turn whatever the code of others raises into a message that begins with *what*.

    Raises:
        click.ClickException: In the place of what was raised.
        KeyboardInterrupt, MemoryError: As they are.
    """
    import click

    try:
        yield
    except (click.ClickException, MemoryError, KeyboardInterrupt):
        raise
    except ExceptionGroup as group:
        faults = "".join(f"\n  {summary(error)}" for error in group.exceptions)
        raise _failure(f"{what}: {group.message}{faults}") from group
    except BaseException as error:
        raise _failure(f"{what}: {summary(error)}") from error


def summary(error: BaseException) -> str:
    """
    Say what was raised, and where in code that is neither ours nor Python's import.
    """
    words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, DeclarationError):
        words = str(error)
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", importlib.__file__, _PACKAGE))
    ]

    return f"{words} ({frames[-1].filename}:{frames[-1].lineno})" if frames else words


_PACKAGE = f"{Path(__file__).parent.parent}{os.sep}"


def _tell(line: str) -> None:
    import click

    click.echo(plain(line), err=True)


def _failure(text: str) -> click.ClickException:
    import click

    return click.ClickException(plain(text, lines=True))


def _misuse(text: str) -> click.UsageError:
    import click

    return click.UsageError(plain(text))
