"""
Run a script in an interpreter of its own, as a user would.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

from pathlib import Path
from typing import Any

import tooldecl

from ordering import HANGS_AFTER


# Generous: a plain end takes a quarter of a second.
SOON = 20

HEAD = """
import asyncio, os, signal, sys, threading, time
from tooldecl import ToolCall, ToolClient, tool
"""


def start(body: str, *flags: str, **options: Any) -> subprocess.Popen[str]:
    """
    Start a script that has the package's names.

    Its output is buffered, as it is for everybody who does not ask for anything else.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONUNBUFFERED"}
    environment["PYTHONPATH"] = str(Path(tooldecl.__file__).parents[1])
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}

    return subprocess.Popen(
        [sys.executable, *flags, "-c", HEAD + textwrap.dedent(body)],
        text=True,
        env=environment,
        **{**pipes, **options},
    )


def ended(
    script: subprocess.Popen[str], within: float = HANGS_AFTER
) -> tuple[int, str, str]:
    """
    Wait for a script to end; return its exit code, its output and its complaints.
    """
    try:
        out, err = script.communicate(timeout=within)
    finally:
        end(script)

    return script.returncode, out or "", err or ""


def end(script: subprocess.Popen[str]) -> None:
    """
    Leave nothing of a script, whatever it does.
    """
    script.kill()
    script.wait()
    for pipe in (script.stdout, script.stderr):
        if pipe is not None:
            pipe.close()


def run(body: str, *flags: str, **options: Any) -> tuple[int, str, str]:
    """
    Run a script to its end.
    """
    return ended(start(body, *flags, **options))
