"""
The one table of a client's tools: assembled once, never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn, TypeAlias, final

from ._build import ToolDefinition, build
from ._context import ToolContext
from ._declared import Declared, declared_of
from ._groups import flat
from ._meta import ToolMeta
from ._records import record
from ._refs import place_of, type_of
from .exceptions import DeclarationError, DuplicateToolError


__all__ = ["ToolEntry", "ToolTable"]

# An entry and its place in what was given; None where it is of a table already.
Placed: TypeAlias = tuple[int | None, object]


@final
@record(frozen=True, slots=True, kw_only=True, eq=False)
class ToolEntry:
    """
    One tool of a table.

    Attributes:
        meta: What was declared about it.
        definition: What a model is shown of it.
        validate: From arguments, as JSON text and parsed, to values by parameter;
            raises InvalidArgumentsError.
        call: Runs the body with such values, the context filled in where it is asked
            for; what it returns may have to be awaited or iterated.
        declared: Where it came from.
    """

    meta: ToolMeta
    definition: ToolDefinition
    validate: Callable[[str, dict[str, Any]], dict[str, Any]]
    call: Callable[[dict[str, Any], ToolContext], object]
    declared: Declared

    def __repr__(self) -> str:
        return f"<ToolEntry {self.meta.name}>"


@final
class ToolTable(Mapping[str, ToolMeta]):
    """
    What was declared, by name, in the order in which the tools were given.

    `assemble` makes one; nothing changes it afterwards.
    """

    __slots__ = ("_entries",)

    _entries: dict[str, ToolEntry]

    def __init__(self, entries: Iterable[ToolEntry] = ()) -> None:
        held = {entry.meta.name: entry for entry in entries}
        object.__setattr__(self, "_entries", held)

    @classmethod
    def assemble(cls, tools: Iterable[object]) -> ToolTable:
        """
        Make the table of *tools*.

        Args:
            tools: Decorated functions, also bound or wrapped, `ToolSpec`, and what
                `tools_in` and `prefixed` return.

        Raises:
            DuplicateToolError: Tools have the same name; raised before any other fault.
            DeclarationError: An entry is not a tool, or one that a model can be offered;
                several faults come as one ExceptionGroup.
        """
        return _whole(*read_tools(tools))

    def entry(self, name: str) -> ToolEntry:
        """
        Return all about one tool.

        Raises:
            KeyError: There is no tool of that name.
        """
        return self._entries[name]

    def entries(self) -> tuple[ToolEntry, ...]:
        """
        Return all tools in the order in which they were given.
        """
        return tuple(self._entries.values())

    def adding(self, *tools: object) -> ToolTable:
        """
        Return a table with *tools* at the end.

        Raises:
            DuplicateToolError: One of them has a name that is taken.
            DeclarationError: One of them is not a tool.
        """
        return _whole(*read_more(self, tools))

    def replacing(self, tool: object) -> ToolTable:
        """
        Return a table with *tool* in the place of the tool of the same name.

        Raises:
            DeclarationError: There is no tool of that name.
        """
        declared = declared_of(tool)
        name = declared.meta.name
        if name not in self._entries:
            self._refuse_unknown(name)

        return _whole(
            *_assembled(
                _known(
                    declared if entry.meta.name == name else entry
                    for entry in self.entries()
                )
            )
        )

    def without(self, name: str) -> ToolTable:
        """
        Return a table without the tool *name*.

        Raises:
            DeclarationError: There is no tool of that name.
        """
        if name not in self._entries:
            self._refuse_unknown(name)

        return ToolTable(e for e in self.entries() if e.meta.name != name)

    def _refuse_unknown(self, name: object) -> NoReturn:
        near = get_close_matches(str(name), self._entries, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise DeclarationError(f"There is no tool named {name!r} in the table.{hint}")

    def __getitem__(self, name: str) -> ToolMeta:
        return self._entries[name].meta

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A table never changes: make another one.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A table never changes: make another one.")

    def __copy__(self) -> ToolTable:
        return self

    def __deepcopy__(self, memo: object) -> ToolTable:
        return self

    def __repr__(self) -> str:
        count = len(self)

        return f"<ToolTable of {count} tool{'' if count == 1 else 's'}>"


def read_tools(tools: Iterable[object]) -> tuple[ToolTable, list[DeclarationError]]:
    """
    Return the table of those that can be offered, and what is wrong with the others.

    Raises:
        DuplicateToolError: Tools have the same name, whatever else is wrong.
    """
    given: object = tools
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        rule = "The tools are given as a list, got "

        return ToolTable(), [DeclarationError(f"{rule}{type_of(tools).__name__}.")]

    return _assembled(_placed(tools))


def read_more(
    table: ToolTable, tools: Iterable[object]
) -> tuple[ToolTable, list[DeclarationError]]:
    """
    Return a table with more of them at its end, and what is wrong with the others.

    Raises:
        DuplicateToolError: One of them has a name that is taken.
    """
    return _assembled([*_known(table.entries()), *_placed(tools)])


def _placed(tools: Iterable[object]) -> Iterator[Placed]:
    """
    Yield the entries of a list with their places in it; those of a group have its place.
    """
    for place, entry in enumerate(tools):
        for one in flat([entry]):
            yield place, one


def _known(entries: Iterable[object]) -> Iterator[Placed]:
    return ((None, entry) for entry in entries)


def _assembled(given: Iterable[Placed]) -> tuple[ToolTable, list[DeclarationError]]:
    """
    Make a table of entries that are built already and of tools that are not.
    """
    faults: list[DeclarationError] = []
    known: list[ToolEntry | Declared] = []
    try:
        for place, entry in given:
            try:
                one = entry if isinstance(entry, ToolEntry) else declared_of(entry)
                known.append(one)
            except DeclarationError as fault:
                fault.add_note(
                    f"It is entry {place} of what was given, counted from 0."
                )
                faults.append(fault)
    except DeclarationError as fault:  # of a generator that declares as it goes
        faults.append(fault)
    _refuse_duplicates([one.meta for one in known])
    entries: list[ToolEntry] = []
    for one in known:
        try:
            entries.append(one if isinstance(one, ToolEntry) else _entry_of(one))
        except DeclarationError as fault:
            faults.append(fault)

    return ToolTable(entries), faults


def _whole(table: ToolTable, faults: list[DeclarationError]) -> ToolTable:
    """
    Return a table in which all of what was given is.
    """
    if len(faults) > 1:
        raise ExceptionGroup(f"{len(faults)} of the tools cannot be offered.", faults)
    if faults:
        raise faults[0]

    return table


def _refuse_duplicates(metas: Sequence[ToolMeta]) -> None:
    sites: dict[str, list[str]] = {}
    for meta in metas:
        sites.setdefault(meta.name, []).append(place_of(meta.ref, meta.site))
    repeated = {name: places for name, places in sites.items() if len(places) > 1}
    if repeated:
        raise DuplicateToolError(by_name=repeated)


def _entry_of(declared: Declared) -> ToolEntry:
    built = build(declared)

    return ToolEntry(
        meta=declared.meta,
        definition=built.definition,
        validate=built.validate,
        call=built.call,
        declared=declared,
    )
