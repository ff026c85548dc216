"""
A server over stdio that counts its starts, and ends in the middle of a call.
"""

from __future__ import annotations

import os

from pathlib import Path

from tooldecl import ToolClient, tool
from tooldecl.integrations.mcp import serve_stdio


STARTS = Path(os.environ["STAGE"]) / "starts"
with STARTS.open("a", encoding="utf-8") as starts:
    starts.write("x")


@tool
def die() -> None:
    """
    End the whole server, without a word.
    """
    os._exit(3)


@tool
def starts_until_now() -> int:
    """
    Say how often the server was started.
    """
    return len(STARTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    serve_stdio(ToolClient([die, starts_until_now]))
