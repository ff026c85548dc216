"""
Where the tests of MCP play: a server in memory, in another process over stdio, or over
HTTP on the loopback, and the SDK's own client for each.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcp import Client, StdioServerParameters

import tooldecl


HANGS_AFTER = 30
HERE = Path(__file__).parent
TOOLS = os.fspath(HERE / "served_tools.py")

WIRES = ("memory", "stdio", "http")
# The protocol of 2026-07-28, and the handshake of all before it.
ERAS = ("auto", "legacy")

on_each_wire = pytest.mark.parametrize("wire", WIRES)
in_each_era = pytest.mark.parametrize("era", ERAS)


def environment(folder: Path) -> dict[str, str]:
    """
    Return what a server in another process needs: this package, and where to play.
    """
    package = Path(tooldecl.__file__).parent.parent

    return {"PYTHONPATH": os.fspath(package), "STAGE": os.fspath(folder)}


def command(target: str, *options: str) -> list[str]:
    """
    Return the command that serves a target.
    """
    return [sys.executable, "-m", "tooldecl", "serve", target, *options]


@asynccontextmanager
async def over_http(
    folder: Path, target: str, *options: str
) -> AsyncGenerator[tuple[str, subprocess.Popen[str]], None]:
    """
    Serve a target over HTTP, and yield the URL and the process.

    What it writes is in http.log and, from the URL on, in http.err at the end.
    """
    log = folder / "http.log"
    with log.open("w", encoding="utf-8") as writing:
        process = subprocess.Popen(  # noqa: ASYNC220 (it starts; nothing waits for it)
            command(target, "--http", "0", *options),
            env={**os.environ, **environment(folder)},
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
        )
    try:
        yield await asyncio.to_thread(url_of, process), process
    finally:
        process.terminate()
        _, errors = await asyncio.to_thread(process.communicate, timeout=HANGS_AFTER)
        (folder / "http.err").write_text(errors, encoding="utf-8")


def url_of(process: subprocess.Popen[str]) -> str:
    """
    Read where a server listens, from what it says.
    """
    assert process.stderr is not None
    seen = []
    for line in process.stderr:
        seen.append(line)
        if line.startswith("Serving "):
            return line.split()[-1]

    raise AssertionError("".join(seen))


@asynccontextmanager
async def connected(
    wire: str, folder: Path, era: str = "auto"
) -> AsyncGenerator[Client, None]:
    """
    Serve the tools of `served_tools` over a wire, and connect to them.
    """
    if wire == "memory":
        import served_tools

        from tooldecl.integrations.mcp import server

        async with (
            served_tools.make() as made,
            Client(server(made), mode=era) as client,
        ):
            yield client
    elif wire == "stdio":
        program, *arguments = command(f"{TOOLS}:client")
        parameters = StdioServerParameters(
            command=program, args=arguments, env=environment(folder)
        )
        async with Client(parameters, mode=era) as client:
            yield client
    else:
        async with (
            over_http(folder, f"{TOOLS}:client") as (url, _),
            Client(url, mode=era) as client,
        ):
            yield client


async def appears(path: Path) -> None:
    """
    Wait for a file that a tool leaves, wherever it runs.
    """
    for _ in range(HANGS_AFTER * 100):
        if os.path.exists(path):  # noqa: ASYNC240, PTH110 (at once, and seldom)
            return
        await asyncio.sleep(0.01)

    raise AssertionError(f"{path.name} never came.")


def text_of(result: object) -> str:
    """
    Return the text of a result.
    """
    return "\n".join(block.text for block in result.content)
