"""
Which tools of a server are taken, and what is declared about them here.
"""

from __future__ import annotations

import math
import sys

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, final

from ... import DeclarationError, ToolSpec
from ._forms import JSON, Given


if TYPE_CHECKING:
    from mcp.types import Tool


# Options that say where a body runs or who runs it: here it is always the server.
_NOT_HERE = ("external", "isolation")
_TAKEN = frozenset(field.name for field in fields(ToolSpec) if field.init)
_OURS = ("description", "handler", "input_schema")


def names_of(option: str, given: Iterable[str]) -> frozenset[str]:
    if isinstance(given, str):
        raise TypeError(f"{option} takes a list of names, got one text.")

    return frozenset(given)


def checked_seconds(given: object) -> float:
    """
    Return how long a connection may take to be made.

    Raises:
        DeclarationError: It is no number above 0.
    """
    number = given if isinstance(given, (int, float)) else math.nan
    if not isinstance(given, bool) and 0 < number <= sys.float_info.max:
        return float(number)

    raise DeclarationError(
        f"tools_from_mcp(connect_within=...) takes seconds above 0, got {given!r}."
    )


@final
class Chosen:
    """
    Which tools are taken, and with which options.
    """

    def __init__(
        self,
        *,
        options: Mapping[str, Given],
        defaults: Given,
        include: frozenset[str] | None,
        exclude: frozenset[str],
    ) -> None:
        for given in (defaults, *options.values()):
            _check_options(given)
        if "name" in defaults:
            raise DeclarationError("defaults: no two tools can have one name.")
        _try("defaults=...", defaults)
        for name, given in options.items():
            _try(f"options={{{name!r}: ...}}", given)
        self._options = options
        self._defaults = defaults
        self._include = include
        self._exclude = exclude

    def among(self, tools: Iterable[Tool]) -> list[Tool]:
        """
        Return the tools that are taken.

        Raises:
            DeclarationError: A name was given that no tool of the server has, or
                options were for a tool that is not taken.
        """
        listed = {tool.name: tool for tool in tools}
        named = {*self._options, *self._exclude, *(self._include or ())}
        if unknown := sorted(named - set(listed)):
            raise DeclarationError(
                f"The server has no tool named {', '.join(map(repr, unknown))}. It has: "
                f"{', '.join(map(repr, sorted(listed)[:20])) or 'none'}."
            )

        taken = set(listed) if self._include is None else {*self._include}
        taken -= self._exclude
        if idle := sorted(set(self._options) - taken):
            raise DeclarationError(
                f"Options are given for {', '.join(map(repr, idle))}, but include and "
                "exclude leave it out."
            )

        return [tool for name, tool in listed.items() if name in taken]

    def options_of(self, name: str) -> JSON:
        """
        Return the options of one tool.
        """
        return {**self._defaults, **self._options.get(name, {})}


def _check_options(given: Given) -> None:
    for option in _NOT_HERE:
        if option in given:
            raise DeclarationError(
                f"{option} means nothing for a tool of a server: the server runs it."
            )
    for option in _OURS:
        if option in given and option != "description":
            raise DeclarationError(f"{option} comes from the server.")


def _try(where: str, given: Given) -> None:
    """
    Declare a tool with some options, to know of their faults before there is a server.
    """
    declared: JSON = {"name": "tried", "description": "Tried.", **given}
    owner = f"tools_from_mcp({where})"
    unknown = [option for option in given if option not in _TAKEN]
    if unknown:
        raise DeclarationError(f"{owner}: there is no option {unknown[0]!r}.")
    try:
        ToolSpec(input_schema={"type": "object"}, handler=_nothing, **declared)
    except DeclarationError as error:
        rule = str(error).removeprefix(f"ToolSpec {declared['name']!r}: ")
        raise DeclarationError(f"{owner}: {rule}") from None


def _nothing(**_arguments: object) -> None:
    """
    Stand in for a body.
    """
