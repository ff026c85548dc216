"""
The programs that the makers of the protocol test servers with are content with ours.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess

from pathlib import Path

import pytest

from mcp_stage import HANGS_AFTER, command, environment, over_http

from source import ROOT


EXAMPLE = os.fspath(ROOT / "examples" / "mcp_conformance.py")
PROGRAMS = Path(os.environ["MCP_NODE_MODULES"]) / ".bin"

NODE = shutil.which("node") or "node"

# Those about tools, connections and who may open one; the others ask for resources,
# prompts, pictures, sampling and the like, which tools do not have.
SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-simple-text",
    "tools-call-error",
    "tools-call-with-progress",
    "json-schema-2020-12",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
]


def run(folder, program, *arguments):
    """
    Run one of the programs, and return its exit code and what it said.
    """
    done = subprocess.run(
        [NODE, os.fspath(PROGRAMS / program), *arguments],
        capture_output=True,
        check=False,
        cwd=folder,
        text=True,
        timeout=2 * HANGS_AFTER,
    )

    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def conformance(tmp_path_factory):
    """
    What the conformance suite says of each scenario, of one server over HTTP.
    """
    folder = tmp_path_factory.mktemp("conformance")

    async def all_of_them():
        async with over_http(folder, EXAMPLE) as (url, _):
            return {
                scenario: await asyncio.to_thread(
                    run,
                    folder,
                    "conformance",
                    *("server", "--url", url, "--scenario", scenario),
                )
                for scenario in SCENARIOS
            }

    return asyncio.run(all_of_them())


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_suite_passes(conformance, scenario):
    """
    It counts its checks, and one that fails is an exit code.
    """
    code, output, errors = conformance[scenario]

    assert 0 == code, output + errors
    assert "0 failed" in output


def inspected(folder, *arguments):
    """
    Return what the inspector reads from a server over stdio.
    """
    given = [f"{name}={value}" for name, value in environment(folder).items()]
    code, output, errors = run(
        folder,
        "mcp-inspector",
        "--cli",
        *(word for pair in given for word in ("-e", pair)),
        *command(EXAMPLE),
        *arguments,
    )
    assert 0 == code, errors

    return json.loads(output)


def test_the_inspector_lists_the_tools(tmp_path):
    """
    What people look at a server with shows what was declared.
    """
    found = inspected(tmp_path, "--method", "tools/list")

    assert {
        "test_simple_text": "Return a text.",
        "test_error_handling": "Return an error, in words of its own.",
        "test_tool_with_progress": "Tell of three steps.",
        "json_schema_2020_12_tool": "Tool with JSON Schema 2020-12 features.",
    } == {tool["name"]: tool["description"] for tool in found["tools"]}


def test_the_inspector_calls_a_tool(tmp_path):
    """
    By its own client, which is written in another language.
    """
    call = ("--method", "tools/call", "--tool-name", "test_simple_text")
    found = inspected(tmp_path, *call)

    assert ("This is a simple text response for testing.", False) == (
        found["content"][0]["text"],
        found["isError"],
    )
