"""
The MCP integration where its SDK is not installed, as for most users.
"""

from __future__ import annotations

import subprocess
import sys

from pathlib import Path

import tooldecl


PROGRAM = """
import importlib.util, sys

find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "mcp" else find(name, *rest)

from tooldecl import ToolClient
from tooldecl.integrations.mcp import serve_http, serve_stdio, server, tools_from_mcp

client = ToolClient([])
for use in (
    lambda: server(client),
    lambda: serve_stdio(client),
    lambda: serve_http(client),
    lambda: tools_from_mcp(["python"]),
):
    try:
        use()
    except ModuleNotFoundError as error:
        print(error.name, error)
print({"mcp", "anyio", "uvicorn", "jsonschema"} & set(sys.modules))
"""

TEXT = (
    "mcp tooldecl.integrations.mcp needs the package 'mcp', which is not installed. "
    "Install it with: pip install 'tooldecl[mcp]'"
)


def test_a_missing_sdk_is_named_with_the_way_to_get_it():
    """
    By each function, and at its use: the import costs nothing and fails for nobody.
    """
    package = Path(tooldecl.__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(package)},
        text=True,
        timeout=60,
    )

    assert [TEXT] * 4 + ["set()"] == done.stdout.splitlines(), done.stderr
