"""
Tools of a foreign server run here, under what is declared about them here.
"""

from __future__ import annotations

import asyncio
import math
import os
import sys
import threading

import pytest

from mcp import Client, StdioServerParameters
from mcp.server import Server
from mcp.types import (
    CallToolResult,
    ImageContent,
    ListToolsResult,
    TextContent,
    Tool,
)
from mcp_stage import HERE, TOOLS, appears, command, environment, over_http

from fronts import FRONTS, Listener, call
from tooldecl import (
    Budget,
    DeclarationError,
    Retry,
    ToolClient,
    prefixed,
)
from tooldecl.filters import Approval, deny_all
from tooldecl.integrations.mcp import server, tools_from_mcp


OPEN = {"type": "object", "properties": {}, "additionalProperties": True}


def text(words, **more):
    """
    Make an answer of one text.
    """
    return CallToolResult(content=[TextContent(type="text", text=words)], **more)


def foreign(tools, answer=None):
    """
    Make a server that is none of ours: it checks nothing, and answers as it is told.
    """

    async def list_tools(context, params):
        return ListToolsResult(tools=tools)

    async def call_tool(context, params):
        if answer is None:
            return text(repr((params.name, params.arguments)))
        found = answer(params.name, params.arguments)

        return await found if asyncio.iscoroutine(found) else found

    return Server("foreign", on_list_tools=list_tools, on_call_tool=call_tool)


def one(answer=None, name="go", schema=None, **more):
    """
    Make a server of one tool.
    """
    tool = Tool(name=name, description="Go.", input_schema=schema or OPEN, **more)

    return foreign([tool], answer)


def stdio(folder):
    """
    Return how to start the server of `served_tools`.
    """
    program, *arguments = command(f"{TOOLS}:client")

    return StdioServerParameters(
        command=program, args=arguments, env=environment(folder)
    )


@pytest.mark.parametrize("front", FRONTS)
def test_a_server_of_another_process_is_used_from_both_fronts(front, folder):
    """
    The connection is on a thread of its own, so no loop of a caller is needed or held.
    """
    with tools_from_mcp(stdio(folder)) as tools, ToolClient([*tools]) as client:
        results = [
            call(front, client, "add", {"a": 1, "b": 2}),
            call(front, client, "add_up", {"numbers": [1, 2]}),
            call(front, client, "fail", {"text": "The shop is closed."}),
            call(front, client, "add", {"a": "1", "b": 2}),
        ]

    assert [3, {"total": 3, "count": 2}, None, None] == [r.value for r in results]
    assert ["ok", "ok", "tool_error", "invalid"] == [r.status for r in results]
    assert "The shop is closed." == results[2].content
    assert "not_started" == results[3].fate


async def test_a_server_over_http_is_used(folder):
    """
    By its URL alone.
    """
    async with (
        over_http(folder, f"{TOOLS}:client") as (url, _),
        tools_from_mcp(url, include=["add"]) as tools,
    ):
        result = await ToolClient([*tools]).ainvoke("add", {"a": 1, "b": 2})

    assert (["add"], 3) == ([t.name for t in tools], result.value)


async def test_an_open_client_or_session_is_used_and_left_open():
    """
    Whoever has opened it closes it.
    """
    async with Client(one()) as opened:
        for source in (opened, opened.session):
            async with tools_from_mcp(source) as tools:
                client = ToolClient([*tools])
                results = [
                    await client.ainvoke("go", {"a": 1}),
                    await asyncio.to_thread(client.invoke, "go", {"a": 1}),
                ]
            after = await client.ainvoke("go")

        assert not (await opened.call_tool("go")).is_error

    assert ["('go', {'a': 1})"] * 2 == [result.content for result in results]
    assert ("tool_error", "environment") == (after.status, after.error_class)


def test_an_open_client_needs_its_loop():
    """
    There is none to enter it from, in sync code.
    """
    with (
        pytest.raises(TypeError, match="belongs to its loop"),
        tools_from_mcp(Client(one())),
    ):
        raise AssertionError("unreachable")


@pytest.mark.parametrize("front", FRONTS)
def test_our_timeout_holds_and_the_server_is_told(front):
    """
    What was sent cannot be called back: the call may still take effect, and is not
    repeated.
    """
    told, begun = threading.Event(), []

    async def wait(name, arguments):
        begun.append(name)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.set()
            raise

    options = {"go": {"timeout": 0.2, "retry": Retry(attempts=3, delay=0)}}
    with tools_from_mcp(one(wait), options=options) as tools:
        result = call(front, ToolClient([*tools]), "go")
        was_told = told.wait(30)

    assert ("timeout", "abandoned") == (result.status, result.fate)
    assert (True, ["go"]) == (was_told, begun)


@pytest.mark.parametrize("isolation", ["thread", None])
async def test_a_cancelled_caller_cancels_the_call_there(isolation):
    """
    Wherever the body here runs.
    """
    begun, told = threading.Event(), threading.Event()
    hook = Listener()

    async def wait(name, arguments):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            told.set()
            raise

    async with tools_from_mcp(one(wait)) as tools:
        client = ToolClient([*tools], hooks=[hook])
        task = asyncio.create_task(client.ainvoke("go"))
        assert await asyncio.to_thread(begun.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(told.wait, 30)

    assert ("cancelled", "abandoned") == (
        hook.events[-1].result.status,
        hook.events[-1].result.fate,
    )


async def test_calls_overlap_at_the_server():
    """
    One connection carries them all at once.
    """
    inside, all_in = 0, asyncio.Event()

    async def meet(name, arguments):
        nonlocal inside
        inside += 1
        if inside == 50:
            all_in.set()
        await all_in.wait()

        return text("met")

    async with tools_from_mcp(one(meet)) as tools:
        client = ToolClient([*tools])
        results = await asyncio.gather(*(client.ainvoke("go") for _ in range(50)))

    assert 50 == sum(result.ok for result in results)


async def test_progress_of_the_server_is_progress_here(folder):
    """
    Hooks and callers hear of it as of any other.
    """
    import served_tools

    heard = []
    async with served_tools.make() as there, tools_from_mcp(server(there)) as tools:
        client = ToolClient([*tools])
        await client.ainvoke("step", on_progress=heard.append)

    assert [1, 2, 3] == [event.done for event in heard]


async def test_filters_approvals_budgets_and_limits_hold():
    """
    It is declared like any other tool.
    """

    def long(name, arguments):
        return text("a" * 100)

    tools = [
        Tool(name=name, description="Go.", input_schema=OPEN)
        for name in ("pay", "talk")
    ]
    async with tools_from_mcp(
        foreign(tools, long),
        options={"pay": {"sensitive": True}},
        defaults={"result_limit": 10, "tags": ["foreign"]},
    ) as specs:
        client = ToolClient(
            [prefixed("shop", specs)],
            filters=[Approval(deny_all)],
            budget=Budget(per_tool={"shop_talk": 1}),
        )
        results = [
            await client.ainvoke(name)
            for name in ("shop_pay", "shop_talk", "shop_talk")
        ]

    assert ["denied", "too_large", "budget"] == [result.status for result in results]
    assert {("foreign",)} == {meta.tags for meta in client.table.values()}


HOSTILE = [
    "files.read",
    "files/read",
    "files read",
    "1st",
    "é",
    "",
    "a" * 100,
    "a" * 99 + "b",
    "__class__",
    "with\nbreak",
    "files_read",
]


async def test_any_name_is_made_safe_and_found_again():
    """
    Providers take few characters, and servers send any; no two become one.
    """
    tools = [Tool(name=n, description="Go.", input_schema=OPEN) for n in HOSTILE]
    async with tools_from_mcp(foreign(tools)) as specs:
        client = ToolClient([*specs])
        asked = {
            name: (await client.ainvoke(wire)).content
            for wire, name in specs.names.items()
        }

    assert {name: repr((name, {})) for name in HOSTILE} == asked
    assert "files_read" in specs.names


async def test_names_stay_the_same_from_one_connection_to_the_next():
    """
    A budget, or an option, names a tool of a server that was started anew.
    """
    tools = [Tool(name=n, description="Go.", input_schema=OPEN) for n in HOSTILE]
    found = []
    for _ in range(2):
        async with tools_from_mcp(foreign(tools)) as specs:
            found.append(dict(specs.names))

    assert found[0] == found[1]


async def test_a_tool_can_be_named_here():
    """
    A name of one's own is better than one that was made safe.
    """
    async with tools_from_mcp(
        one(name="files.read"), options={"files.read": {"name": "read_file"}}
    ) as tools:
        result = await ToolClient([*tools]).ainvoke("read_file")

    assert ({"read_file": "files.read"}, True) == (tools.names, result.ok)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"description": "Go."}, "Go."),
        ({"description": None, "title": "Going"}, "Going"),
        ({"description": " \n"}, "The tool 'go' of an MCP server"),
        ({"description": "a" * 5000}, "aaaa"),
    ],
)
async def test_any_description_is_made_one_that_providers_take(given, shown):
    """
    An empty one is refused by us, a long one by them.
    """
    tool = Tool(name="go", input_schema=OPEN, **given)
    async with tools_from_mcp(foreign([tool])) as specs:
        description = specs[0].description

    assert (True, True) == (description.startswith(shown), len(description) <= 1024)


SCHEMA = {
    "type": "object",
    "properties": {
        "ctx": {"type": "integer", "minimum": 3},
        "self": {"type": "string"},
        "arguments": {"$ref": "#/$defs/list"},
        "a.b": {"enum": ["x", "y"]},
    },
    "required": ["ctx"],
    "$defs": {"list": {"type": "array", "items": {"type": "integer"}}},
}


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ({"ctx": 3, "self": "me", "arguments": [1], "a.b": "x"}, "ok"),
        ({"ctx": 2}, "invalid"),
        ({"ctx": 3, "arguments": ["1"]}, "invalid"),
        ({"ctx": 3, "a.b": "z"}, "invalid"),
        ({"ctx": 3, "other": 1}, "invalid"),
        ({}, "invalid"),
    ],
)
async def test_our_gate_keeps_the_schema_of_the_server(arguments, status):
    """
    The server may check nothing, and its names may be any, also those of our own.
    """
    async with tools_from_mcp(one(schema=SCHEMA)) as tools:
        result = await ToolClient([*tools]).ainvoke("go", arguments)

    assert status == result.status
    if result.ok:
        assert repr(("go", arguments)) == result.content


WRAPPED = {
    "type": "object",
    "properties": {"result": {"type": "integer"}},
    "required": ["result"],
}
WHOLE = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "answer", "expected"),
    [
        (None, text("plain"), ("ok", "plain")),
        (WRAPPED, text("3", structured_content={"result": 3}), ("ok", 3)),
        (WHOLE, text("?", structured_content={"n": 3}), ("ok", {"n": 3})),
        (None, text("?", structured_content={"result": 3}), ("ok", {"result": 3})),
        (WRAPPED, text("3", structured_content={"result": "x"}), ("tool_error", None)),
        (WRAPPED, text("no", is_error=True), ("tool_error", None)),
        (None, CallToolResult(content=[], is_error=True), ("tool_error", None)),
        (None, CallToolResult(content=[]), ("ok", "")),
        (
            None,
            CallToolResult(
                content=[
                    TextContent(type="text", text="a picture"),
                    ImageContent(type="image", data="AAAA", mime_type="image/png"),
                ]
            ),
            (
                "ok",
                [
                    {"type": "text", "text": "a picture"},
                    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                ],
            ),
        ),
    ],
    ids=[
        "text",
        "wrapped",
        "whole",
        "undeclared",
        "wrong",
        "error",
        "empty error",
        "empty",
        "image",
    ],
)
async def test_answers_become_values(schema, answer, expected):
    """
    The structured content is the value, else the text, else the blocks as they are.
    """
    served = one(lambda name, arguments: answer, output_schema=schema)
    async with tools_from_mcp(served) as tools:
        result = await ToolClient([*tools]).ainvoke("go")

    assert expected == (result.status, result.value)
    assert result.content


@pytest.mark.parametrize("front", FRONTS)
def test_a_server_that_dies_is_started_again(front, folder):
    """
    The call that it had is lost, and nobody knows whether it took effect; the next call
    finds a new one.
    """
    dying = StdioServerParameters(
        command=sys.executable,
        args=[os.fspath(HERE / "dying_server.py")],
        env=environment(folder),
    )
    with tools_from_mcp(dying) as tools, ToolClient([*tools]) as client:
        results = [
            call(front, client, name)
            for name in ("starts_until_now", "die", "starts_until_now")
        ]

    assert [1, None, 2] == [result.value for result in results]
    assert ("tool_error", "transient") == (results[1].status, results[1].error_class)
    assert "was lost before it answered" in results[1].content


async def test_a_server_that_is_gone_for_good_is_said_to_be(folder):
    """
    Over HTTP nobody here can start it again.
    """
    async with (
        over_http(folder, f"{TOOLS}:client") as (url, process),
        tools_from_mcp(url) as tools,
    ):
        client = ToolClient([*tools])
        call = asyncio.create_task(client.ainvoke("wait_here", {"name": "w"}))
        await appears(folder / "w-begun")
        process.kill()
        results = [await call, await client.ainvoke("add", {"a": 1, "b": 2})]

    assert [("tool_error", "transient")] * 2 == [
        (result.status, result.error_class) for result in results
    ]
    assert "was lost" in results[0].content
    assert "The call was not sent." in results[1].content


@pytest.mark.parametrize(
    ("program", "why"),
    [
        (["/nowhere/at/all"], "FileNotFoundError"),
        ([sys.executable, "-c", "pass"], "MCPError"),
        ([sys.executable, "-c", "import time; time.sleep(60)"], "within 0.3 s"),
    ],
    ids=["missing", "silent", "hanging"],
)
async def test_a_server_that_cannot_be_reached_is_an_error_at_once(program, why):
    """
    Without its tools there is nothing to go on with; nothing of it is left.
    """
    limit = 0.3 if "0.3" in why else 30
    with pytest.raises(Exception, match=why):
        async with tools_from_mcp(program, connect_within=limit):
            raise AssertionError("unreachable")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"options": {"nothing": {"timeout": 5}}}, "no tool named 'nothing'"),
        ({"include": ["nothing"]}, "no tool named 'nothing'"),
        ({"exclude": ["nothing"]}, "no tool named 'nothing'"),
        ({"options": {"go": {"timeout": 5}}, "exclude": ["go"]}, "leave it out"),
        ({"options": {"go": {"timeout": 5}}, "include": []}, "leave it out"),
    ],
)
async def test_what_is_said_of_no_tool_is_refused(given, text):
    """
    An option that nobody reads would be a promise that nobody keeps.
    """
    with pytest.raises(DeclarationError, match=text):
        async with tools_from_mcp(one(), **given):
            raise AssertionError("unreachable")


NO_SECONDS = (0, -1, math.nan, math.inf, 10**400, "x", True, None)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"defaults": {"isolation": "process"}}, "the server runs it"),
        ({"options": {"go": {"external": True}}}, "the server runs it"),
        ({"options": {"go": {"input_schema": {}}}}, "comes from the server"),
        ({"defaults": {"name": "go"}}, "no two tools"),
        ({"defaults": {"bogus": 1}}, r"defaults=...\): there is no option 'bogus'"),
        ({"options": {"go": {"meta": None}}}, "there is no option 'meta'"),
        ({"defaults": {"timeout": -1}}, r"defaults=...\): timeout takes seconds"),
        ({"options": {"go": {"timeout": 0}}}, r"{'go': ...}\): timeout takes seconds"),
        ({"options": {"go": {"name": "g o"}}}, r"{'go': ...}\): name takes"),
        *(({"connect_within": given}, "takes seconds above 0") for given in NO_SECONDS),
    ],
)
def test_what_a_server_would_not_keep_is_refused(given, text):
    """
    At once, and not when the server has been reached.
    """
    with pytest.raises(DeclarationError, match=text):
        tools_from_mcp(one(), **given)


BROKEN = {"type": "object", "properties": {"x": {"type": "wrong"}}}


async def test_several_faults_come_together():
    """
    Whoever mends one wants to know of the other.
    """
    tools = [
        Tool(name=name, description="Go.", input_schema=BROKEN) for name in ("a", "b")
    ]
    with pytest.raises(ExceptionGroup) as caught:
        async with tools_from_mcp(foreign(tools)):
            raise AssertionError("unreachable")

    assert 2 == len(caught.value.exceptions)


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("python -m server", ValueError),
        ([], TypeError),
        ([1], TypeError),
        (3, TypeError),
    ],
)
def test_what_is_no_server_is_refused(source, error):
    """
    A command as one text would be a shell's, with all its quoting.
    """
    with pytest.raises(error):
        tools_from_mcp(source)


async def test_pages_of_a_list_are_joined():
    """
    A server may show its tools a few at a time.
    """

    async def list_tools(context, params):
        place = int(params.cursor or 0) if params else 0
        tool = Tool(name=f"t{place}", description="Go.", input_schema=OPEN)
        following = str(place + 1) if place < 4 else None

        return ListToolsResult(tools=[tool], next_cursor=following)

    async def call_tool(context, params):
        raise AssertionError("unreachable")

    served = Server("pages", on_list_tools=list_tools, on_call_tool=call_tool)
    async with tools_from_mcp(served) as tools:
        assert ["t0", "t1", "t2", "t3", "t4"] == [tool.name for tool in tools]


async def test_a_call_that_runs_when_the_tools_are_left_is_answered():
    """
    Nobody waits for ever for a connection that was closed.
    """
    begun = threading.Event()

    async def wait(name, arguments):
        begun.set()
        await asyncio.Event().wait()

    async with tools_from_mcp(one(wait)) as tools:
        client = ToolClient([*tools])
        call = asyncio.create_task(client.ainvoke("go"))
        assert await asyncio.to_thread(begun.wait, 30)
    result = await call

    assert ("tool_error", "environment") == (result.status, result.error_class)


async def test_tools_are_entered_once():
    """
    Their specs belong to one connection.
    """
    tools = tools_from_mcp(one())
    async with tools:
        with pytest.raises(RuntimeError, match="entered once"):
            await tools.__aenter__()
    assert repr(tools) == "<MCPTools of 1 tools>"
