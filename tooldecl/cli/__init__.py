"""
The command line, one module for each command; click and rich come with an extra.

Whatever a command finds goes to stdout; what is wrong with the command, to stderr.
"""

from __future__ import annotations

import sys

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from . import _call, _check, _demo, _list, _report, _run, _schema, _serve
from ._exits import Exit
from ._results import forget
from ._words import plain


if TYPE_CHECKING:
    import click


__all__ = ["COMMANDS", "main"]

# Each returns its exit code, or raises an error of click, which has one.
COMMANDS: dict[str, Callable[[], click.Command]] = {
    "call": _call.command,
    "check": _check.command,
    "demo": _demo.command,
    "list": _list.command,
    "report": _report.command,
    "run": _run.command,
    "schema": _schema.command,
    "serve": _serve.command,
}

_NEEDED = ("click", "rich")

_HOW_TO_INSTALL = """\
The command line of tooldecl needs {missing}. Install the extra that brings it:

    pip install "tooldecl[cli]"     # the command line
    pip install "tooldecl[demo]"    # the same, with a small model for `tooldecl demo`
"""


_EPILOG = """\
MODULE is a dotted module or the path to a .py file. OBJECT, after a colon, is a client,
a list of tools, or one tool of it; without it, every tool of the module is meant.
Results go to standard output, everything else to standard error.
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
        raise SystemExit(Exit.FAILED)
    raise SystemExit(run())


def run(arguments: Sequence[str] | None = None) -> int:
    """
    Run one command, and return its exit code.

    Args:
        arguments: What was typed; those of the process if None.
    """
    import click

    ours = sys.stdout
    try:
        code: object = group().main(
            arguments, prog_name="tooldecl", standalone_mode=False
        )
    except click.Abort as end:
        # CPython remembers an interrupt that left an exec of text, as that of a dataclass
        # in a module just imported, and would end by a signal whatever we return.
        exec("")  # noqa: S102 (what forgets it)
        return end.args[0] if end.args else Exit.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except SystemExit:
        if sys.stdout is not ours:  # click puts another there when nobody reads
            return Exit.NOBODY_READS
        raise
    except OSError as error:  # a page of help or a path could not be written
        forget(sys.stdout)
        reason = str(error) if error.filename else error.strerror or str(error)
        click.ClickException(plain(reason)).show()
        return Exit.FAILED

    return code if isinstance(code, int) else Exit.OK


def group() -> click.Group:
    """
    Return the command that holds all others.
    """
    import click

    made = click.Group(
        "tooldecl",
        commands=[command() for command in COMMANDS.values()],
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Declare tools for LLM agents once; run them under the limits declared.",
        epilog=_EPILOG,
    )
    click.version_option(package_name="tooldecl")(made)

    return made
