"""
Mistakes that type checkers find (R139), each on a line that ignores exactly its error.
"""

from __future__ import annotations

from tooldecl import (
    Budget,
    Reducer,
    Retry,
    ToolClient,
    ToolSpec,
    ToolTable,
    meta_of,
    prefixed,
    tool,
    tools_in,
)


@tool
def add(x: int, y: int = 2) -> int:
    return x + y


@tool(timeout=5)
async def fetch(url: str) -> bytes:
    return url.encode()


class Shop:
    @tool
    def count(self, extra: int = 0) -> int:
        return extra

    @tool
    @staticmethod
    def double(x: int) -> int:
        return 2 * x


class WrongShop(Shop):
    @tool
    def count(self, extra: str = "") -> int:  # type: ignore[override]  # pyright: ignore[reportIncompatibleMethodOverride]
        return len(extra)


# -- options -------------------------------------------------------------------

tool(timeuot=5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
tool(timeout="5")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool(name=5)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool(retry="3")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool(serial=None)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool(isolation="fork")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool(coerce="lax")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool("name")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
tool(add, name="b")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
tool(3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
Retry(max_retries=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Retry(3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]

# -- budgets, state and stores ---------------------------------------------------

Budget(3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Budget(call=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Budget(calls="3")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Reducer(0)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
Reducer(0, 0)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ToolClient([add], budget=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ToolClient([add], store="results")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# -- calls ---------------------------------------------------------------------

add("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
add()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
add(1, 2, 3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
add(z=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
text: str = add(1)  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
Shop().count("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
Shop.double("a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def calls() -> None:
    await add(1)  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
    (await fetch("u")).upper().encode()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    fetch("u").decode()  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


# -- the record and the table --------------------------------------------------

meta_of(add).timeout = 5  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
assert meta_of(add).timeuot  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
meta_of("add")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ToolTable.assemble([add])["add"] = meta_of(add)  # type: ignore[index]  # pyright: ignore[reportIndexIssue]
ToolTable.assemble(5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
ToolSpec(name="a", description="b", input_schema={}, handler=add, timeuot=5)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ToolSpec(name="a", description="b", input_schema={})  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
ToolSpec(name="a", description="b", input_schema={}, handler=5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
prefixed(5, [add])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
tools_in([add])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
add.timeout = 5  # type: ignore[attr-defined]  # pyright: ignore[reportFunctionMemberAccess]
