"""
See which processes live, without asking again and again.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import textwrap
import threading

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ordering import HANGS_AFTER
from scripts import run, start
from tooldecl._processes._system import is_alive


TESTS = Path(__file__).parents[1]


def children(pid: int | str = "self") -> set[int]:
    """
    List the children of all threads of a process, ended ones that nobody reaped too.
    """
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            found |= {int(x) for x in (task / "children").read_text().split()}
        except OSError:  # the thread has just ended
            continue

    return found


def await_children(known: Iterable[int] = ()) -> set[int]:
    """
    Return this process's children, once those that are not known had time to end.
    """
    waiting = threading.Event()
    for _ in range(300):  # whoever waits for them is a thread of its own
        if children() <= set(known):
            break
        waiting.wait(0.01)

    return children()


def await_end(pid: int, within: float = HANGS_AFTER) -> bool:
    """
    Wait until a process has ended, whosever child it is; tell whether it has.
    """
    try:
        fd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        poll.poll(within * 1000)
    finally:
        os.close(fd)

    return not is_alive(pid)


def parent_of(pid: int) -> int:
    """
    Return the process that started another.
    """
    text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")

    return int(text.rpartition(")")[2].split()[1])


def shoot_all(pids: Iterable[int]) -> None:
    """
    End processes whose parent can no longer do it.
    """
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class Lifeline:
    """
    A pipe with a name: whatever a tool starts holds it open, and ends only by its death.
    """

    def __init__(self, folder: Path) -> None:
        self.path = str(folder / "lifeline")
        self.go = str(folder / "go")
        self.marker = folder / "marker"
        os.mkfifo(self.path)
        os.mkfifo(self.go)
        self._fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self._go = os.open(self.go, os.O_RDWR)

    @property
    def arguments(self) -> dict[str, str]:
        """
        What a tool needs to hold on to it.
        """
        return {"line": self.path, "go": self.go, "marker": str(self.marker)}

    def pid(self, within: float = HANGS_AFTER) -> int:
        """
        Wait for the number of the process at the far end.
        """
        return int(self.said(within))

    def is_held(self) -> bool:
        """
        Whether anything that got it is alive.
        """
        try:
            while os.read(self._fd, 100):  # what it has said
                continue
        except BlockingIOError:
            return True

        return False

    def is_cut(self, within: float = HANGS_AFTER) -> bool:
        """
        Wait until nothing is alive that got it.
        """
        while self.said(within):
            continue

        return True

    def said(self, within: float) -> bytes:
        """
        Wait for what is said next; nothing, once nobody is there to say anything.
        """
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if not poll.poll(within * 1000):
            raise AssertionError("Nothing came.")

        return os.read(self._fd, 100)

    def let_go(self) -> None:
        """
        Let what waits go on.
        """
        os.write(self._go, b"\n")

    def close(self) -> None:
        """
        Let go of it.
        """
        os.close(self._fd)
        os.close(self._go)


SCRIPT = f"""
sys.path[:0] = [{str(TESTS)!r}]
import json
from processes import hanging_tools, process_tools
from tooldecl.engines import *
"""


def run_script(body: str, *flags: str, **options: Any) -> tuple[int, str, str]:
    """
    Run a script that has the tools of this folder to its end.
    """
    return run(SCRIPT + textwrap.dedent(body), *flags, **options)


def start_script(body: str, *flags: str, **options: Any) -> Any:
    """
    Start one.
    """
    return start(SCRIPT + textwrap.dedent(body), *flags, **options)
