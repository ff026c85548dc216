"""
Type commands: in processes of their own, where streams and exit codes are real, or here.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import subprocess
import sys
import textwrap

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tooldecl
import tooldecl.cli

from ordering import HANGS_AFTER


HOME = str(Path(tooldecl.__file__).parent.parent)

HELLO = """\
from tooldecl import tool

@tool
def add(a: int, b: int = 2) -> int:
    \"\"\"
    Add two integers.

    Args:
        a: The first.
        b: The second.
    \"\"\"
    return a + b
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """
    What came of a command.
    """

    code: int
    out: str
    err: str


def written(folder: Path, name: str, text: str) -> Path:
    """
    Write a file, and the folders above it.
    """
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(textwrap.dedent(text), encoding="utf-8")

    return file


def environment(**variables: str) -> dict[str, str]:
    """
    Return an environment in which nothing but the package is on the path.
    """
    gone = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONIOENCODING")
    env = {name: value for name, value in os.environ.items() if name not in gone}

    return env | {"PYTHONPATH": HOME, "PATH": os.defpath, "PYTHONUTF8": "1"} | variables


def started(folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """
    Start a command as its users do, without its folder of programs on the path.
    """
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "tooldecl", *arguments],
        cwd=folder,
        text=True,
        **{
            "env": environment(),
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **options,
        },
    )


def typed(folder: Path, *arguments: str, **options: Any) -> Done:
    """
    Run a command in a process of its own to its end.
    """
    typing = options.pop("typing", None)
    if typing is not None:
        options["stdin"] = subprocess.PIPE
    with started(folder, *arguments, **options) as process:
        try:
            out, err = process.communicate(typing, timeout=HANGS_AFTER)
        finally:
            process.kill()

    return Done(code=process.returncode, out=out or "", err=err or "")


class Here:
    """
    Runs commands in this process, in a folder that is forgotten afterwards.
    """

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def write(self, name: str, text: str) -> Path:
        """
        Write a module.
        """
        return written(self.folder, name, text)

    def __call__(self, *arguments: str) -> Done:
        importlib.invalidate_caches()
        self._capture.readouterr()
        try:
            code = tooldecl.cli.run(arguments)
        except SystemExit as left:
            code = int(left.code or 0)
        captured = self._capture.readouterr()

        return Done(code=int(code), out=captured.out, err=captured.err)


@contextlib.contextmanager
def forgotten(folder: Path) -> Iterator[None]:
    """
    Forget afterwards what was imported from a folder, and where from.
    """
    path = list(sys.path)
    try:
        yield
    finally:
        sys.path[:] = path
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None) or "").startswith(str(folder)):
                del sys.modules[name]
