"""
From ``MODULE[:OBJECT]`` to a client, with every way in which that can go wrong said.
"""

from __future__ import annotations

import importlib
import os
import sys

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType
from typing import final

from .. import DeclarationError, ToolClient, ToolSpec, meta_of, tools_in
from ..engines import Engine
from ..filters import Approval, Approver, TerminalApprover
from ..telemetry import Hook
from ._files import NotThereError, import_file
from ._foreign import failure, foreign, misuse
from ._plain import is_listed
from ._words import plain


_MOST = 5  # names to choose from


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
                raise misuse(
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
        raise misuse(f"{target!r} is not MODULE[:OBJECT].")

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
                raise failure(str(reason)) from None
        if not all(place.split(".")):
            raise failure(f"{place!r} is neither a dotted module nor a .py file.")
        try:
            return importlib.import_module(place)
        except ModuleNotFoundError as error:
            missing = error.name or ""
            if not f"{place}.".startswith(f"{missing}."):
                raise
            if _is_file(place):
                raise failure(f"{place} is not a .py file.") from None
            raise failure(
                f"There is no module {missing!r}, neither in {here} nor installed in "
                f"{sys.prefix}."
            ) from None


def _all_of(module: ModuleType, target: str) -> tuple[object, ...]:
    with foreign(f"{target} names no tools"):
        try:
            return tools_in(module)
        except DeclarationError as error:
            # A file may be imported under a name that nobody has typed.
            reason = str(error).replace(
                f"module {module.__name__}", f"module {target}", 1
            )
            raise failure(
                f"{target} names no tools: {reason}{_else_in(module, target)}"
            ) from None


def _else_in(module: ModuleType, target: str) -> str:
    """
    Say what else there is to name in a module that defines no tools.
    """
    found = vars(module).items()
    clients = [f"{target}:{name}" for name, x in found if isinstance(x, ToolClient)]
    tools = [
        f"{target}:{name}"
        for name, x in found
        if isinstance(x, ToolSpec) or _is_tool(x)
    ]
    if clients:
        return f" It holds a client: say {_either(clients)}."
    if tools:
        return f" What it imports is named one by one: say {_either(tools)}."

    return ""


def _either(names: Sequence[str]) -> str:
    return " or ".join(names[:_MOST])


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
                raise failure(f"{target}: there is no {part!r}.{hint}") from None

    return found


def _listed(found: object, target: str) -> tuple[object, ...]:
    """
    Return the tools of a list, or one tool as such.
    """
    if isinstance(found, ToolSpec) or _is_tool(found):
        return (found,)
    if not is_listed(found):
        kind = type(found).__name__
        raise failure(f"{target} is neither a client nor a list of tools, but: {kind}.")
    with foreign(f"{target} cannot be read"):
        tools = tuple(found)
    if not tools:
        raise failure(f"There is no tool in {target}: it is empty.")

    return tools


def _is_tool(found: object) -> bool:
    if not callable(found):
        return False
    try:
        meta_of(found)
    except DeclarationError:
        return False

    return True


def _tell(line: str) -> None:
    import click

    click.echo(plain(line), err=True)
