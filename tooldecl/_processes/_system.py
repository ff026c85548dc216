"""
What Linux gives to bind processes to each other, and to find those left behind.

https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
https://man7.org/linux/man-pages/man2/PR_SET_CHILD_SUBREAPER.2const.html
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

from pathlib import Path


_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def is_supported() -> bool:
    """
    Whether a worker can be ended here with all that it started.
    """
    return sys.platform == "linux"


def die_with_parent(parent: int) -> None:
    """
    End this process as soon as the thread that forked it has ended.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it had ended before
        os._exit(1)


def live_on() -> None:
    """
    Take back `die_with_parent`.
    """
    _prctl(_PR_SET_PDEATHSIG, 0)


def adopt_orphans() -> None:
    """
    Become the parent of whatever descendant loses its own.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def children() -> list[int]:
    """
    List the processes whose parent is this one's main thread, ended ones too.
    """
    own = os.getpid()
    try:
        text = Path(f"/proc/self/task/{own}/children").read_text(encoding="ascii")
    except OSError:  # a kernel without that file
        return [pid for pid in _all() if _parent_of(pid) == own]

    return [int(pid) for pid in text.split()]


def _all() -> list[int]:
    return [
        int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()
    ]


def _parent_of(pid: int) -> int:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0

    return int(stat.rpartition(")")[2].split()[1])


def address_space() -> int:
    """
    Return the bytes of address space that this process has in use.
    """
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]

    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def send_signal(pid: int, number: int, *, group: bool) -> None:
    """
    Send a signal to a process, or to its group; one that is gone needs none.

    Raises:
        PermissionError: It belongs to somebody else.
    """
    try:
        if group:
            os.killpg(pid, number)
        else:
            os.kill(pid, number)
    except ProcessLookupError:
        pass


def is_alive(pid: int) -> bool:
    """
    Whether a process is there and can still run.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False

    return stat.rpartition(")")[2].split()[0] not in "ZX"
