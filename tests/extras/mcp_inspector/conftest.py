"""
These tests need programs of Node.js; `nox -s mcp_inspector` brings them, and says where.
"""

from __future__ import annotations

import os
import sys

from pathlib import Path


sys.path.insert(0, str(Path(__file__).parent.parent / "mcp"))

collect_ignore_glob = [] if "MCP_NODE_MODULES" in os.environ else ["test_*"]
