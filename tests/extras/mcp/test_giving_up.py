"""
A server that is being connected to is given up at once, and nothing of it is left.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading

import pytest

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_stage import HERE, appears, environment

from tooldecl import ToolClient
from tooldecl.integrations.mcp import tools_from_mcp


# Longer than any test may take.
FOR_EVER = 3600

SILENT = """
import os, sys
from pathlib import Path

stage = Path(os.environ["STAGE"])
stage.joinpath("written").write_text(str(os.getpid()), encoding="utf-8")
stage.joinpath("written").rename(stage / "pid")
sys.stdin.read()
"""


def silent(folder):
    """
    Return how to start a server that says nothing until its input ends.
    """
    return StdioServerParameters(
        command=sys.executable, args=["-c", SILENT], env=environment(folder)
    )


def is_gone(folder):
    """
    Tell whether the silent server has ended.
    """
    try:
        os.kill(int((folder / "pid").read_text(encoding="utf-8")), 0)
    except ProcessLookupError:
        return True

    return False


def test_an_interrupt_ends_the_wait_for_a_server(folder):
    """
    Whoever presses Ctrl-C does not wait for a limit that may be long.
    """

    def interrupt():
        asyncio.run(appears(folder / "pid"))
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with (
        pytest.raises(KeyboardInterrupt),
        tools_from_mcp(silent(folder), connect_within=FOR_EVER),
    ):
        raise AssertionError("unreachable")
    thread.join()

    assert is_gone(folder)


async def test_a_cancelled_caller_ends_the_wait_for_a_server(folder):
    """
    A limit of the caller's own, as of `asyncio.timeout`, is the one that holds.
    """

    async def enter():
        async with tools_from_mcp(silent(folder), connect_within=FOR_EVER):
            raise AssertionError("unreachable")

    entering = asyncio.create_task(enter())
    await appears(folder / "pid")
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering

    assert is_gone(folder)


async def test_tools_are_left_while_a_server_is_started_again(folder):
    """
    The call that waits for the new server is answered, and the new server is ended.
    """
    dying = StdioServerParameters(
        command=sys.executable,
        args=[os.fspath(HERE / "dying_server.py")],
        env=environment(folder),
    )
    starts = iter([dying, silent(folder)])
    async with tools_from_mcp(
        lambda: stdio_client(next(starts)), connect_within=FOR_EVER
    ) as tools:
        client = ToolClient([*tools])
        await client.ainvoke("die")
        call = asyncio.create_task(client.ainvoke("starts_until_now"))
        await appears(folder / "pid")
    result = await call

    assert ("tool_error", "environment") == (result.status, result.error_class)
    assert is_gone(folder)
