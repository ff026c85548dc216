"""
Run a script at a terminal of its own, a real one, and type at it.
"""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import textwrap

from pathlib import Path
from typing import Any

import tooldecl

from ordering import HANGS_AFTER


# What a shell does for whatever it starts.
HEAD = """
import fcntl as _fcntl, termios as _termios
_fcntl.ioctl(0, _termios.TIOCSCTTY, 0)
"""


class Terminal:
    """
    A script with a terminal of its own, whose output goes somewhere else.
    """

    def __init__(self, script: str, *arguments: str, **options: Any) -> None:
        self.keyboard, theirs = pty.openpty()
        self.shown = ""
        environment = {
            **os.environ,
            "PYTHONPATH": str(Path(tooldecl.__file__).parents[1]),
        }
        self.script = subprocess.Popen(
            [sys.executable, "-c", HEAD + textwrap.dedent(script), *arguments],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
            **options,
        )
        os.close(theirs)

    def until(self, text: str) -> str:
        """
        Read what is shown until a text is there.
        """
        while text not in self.shown:
            if not select.select([self.keyboard], [], [], HANGS_AFTER)[0]:
                raise AssertionError(f"{text!r} is not shown.")
            self.shown += os.read(self.keyboard, 4096).decode()
        before, _, self.shown = self.shown.partition(text)

        return before

    def type(self, text: str) -> None:
        """
        Type something.
        """
        os.write(self.keyboard, text.encode())

    def end(self) -> tuple[str, str]:
        """
        Wait for the script; return its output and its complaints.
        """
        try:
            return self.script.communicate(timeout=HANGS_AFTER)
        finally:
            self.script.kill()
            self.script.wait()
            os.close(self.keyboard)
