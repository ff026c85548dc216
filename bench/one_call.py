"""
What one call costs, as a ratio to its floor measured in the same run.

    python bench/one_call.py

The floor of a plain sync call is what nobody can leave out: the strict reader, the
validation of the same text, and the body. Rounds are interleaved and medians compared,
because single times say more about the machine than about the code.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time

from collections.abc import Callable

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from tooldecl import JSONLimits, Retry, ToolClient, tool
from tooldecl._strictjson import loads_strict


ROUNDS = 15
CALLS = 2_000

# Bytecode is cached, as it is wherever a package is installed.
CACHED = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

TEXT = '{"path": "some/long/file.txt", "limit": 30, "tags": ["alpha", "beta"]}'


class Arguments(TypedDict):
    path: str
    limit: int
    tags: list[str]


def body(path: str, limit: int, tags: list[str]) -> int:
    """Count."""
    return limit + len(tags)


plain = tool(name="plain")(body)
timed = tool(name="timed", timeout=60)(body)
retried = tool(name="retried", retry=Retry())(body)


@tool(name="awaited")
async def awaited(path: str, limit: int, tags: list[str]) -> int:
    """Count."""
    return limit + len(tags)


@tool(name="awaited_timed", timeout=60)
async def awaited_timed(path: str, limit: int, tags: list[str]) -> int:
    """Count."""
    return limit + len(tags)


def watch(request):
    result = yield request
    return result


def floor() -> Callable[[], object]:
    limits = JSONLimits()
    validate = TypeAdapter(Arguments).validate_json

    def run() -> object:
        loads_strict(TEXT, limits)
        return body(**validate(TEXT, strict=True, extra="forbid"))

    return run


def rows(client: ToolClient, filtered: ToolClient) -> dict[str, Callable[[], object]]:
    mapping = json.loads(TEXT)
    decode = json.loads

    return {
        "floor: strict reader + validation + body": floor(),
        "json.loads alone": lambda: decode(TEXT),
        "invoke, text": lambda: client.invoke("plain", TEXT),
        "invoke, mapping": lambda: client.invoke("plain", mapping),
        "invoke, retry declared": lambda: client.invoke("retried", TEXT),
        "invoke, one filter": lambda: filtered.invoke("plain", TEXT),
        "invoke, timeout declared": lambda: client.invoke("timed", TEXT),
        "invoke, async tool": lambda: client.invoke("awaited", TEXT),
    }


def per_call(run: Callable[[], object], calls: int) -> float:
    gc.collect()
    began = time.perf_counter()
    for _ in range(calls):
        run()

    return (time.perf_counter() - began) / calls * 1e6


async def per_await(client: ToolClient, name: str, calls: int) -> float:
    gc.collect()
    began = time.perf_counter()
    for _ in range(calls):
        await client.ainvoke(name, TEXT)

    return (time.perf_counter() - began) / calls * 1e6


def imports() -> dict[str, float]:
    """
    Return the median seconds of imports in fresh interpreters, interleaved.
    """
    statements = [
        "import pydantic, asyncio",
        "import pydantic, asyncio; pydantic.TypeAdapter",
        "import tooldecl",
        "from tooldecl import tool",
        "from tooldecl import tool, ToolClient",
    ]
    times: dict[str, list[float]] = {name: [] for name in statements}
    for _ in range(ROUNDS):
        for statement in statements:
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, env=CACHED)
            times[statement].append(time.perf_counter() - began)

    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    tools = [plain, timed, retried, awaited, awaited_timed]
    with ToolClient(tools) as client, ToolClient(tools, filters=[watch]) as filtered:
        runs = rows(client, filtered)
        times: dict[str, list[float]] = {name: [] for name in runs}
        times |= {"ainvoke, async tool": [], "ainvoke, async tool, timeout": []}
        for _ in range(ROUNDS):
            for name, run in runs.items():
                times[name].append(per_call(run, CALLS // 10))
            for name, tool_name in (
                ("ainvoke, async tool", "awaited"),
                ("ainvoke, async tool, timeout", "awaited_timed"),
            ):
                coroutine = per_await(client, tool_name, CALLS // 10)
                times[name].append(asyncio.run(coroutine))
        medians = {name: statistics.median(values) for name, values in times.items()}
        base = medians["floor: strict reader + validation + body"]
        print(f"{'one call':48} {'us':>9} {'x floor':>9}")
        for name, value in medians.items():
            print(f"{name:48} {value:9.1f} {value / base:9.2f}")
    took = imports()
    base = took["import pydantic, asyncio"]
    print(f"\n{'a fresh interpreter':48} {'ms':>9} {'ratio':>9}")
    for name, value in took.items():
        print(f"{name:48} {value * 1e3:9.1f} {value / base:9.2f}")


if __name__ == "__main__":
    main()
