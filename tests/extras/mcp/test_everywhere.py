"""
The same calls have the same ends over MCP as without it.

What only the text of arguments shows is not here: the SDK has read it before the gate.
"""

from __future__ import annotations

import os

import pytest

from mcp import Client, StdioServerParameters
from mcp_stage import HERE, command, environment, in_each_era

from driving_mcp import Told, asked, drive
from everywhere import PARSED, calls_of, compare, make_client
from source import ROOT
from tooldecl.integrations.mcp import server


async def ended(calls):
    """
    Make the calls as a batch of a client, and list how each ended.
    """
    async with make_client() as client:
        return [Told(r.status, r.content) for r in await client.ainvoke_batch(calls)]


@pytest.mark.parametrize("turn", PARSED.values(), ids=[*PARSED])
async def test_the_answers_are_those_of_the_bare_client(turn):
    """
    Whoever serves tools serves their gate, limits and texts with them.
    """
    await compare(drive, turn)


@in_each_era
async def test_the_statuses_are_those_of_the_bare_client(era):
    """
    A host tells a refused call from one that failed, in both eras of the protocol.
    """
    async with make_client() as client, Client(server(client), mode=era) as host:
        for name, turn in PARSED.items():
            calls = calls_of(turn)
            assert (name, await ended(calls)) == (name, await asked(host, calls))


async def test_another_process_answers_the_same(folder):
    """
    Most hosts start a server: whatever is sent is then text on a pipe.
    """
    program, *arguments = command(os.fspath(HERE / "served_everywhere.py") + ":client")
    variables = environment(folder)
    variables["PYTHONPATH"] += f"{os.pathsep}{ROOT / 'tests'}"
    parameters = StdioServerParameters(command=program, args=arguments, env=variables)
    async with Client(parameters) as host:
        for name, turn in PARSED.items():
            calls = calls_of(turn)
            assert (name, await ended(calls)) == (name, await asked(host, calls))
