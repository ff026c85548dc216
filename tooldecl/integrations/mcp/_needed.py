"""
The package that this needs, and what to say where it is not there.
"""

from __future__ import annotations

from importlib.util import find_spec


def check_installed() -> None:
    """
    Raise an error that helps, where the SDK is not installed.

    Raises:
        ModuleNotFoundError: It is not.
    """
    if find_spec("mcp") is None:
        raise ModuleNotFoundError(
            "tooldecl.integrations.mcp needs the package 'mcp', which is not installed. "
            "Install it with: pip install 'tooldecl[mcp]'",
            name="mcp",
        )
