"""
Several tools at once: those of a module, and any tools under a prefix.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from types import FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, final

from ._declared import carrier_in, declared_of
from ._signature import innermost, is_wrapper
from ._spec import ToolSpec
from .exceptions import DeclarationError


if TYPE_CHECKING:
    _Entries = tuple[object, ...]
else:
    _Entries = tuple


@final
class ToolGroup(_Entries):
    """
    Entries of a client's list that stand there as one.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<ToolGroup of {len(self)} tools>"


def tools_in(module: ModuleType) -> ToolGroup:
    """
    Return the tools that are defined in *module*, in the order of their definition.

    Where the module has ``__all__``, these are the tools that it names, wherever they
    were defined. A `functools.partial` counts as defined where its function is.

    Raises:
        DeclarationError: It is not a module, or there is no tool in it.
    """
    given: object = module
    if not isinstance(given, ModuleType):
        raise DeclarationError(
            f"tools_in takes a module, got {type(given).__name__}. List other tools one "
            "by one."
        )
    named = vars(module).get("__all__")
    if named is None:
        found = [x for x in vars(module).values() if _module_of(x) == module.__name__]
    else:
        found = [x for x in _named(module, named) if _module_of(x) is not None]
    if not found:
        raise DeclarationError(f"There is no tool in the module {module.__name__}.")

    return ToolGroup({id(tool): tool for tool in found}.values())


def prefixed(prefix: str, tools: Iterable[object]) -> ToolGroup:
    """
    Return *tools* under the names ``prefix_name``, for tools of several origins.

    Args:
        prefix: What comes before the names, without the underscore between.
        tools: What a client's list may hold; groups of tools too.

    Raises:
        DeclarationError: An entry is not a tool, or a name does not fit with the prefix.
    """
    given: object = prefix
    if not isinstance(given, str) or not given:
        raise DeclarationError(f"prefixed takes a text to put first, got {given!r}.")
    if isinstance(tools, (str, ModuleType)) or not isinstance(tools, Iterable):
        raise DeclarationError(
            f"prefixed takes a list of tools, got {type(tools).__name__}."
        )

    return ToolGroup(
        replace(tool, meta=replace(tool.meta, name=f"{prefix}_{tool.meta.name}"))
        for tool in map(declared_of, flat(tools))
    )


def flat(tools: Iterable[object]) -> Iterator[object]:
    """
    Yield the entries of a client's list, and those of the groups in it.
    """
    for entry in tools:
        if isinstance(entry, ToolGroup):
            yield from flat(entry)
        else:
            yield entry


def _named(module: ModuleType, names: Iterable[Any]) -> Iterator[object]:
    """
    Yield what ``__all__`` names, in the order of definition; what is made late is last.
    """
    wanted = set(names)
    own = vars(module)
    yield from (value for name, value in own.items() if name in wanted)
    for name in sorted(wanted - own.keys()):
        try:
            yield getattr(module, name)
        except AttributeError:
            raise DeclarationError(
                f"The module {module.__name__} names {name!r} in __all__ and has no such "
                "attribute."
            ) from None


def _module_of(value: object) -> str | None:
    """
    Return the module in which a tool is defined, or None for what is no tool.

    Whatever a module may hold is looked at from outside only, without running its code.
    """
    if isinstance(value, ToolSpec):
        return value.module
    layered = issubclass(type(value), (FunctionType, MethodType, partial))
    if not (layered or is_wrapper(value)) or carrier_in(value) is None:
        return None
    module: str | None = getattr(innermost(value), "__module__", None)

    return module
