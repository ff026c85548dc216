"""
Tools that get hold of what only their worker may use.
"""

from __future__ import annotations

import json
import os
import signal
import stat
import struct
import sys
import time

from pathlib import Path
from typing import Any

from processes.process_tools import apart
from tooldecl import ToolContext


def _sockets() -> list[int]:
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                found.append(int(name))
        except OSError:  # that of the listing itself
            continue

    return found


def _frame(kind: int, body: bytes) -> bytes:
    return struct.pack("!BI", kind, len(body)) + body


FORGED: dict[str, Any] = {
    "empty": {},
    "a list": [1, 2],
    "no call": {"ended": 1.0, "text": True, "writes": {}},
    "another call": {"call": 77, "ended": 1.0, "text": True, "writes": {}},
}
BROKEN: dict[str, Any] = {
    "nothing": {},
    "failed": {"failed": {}},
    "failed text": {"failed": "x"},
    "failed types": {"failed": {"types": 5, "spent": True}},
    "no writes": {"text": True},
    "writes": {"text": True, "writes": [1]},
    "ended": {"ended": "soon", "text": True, "writes": {}},
    "unencodable": {"unencodable": 1},
    "items": {"items": "many"},
    "no JSON": {"text": False, "writes": {}},
}


@apart(timeout=10)
def forge(what: str) -> str:
    """
    Answer in the place of the worker, whichever call it is, and then return.
    """
    if what in FORGED:
        heads = [FORGED[what]]
    else:
        heads = [{"call": call, **BROKEN[what]} for call in range(200)]
    for fd in _sockets():
        for head in heads:
            os.write(fd, _frame(4, json.dumps(head).encode() + b"\0forged"))

    return "returned"


@apart(timeout=10)
def write_to_socket(what: str) -> str:
    """
    Write what is no frame, or none of a worker.
    """
    data = {
        "garbage": b"Hello, this is no frame at all." * 10,
        "too long": struct.pack("!BI", 4, 2**31),
        "a call": _frame(3, b"{}"),
        "ready": _frame(2, b"null"),
        "progress": _frame(5, b'{"call": 0}'),
        "odd progress": _frame(5, b"[]"),
    }[what]
    for fd in _sockets():
        os.write(fd, data)

    return "returned"


@apart(timeout=0.3)
def stop_in_half(what: str) -> str:
    """
    Send half of a frame, or nothing, and stop the process.
    """
    data = {"header": b"\x04\x00", "half": _frame(4, b"x" * 1000)[:500], "no": b""}
    for fd in _sockets():
        os.write(fd, data[what])
    os.kill(os.getpid(), signal.SIGSTOP)

    return "returned"


@apart(timeout=0.3)
def close_socket(how: str) -> str:
    """
    Close the worker's own socket, and go on or return.
    """
    for fd in _sockets():
        os.close(fd)
    if how == "go on":
        time.sleep(60)

    return "returned"


@apart()
def poison(what: str) -> str:
    """
    Leave something in the process that the next call would meet.
    """
    if what == "timer":
        signal.signal(signal.SIGALRM, lambda *_: 1 / 0)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
    elif what == "modules":
        sys.modules.clear()
    elif what == "streams":
        sys.stdout, sys.stderr = None, 5  # type: ignore[assignment]
    elif what == "recursion":
        sys.setrecursionlimit(60)
    elif what == "directory":
        os.chdir("/")
        sys.path.clear()
    elif what == "signals":
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())

    return "left"


@apart()
def rest_a_little() -> str:
    """
    Be there when a timer goes off.
    """
    time.sleep(0.05)

    return "rested"


@apart(timeout=10)
def tell_too_much(ctx: ToolContext) -> str:
    """
    Say more of how far it is than anyone can read.
    """
    ctx.progress(1, 2, "x" * 70_000_000)

    return "told"


@apart(timeout=0.5)
def breed(folder: str) -> None:
    """
    Start what starts itself anew, again and again, in sessions of its own.
    """
    until = time.monotonic() + 5
    if not os.fork():
        os.setsid()
        while time.monotonic() < until:
            if os.fork():
                os._exit(0)
        Path(folder, "late").touch()
        os._exit(0)
    time.sleep(60)
