"""
Right use of the public names, as type checkers see it (R139): checked, never run.
"""

from __future__ import annotations

import abc
import contextlib
import functools

from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterator,
    Mapping,
)
from datetime import timedelta
from pathlib import Path
from typing import Any, Generic, TypeVar, assert_type, overload

from tooldecl import (
    UNSET,
    Budget,
    FileResultStore,
    Reducer,
    ResultStore,
    Retry,
    SqliteResultStore,
    ToolClient,
    ToolContext,
    ToolMeta,
    ToolSpec,
    ToolTable,
    meta_of,
    prefixed,
    tool,
    tools_in,
)
from tooldecl.engines import Engine
from tooldecl.report import Journal, Recorder, read_journal, render, write_report


T = TypeVar("T")


# -- functions: the type stays the function's own ------------------------------


@tool
def add(x: int, y: int = 2) -> int:
    return x + y


@tool(name="other", timeout=5, retry=3)
def subtract(x: int, *, y: int = 2) -> int:
    return x - y


@tool()
def nothing() -> None: ...


@tool
async def fetch(url: str) -> bytes:
    return url.encode()


@tool(timeout=timedelta(seconds=3), retry=Retry(attempts=2), tags=["web"])
async def fetch_text(url: str, ctx: ToolContext) -> str:
    return url + ctx.call_id


@tool
def items(n: int) -> Iterator[int]:
    yield n


@tool
async def later_items(n: int) -> AsyncIterator[int]:
    yield n


@tool
@contextlib.contextmanager
def opened(path: str) -> Generator[str]:
    yield path


@tool
def first(values: list[T]) -> T:
    return values[0]


@overload
def either(x: int) -> int: ...
@overload
def either(x: str) -> str: ...
@tool
def either(x: int | str) -> int | str:
    return x


async def functions() -> None:
    assert_type(add(1), int)
    assert_type(add(x=1, y=2), int)
    assert_type(subtract(1, y=2), int)
    nothing()
    assert_type(await fetch(url="u"), bytes)
    assert_type(list(items(3)), list[int])
    assert_type([n async for n in later_items(3)], list[int])
    assert_type(first(["a"]), str)
    assert_type(either(1), int)
    assert_type(either("a"), str)
    with opened("a") as path:
        assert_type(path, str)
    assert_type(add.__name__, str)
    assert_type(list(map(add, [1, 2])), list[int])


# -- methods, in both orders ---------------------------------------------------


class Shop:
    stock: int

    @tool
    def count(self, extra: int = 0) -> int:
        return self.stock + extra

    @tool(timeout=1)
    async def later(self, x: int) -> str:
        return str(self.stock * x)

    @tool
    @staticmethod
    def double(x: int) -> int:
        return 2 * x

    @staticmethod
    @tool
    def triple(x: int) -> int:
        return 3 * x

    @tool
    @classmethod
    def named(cls, x: int) -> Shop:
        return cls()

    @classmethod
    @tool
    def called(cls, x: int) -> Shop:
        return cls()

    @property
    @tool
    def size(self) -> int:
        return self.stock


class SpecialShop(Shop):
    @tool
    def count(self, extra: int = 0) -> int:
        return super().count(extra)

    def later(self, x: int) -> Any:
        return super().later(x)


class Box(Generic[T]):
    inside: T

    @tool
    def get(self) -> T:
        return self.inside


class Base(abc.ABC):
    @tool
    @abc.abstractmethod
    def act(self, x: int) -> int: ...


async def methods(shop: Shop, special: SpecialShop, box: Box[str], base: Base) -> None:
    assert_type(shop.count(), int)
    assert_type(shop.count(extra=1), int)
    assert_type(await shop.later(1), str)
    assert_type(shop.double(1), int)
    assert_type(Shop.double(x=1), int)
    assert_type(Shop.triple(1), int)
    assert_type(Shop.named(1), Shop)
    assert_type(shop.called(x=1), Shop)
    assert_type(Shop.count(shop, 1), int)
    assert_type(shop.size, int)
    assert_type(special.count(1), int)
    assert_type(box.get(), str)
    assert_type(base.act(1), int)


# -- callables of other kinds --------------------------------------------------


class Search:
    def __call__(self, q: str) -> list[str]:
        return [q]


search = tool(name="search")(Search())
add_five = tool(name="add_five")(functools.partial(add, 5))


@functools.cache
@tool
def cached(x: int) -> int:
    return x


def callables() -> None:
    assert_type(search, Search)
    assert_type(search(q="a"), list[str])
    assert_type(add_five(y=1), int)
    assert_type(cached(1), int)


# -- the record and the table --------------------------------------------------


def handle(arguments: dict[str, Any]) -> str:
    return str(arguments)


async def handle_later(arguments: Mapping[str, Any], ctx: ToolContext) -> str:
    return str(arguments)


spec = ToolSpec(
    name="spec",
    description="Do it.",
    input_schema={"type": "object"},
    handler=handle,
    timeout=5,
    retry=True,
    sensitive=True,
)
later_spec = ToolSpec(
    name="later", description="Do it.", input_schema={}, handler=handle_later
)


def records(shop: Shop) -> None:
    assert_type(meta_of(add), ToolMeta)
    assert_type(meta_of(shop.count).name, str)
    assert_type(meta_of(spec), ToolMeta)
    meta = meta_of(fetch)
    assert_type(meta.tags, tuple[str, ...])
    assert_type(meta.retry, Retry | None)
    if meta.timeout is not UNSET:
        assert_type(meta.timeout, float | None)
    table = ToolTable.assemble(
        [add, fetch, shop.count, spec, prefixed("x", [add, spec]), tools_in(contextlib)]
    )
    assert_type(table, ToolTable)
    assert_type(table["add"], ToolMeta)
    assert_type(list(table), list[str])
    assert_type(table.adding(add, spec).replacing(add).without("add"), ToolTable)


# -- what happened -----------------------------------------------------------------


def watch(client: ToolClient, journal: Journal) -> None:
    recorder = Recorder(contents=True)
    assert_type(client.telling(recorder, journal, print), ToolClient)
    assert_type(list(recorder), list[Mapping[str, object]])
    assert_type(journal.path, Path)
    assert_type(render(recorder), str)
    assert_type(render(read_journal(journal.path), title="Run"), str)
    assert_type(render("run.jsonl"), str)
    assert_type(write_report("run.html", recorder), Path)


# -- budgets, state and stores ---------------------------------------------------


class OwnStore:
    def put(self, key: str, text: str) -> str:
        return key

    def get(self, key: str) -> str:
        return key


def added(old: int, new: int) -> int:
    return old + new


def limits(store: ResultStore) -> None:
    budget = Budget(calls=1, per_tool={"add": 1}, seconds=timedelta(seconds=1))
    assert_type(budget.calls, int | None)
    assert_type(budget.duration, float | None)
    assert_type(store.get(store.put("c", "text")), str)
    reducers = {
        "n": Reducer(0, added),
        "log": Reducer([], lambda old, new: [*old, new]),
    }
    client = ToolClient([add], budget=budget, reducers=reducers, store=OwnStore())
    assert_type(client.engine, Engine)
    assert_type(client.store, ResultStore | None)
    if client.meter is not None:
        assert_type(client.meter.calls, int)
        assert_type(client.meter.per_tool, dict[str, int])


limits(FileResultStore("results"))
limits(SqliteResultStore("results.db"))


def as_values(
    function: Callable[[int], int], later: Callable[[str], Awaitable[bytes]]
) -> None: ...


as_values(add, fetch)
as_values(Shop().count, fetch)
