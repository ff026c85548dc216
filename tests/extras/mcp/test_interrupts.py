"""
Ctrl-C at a server: its calls and workers end, nothing is logged as a fault, and the code
is that of every command.

It is sent to the process group, as a terminal does.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys

from urllib.parse import urlsplit

import pytest

from mcp import Client
from mcp_stage import (
    HANGS_AFTER,
    TOOLS,
    appears,
    command,
    environment,
    in_each_era,
    url_of,
)
from test_serving import asked, children_of, is_running, message, seen


STARTED = "printed by the import of the module\n"


@pytest.fixture
def start(folder):
    """
    Start servers, each in a group of its own, that end with the test.
    """
    started = []

    def starting(*given):
        process = subprocess.Popen(
            [*given],
            env={**os.environ, **environment(folder)},
            start_new_session=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield starting
    for process in started:
        process.kill()
        process.communicate(timeout=HANGS_AFTER)


def interrupt(process):
    """
    Type Ctrl-C.
    """
    os.killpg(process.pid, signal.SIGINT)


def interrupted(process):
    """
    Type Ctrl-C while the input stays open, and return the code and what was written.
    """
    interrupt(process)

    return ended(process)


def ended(process):
    """
    Wait for the end of a server, and return its code and what it has written.
    """
    process.wait(HANGS_AFTER)
    output, errors = process.communicate()

    return process.returncode, output, errors.replace(STARTED, "").strip()


@pytest.mark.parametrize("shakes", [False, True], ids=["nobody", "a host"])
def test_over_stdio_it_ends_while_the_input_stays_open(start, shakes):
    """
    Somebody who tries a server at a terminal leaves it like anything else.
    """
    process = start(*command(f"{TOOLS}:client"))
    assert STARTED == process.stderr.readline()
    if shakes:
        asked(process)

    assert (130, "", "") == interrupted(process)


def test_over_stdio_calls_and_workers_end(start, folder):
    """
    As at the end of the input: the body is cancelled, and no process stays.
    """
    process = start(*command(f"{TOOLS}:client"))
    asked(process, message(1, "tools/call", name="late_process", arguments={}))
    wait = message(2, "tools/call", name="wait_here", arguments={"name": "w"})
    process.stdin.write(wait)
    process.stdin.flush()
    seen(folder / "w-begun")
    children = children_of(process.pid)
    code, _, errors = interrupted(process)

    assert (130, "", True) == (code, errors, (folder / "w-cancelled").exists())
    assert children
    assert [] == [child for child in children if is_running(child)]


@pytest.mark.slow
def test_over_stdio_a_host_that_takes_no_answer_keeps_nothing(start):
    """
    An answer that fills the pipe would hold the server at its end for ever.
    """
    process = start(*command(f"{TOOLS}:client"))
    text = "x" * 1_000_000
    call = message(1, "tools/call", name="fail", arguments={"text": text})
    asked(process)
    process.stdin.write(call)
    process.stdin.flush()
    begun = process.stdout.read(1)
    code, _, errors = interrupted(process)

    assert ("{", 130, "") == (begun, code, errors)


def test_over_http_it_ends_as_soon_as_it_is_there(start):
    """
    The line that says where it listens may be read before all of it is set up.
    """
    process = start(*command(f"{TOOLS}:client", "--http", "0"))
    url_of(process)
    code, _, errors = interrupted(process)

    assert (130, "") == (code, errors)


async def refuses(url):
    """
    Wait until a server takes no connections any more: it has heard that it is to end.
    """
    place = urlsplit(url)
    for _ in range(HANGS_AFTER * 100):
        try:
            _, writing = await asyncio.open_connection(place.hostname, place.port)
        except OSError:
            return
        writing.close()
        await asyncio.sleep(0.01)

    raise AssertionError("It goes on.")


@in_each_era
@pytest.mark.parametrize("times", [1, 2])
async def test_over_http_calls_and_workers_end(start, folder, era, times):
    """
    A request that is cut off is told of in a line, and is no fault with a traceback.
    """
    process = start(*command(f"{TOOLS}:client", "--http", "0"))
    url = await asyncio.to_thread(url_of, process)
    with pytest.raises(ExceptionGroup):  # so the SDK's client has it
        async with Client(url, mode=era) as client:
            await client.call_tool("late_process")
            children = children_of(process.pid)
            async with asyncio.TaskGroup() as group:
                group.create_task(client.call_tool("wait_here", {"name": "w"}))
                await appears(folder / "w-begun")
                for _ in range(times):
                    interrupt(process)
                    await refuses(url)
    code, _, errors = await asyncio.to_thread(ended, process)

    assert (130, True) == (code, (folder / "w-cancelled").exists())
    assert "Traceback" not in errors
    assert children
    assert [] == [child for child in children if is_running(child)]


SCRIPT = """
from tooldecl import ToolClient
from tooldecl.integrations.mcp import serve_stdio

try:
    serve_stdio(ToolClient([]))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_a_script_hears_of_it(start):
    """
    What a script does after its server is its own affair.
    """
    process = start(sys.executable, "-c", SCRIPT)
    answers = asked(process)
    code, output, errors = interrupted(process)

    assert "serverInfo" in json.loads(answers[0])["result"]
    assert (0, "interrupted\n", "") == (code, output, errors)
