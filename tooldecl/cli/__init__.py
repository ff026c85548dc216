"""
The command line, one module for each command; click and rich come with an extra.

Whatever a command finds goes to stdout; what is wrong with the command, to stderr.
"""

from __future__ import annotations

import sys

from importlib.util import find_spec

from . import _demo, _serve


__all__ = ["COMMANDS", "main"]

COMMANDS = {"demo": _demo.command, "serve": _serve.command}

_NEEDED = ("click", "rich")

_HOW_TO_INSTALL = """\
The command line of tooldecl needs {missing}. Install the extra that brings it:

    pip install "tooldecl[cli]"     # the command line
    pip install "tooldecl[demo]"    # the same, with a small model for `tooldecl demo`
"""


def main() -> None:
    """
    Run the command line and leave with its exit code.

    Raises:
        SystemExit: Always; with 1 when the extra is not installed.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(_HOW_TO_INSTALL.format(missing=" and ".join(missing)))
        raise SystemExit(1)

    import click

    group = click.Group(
        "tooldecl",
        commands=[command() for command in COMMANDS.values()],
        help="Declare tools for LLM agents once; run them under the limits declared.",
    )
    click.version_option(package_name="tooldecl")(group)
    group(prog_name="tooldecl")
