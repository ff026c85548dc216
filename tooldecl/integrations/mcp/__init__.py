"""
Serve the tools of a client over the Model Context Protocol, and take those of a server.

Needs the official SDK, ``tooldecl[mcp]``; nothing of it is imported before it is used.
The matching pages are docs/how-to/serve-over-mcp.md and docs/how-to/wrap-an-mcp-server.md.
"""

from __future__ import annotations

from ._http import serve_http
from ._server import server
from ._stdio import serve_stdio
from ._tools import MCPTools, tools_from_mcp


__all__ = ["MCPTools", "serve_http", "serve_stdio", "server", "tools_from_mcp"]
