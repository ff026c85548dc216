"""
What is served to whom: the bytes on the wire, who may reach a server, and its end.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from mcp import Client, MCPError, StdioServerParameters
from mcp_stage import (
    HANGS_AFTER,
    TOOLS,
    appears,
    command,
    environment,
    over_http,
    text_of,
)

from command_line import HELLO, written
from source import ROOT
from terminals import Terminal
from tooldecl import ToolClient, ToolContext, tool
from tooldecl.filters import Approval, approve_all
from tooldecl.integrations.mcp import serve_http, serve_stdio, server


def message(number, method, **params):
    """
    Write a request of the handshake era as a line.
    """
    sent = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}

    return json.dumps(sent) + "\n"


HANDSHAKE = message(
    0,
    "initialize",
    protocolVersion="2025-11-25",
    capabilities={},
    clientInfo={"name": "a test", "version": "1"},
) + json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


def start(target, folder, *options):
    """
    Start a server over stdio.
    """
    return subprocess.Popen(
        command(target, *options),
        env={**os.environ, **environment(folder)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asked(process, *lines):
    """
    Send the handshake and some lines, and read one answer for each.
    """
    process.stdin.write("\n".join([HANDSHAKE, *lines]) + "\n")
    process.stdin.flush()

    return [process.stdout.readline() for _ in range(1 + len(lines))]


def test_whatever_is_printed_goes_to_standard_error(folder):
    """
    By the import of the module, by print, on the descriptor, on the interpreter's own
    stream, and by a program that a tool starts: the wire has answers alone, also at the
    end, when buffers are written.
    """
    process = start(f"{TOOLS}:client", folder)
    call = message(1, "tools/call", name="chatter", arguments={"words": 50})
    answers = asked(process, call)
    rest, errors = process.communicate(timeout=HANGS_AFTER)

    assert ["initialize", "50 words, 0 read", ""] == [
        "initialize" if "serverInfo" in answers[0] else answers[0],
        json.loads(answers[1])["result"]["content"][0]["text"],
        rest,
    ]
    assert 0 == process.returncode
    for word, times in {
        "printed by the import of the module": 1,
        "print\n": 50,
        "sys.stdout\n": 50,
        "descriptor 1\n": 50,
        "the stream of the interpreter": 50,
        "a program": 1,
    }.items():
        assert errors.count(word) >= times, word


async def test_whatever_is_printed_over_http_goes_to_standard_error_too(folder):
    """
    The same tools behave in the same way, however they are served.
    """
    async with over_http(folder, f"{TOOLS}:client") as (url, _), Client(url) as client:
        result = await client.call_tool("chatter", {"words": 50})
    errors = (folder / "http.err").read_text(encoding="utf-8")

    assert not result.is_error
    assert "" == (folder / "http.log").read_text(encoding="utf-8")
    for word in ("print\n", "sys.stdout\n", "descriptor 1\n", "the stream of"):
        assert errors.count(word) >= 50, word


def test_a_line_that_is_no_message_ends_nothing(folder):
    """
    What a client sends by mistake costs nobody else.
    """
    process = start(f"{TOOLS}:client", folder)
    call = message(1, "tools/call", name="add", arguments={"a": 1, "b": 2})
    process.stdin.write("hello\n{}\n\n")
    answers = asked(process, call)
    process.communicate(timeout=HANGS_AFTER)

    assert '"text":"3"' in "".join(answers)


def test_the_end_of_the_input_is_the_end_of_the_server(folder):
    """
    A body that runs is cancelled, and a worker process does not outlive it.
    """
    process = start(f"{TOOLS}:client", folder)
    asked(process, message(1, "tools/call", name="late_process", arguments={}))
    wait = message(2, "tools/call", name="wait_here", arguments={"name": "w"})
    process.stdin.write(wait)
    process.stdin.flush()
    seen(folder / "w-begun")
    children = children_of(process.pid)
    _, errors = process.communicate(timeout=HANGS_AFTER)

    assert (0, True) == (process.returncode, (folder / "w-cancelled").exists()), errors
    assert children
    assert [] == [child for child in children if is_running(child)]


@pytest.mark.parametrize("line", ["", message(2, "tools/list")], ids=["idle", "asked"])
def test_a_server_that_nobody_reads_ends(line, folder):
    """
    A host that has gone may leave the other pipe open, in a child of its own; whether
    or not there is an answer to be written, what runs is cancelled.
    """
    process = start(f"{TOOLS}:client", folder)
    wait = message(1, "tools/call", name="wait_here", arguments={"name": "w"})
    asked(process)
    process.stdin.write(wait)
    process.stdin.flush()
    seen(folder / "w-begun")
    process.stdout.close()
    with contextlib.suppress(BrokenPipeError):  # it may have ended already
        process.stdin.write(line)
        process.stdin.flush()
    code = process.wait(HANGS_AFTER)
    errors = process.stderr.read()
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    process.stderr.close()

    assert (0, True) == (code, (folder / "w-cancelled").exists()), errors


def seen(path):
    """
    Wait for a file that a tool leaves.
    """
    asyncio.run(appears(path))


def children_of(number):
    """
    List the children of a process, and theirs.
    """
    found = []
    for at in Path(f"/proc/{number}/task").glob("*/children"):
        for child in at.read_text(encoding="utf-8").split():
            found += [int(child), *children_of(int(child))]

    return found


def is_running(number):
    """
    Tell whether a process is there and is not about to be gone, with some patience.
    """
    for _ in range(HANGS_AFTER * 10):
        try:
            state = Path(f"/proc/{number}/stat").read_text(encoding="utf-8")
        except FileNotFoundError:
            return False
        if state.rpartition(")")[2].split()[0] == "Z":
            return False
        threading.Event().wait(0.1)

    return True


def post(url, **headers):
    """
    Send a request for the list of tools with these headers, and return the status.
    """
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname, place.port, timeout=30)
    try:
        connection.putrequest("POST", place.path, skip_host=True)
        body = HANDSHAKE.splitlines()[0].encode()
        given = {
            "Host": place.netloc,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
            **headers,
        }
        for name, value in given.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        return connection.getresponse().status
    finally:
        connection.close()


async def test_only_allowed_hosts_and_origins_are_answered(folder):
    """
    A web page that has its own name point to this machine sends that name.
    """
    allowed = ("--allow-host", "tools.example:*", "--allow-origin", "https://a.example")
    async with over_http(folder, f"{TOOLS}:client", *allowed) as (url, _):
        statuses = [
            post(url),
            post(url, Host="localhost:1"),
            post(url, Host="tools.example:80"),
            post(url, Origin="https://a.example"),
            post(url, Host="evil.example"),
            post(url, Origin="http://evil.example"),
        ]

    assert [200, 200, 200, 200, 421, 403] == statuses


async def test_a_server_over_http_ends_when_it_is_told_to(folder):
    """
    Also while a request runs and a connection is open; its workers end with it.
    """
    async with over_http(folder, f"{TOOLS}:client") as (url, process):
        with pytest.raises(ExceptionGroup):  # so the SDK's client has it
            async with Client(url) as client:
                await client.call_tool("late_process")
                children = children_of(process.pid)
                call = client.call_tool("wait_here", {"name": "w"})
                async with asyncio.TaskGroup() as group:
                    group.create_task(call)
                    await appears(folder / "w-begun")
                    process.terminate()
        await asyncio.to_thread(process.wait, HANGS_AFTER)

    assert children
    assert [] == [child for child in children if is_running(child)]


@pytest.mark.parametrize(
    ("target", "options", "code", "text"),
    [
        (f"{TOOLS}:sensitive", [], 1, "nobody to ask about their calls: pay."),
        (
            f"{TOOLS}:client",
            ["--approve-all"],
            2,
            "its filters and its hooks are its own",
        ),
        (f"{TOOLS}:client", ["--host", "localhost"], 2, "belong to --http"),
        (
            f"{TOOLS}:client",
            ["--http", "0", "--host", "::"],
            2,
            "say with --allow-host",
        ),
        (f"{TOOLS}:nothing", [], 1, "nothing"),
    ],
)
def test_what_cannot_be_served_is_refused_at_once(folder, target, options, code, text):
    """
    The command says why, on standard error, and leaves with a code of its own.
    """
    process = start(target, folder, *options)
    output, errors = process.communicate(timeout=HANGS_AFTER)

    assert (code, "") == (process.returncode, output)
    assert text in " ".join(errors.split())


@pytest.mark.parametrize(
    ("target", "options", "answers"),
    [
        (f"{TOOLS}:sensitive", ["--approve-all"], ["paid 5", "paid 50"]),
        (f"{TOOLS}:cashier", [], ["paid 5", "more than ten"]),
    ],
    ids=["all approved", "an approval of its own"],
)
def test_sensitive_tools_run_as_it_was_decided(folder, target, options, answers):
    """
    Either somebody has said that nobody is asked, or the client asks.
    """
    process = start(target, folder, *options)
    calls = [
        message(number, "tools/call", name="pay", arguments={"amount": amount})
        for number, amount in enumerate([5, 50], 1)
    ]
    found = "".join(sorted(asked(process, *calls)[1:]))
    process.communicate(timeout=HANGS_AFTER)

    assert [True, True] == [answer in found for answer in answers]


IN_A_TERMINAL = """
import sys
from tooldecl.cli import main
sys.argv[1:] = ["serve", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize("key", ["\x04", "\x03"], ids=["Ctrl-D", "Ctrl-C"])
def test_whoever_types_it_at_a_terminal_is_told_what_it_waits_for(tmp_path, key):
    """
    Nothing else is to be seen, and it would look as if it hung.
    """
    written(tmp_path, "hello.py", HELLO)
    terminal = Terminal(IN_A_TERMINAL, str(tmp_path / "hello.py"))
    told = [terminal.script.stderr.readline() for _ in range(2)]
    terminal.type(key)
    output, errors = terminal.end()

    assert "Serving 1 tool over stdio, for a host" in told[0]
    assert "Ctrl-D or Ctrl-C ends this.\n" == told[1]
    assert ("", "") == (output, errors.strip())


def test_a_host_is_told_nothing(folder):
    """
    It writes what a server says to a log, where it would look like a fault.
    """
    output, errors = start(f"{TOOLS}:client", folder).communicate(timeout=HANGS_AFTER)

    assert ("", False) == (output, "Serving" in errors)


@tool(external=True)
def click(button: str) -> str:
    """
    Click somewhere else.
    """
    raise AssertionError("unreachable")


def test_external_tools_are_refused():
    """
    Their calls would wait for a result that nobody can give to a server.
    """
    with pytest.raises(ValueError, match=r"These tools are external.*'click'"):
        server(ToolClient([click]))


@tool(sensitive=True)
def erase(name: str) -> str:
    """
    Erase something.
    """
    return name


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"host": "tools.example"}, ValueError),
        ({"allowed_hosts": "tools.example"}, TypeError),
        ({"allowed_origins": "https://a.example"}, TypeError),
    ],
)
def test_a_server_that_anybody_could_reach_names_its_hosts(given, error):
    """
    Without names the protection would let nothing or everything through.
    """
    with pytest.raises(error):
        serve_http(ToolClient([]), port=0, **given)


def test_a_port_that_is_taken_is_an_error():
    """
    Not a server that listens nowhere.
    """
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError):
        serve_http(ToolClient([]), port=taken.getsockname()[1])


SCRIPT = """
import os, sys
from tooldecl import ToolClient, tool
from tooldecl.integrations.mcp import serve_stdio

print("before")

@tool
def add(a: int, b: int) -> int:
    "Add two integers."
    return a + b

def make():
    print("made")
    return ToolClient([add])

serve_stdio(make, name="a script", version="3", instructions="Add.")
print("after")
"""


def test_a_script_can_serve_itself(folder):
    """
    What it prints before and after is its own affair; the rest is not on the wire.
    """
    script = folder / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        input=HANDSHAKE + "\n",
        capture_output=True,
        check=True,
        env={**os.environ, **environment(folder)},
        text=True,
        timeout=HANGS_AFTER,
    )
    before, answer, after = done.stdout.splitlines()
    result = json.loads(answer)["result"]

    assert ("before", "after", "made") == (before, after, done.stderr.strip())
    assert ("a script", "3") == tuple(result["serverInfo"].values())[:2]
    assert "Add." == result["instructions"]


async def test_deps_reach_every_call():
    """
    A tool that needs the host's own object needs it here as well.
    """

    @tool
    def ask(ctx: ToolContext) -> str:
        """
        Ask the host.
        """
        return ctx.deps["who"]

    served = server(ToolClient([ask]), deps={"who": "the host"})
    async with Client(served) as client:
        assert "the host" == text_of(await client.call_tool("ask"))


async def test_sensitive_values_are_in_no_error():
    """
    The gate's error goes to the client as it is.
    """
    client = ToolClient([erase], filters=[Approval(approve_all)])
    async with Client(server(client)) as connection:
        result = await connection.call_tool("erase", {"name": ["a secret"]})

    assert (True, False) == (result.is_error, "secret" in text_of(result))


def test_a_client_is_needed():
    """
    Anything else is a mistake of the script, said at once.
    """
    for given in (3, lambda: 3):
        with pytest.raises(TypeError, match="A ToolClient is served, got int"):
            serve_stdio(given)


async def test_a_closed_client_is_said_to_be_closed():
    """
    A host that keeps its server for long gets an answer, whatever became of it.
    """
    client = ToolClient([])
    async with Client(server(client)) as connection:
        client.close()
        with pytest.raises(MCPError, match="closed and takes no more calls"):
            await connection.call_tool("anything")


async def test_the_server_of_the_readme_is_met():
    """
    The last of its commands: any client lists the example's tools, and calls one.
    """
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [target] = re.findall(r"^\$ \.venv/bin/tooldecl serve (.+)$", readme, re.MULTILINE)
    program, *arguments = command(os.fspath(ROOT / target))
    stdio = StdioServerParameters(
        command=program, args=arguments, env=environment(ROOT)
    )
    async with Client(stdio) as client:
        listed = await client.list_tools()
        found = await client.call_tool("find_order", {"number": 7})

    assert ["find_order", "count_stock", "plan_delivery"] == [
        tool.name for tool in listed.tools
    ]
    assert "a lamp, on its way" == text_of(found)


async def test_a_server_says_its_version(tmp_path, monkeypatch):
    """
    Ours where it has our name; under a name of its own, a number of ours would be false.
    """
    installed = tmp_path / "tooldecl-9.9.dist-info"
    installed.mkdir()
    facts = "Metadata-Version: 2.1\nName: tooldecl\nVersion: 9.9\n"
    (installed / "METADATA").write_text(facts, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    says = []
    for given in ({}, {"name": "shop"}, {"name": "shop", "version": "7"}):
        async with Client(server(ToolClient([]), **given)) as connection:
            info = connection.server_info
            says.append((info.name, info.version))

    assert [("tooldecl", "9.9"), ("shop", ""), ("shop", "7")] == says


@pytest.mark.parametrize("option", ["name", "version", "instructions"])
def test_what_a_server_says_of_itself_is_text(option):
    """
    A number would be found by the first client that connects.
    """
    with pytest.raises(TypeError, match=f"{option} takes a text, got int"):
        server(ToolClient([]), **{option: 5})
