"""
The floors: what nobody can leave out, written as barely as Python allows.
"""

from __future__ import annotations

import _thread
import asyncio
import pickle
import socket
import struct
import subprocess
import sys

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, final

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from tooldecl import JSONLimits
from tooldecl._strictjson import loads_strict


GATE = "strict reader + pydantic's validate_json + the body"
HAND_OVER = "one raw lock to a waiting daemon thread, one back with a time limit"
ROUND_TRIP = (
    "a process at the other end of a socket pair, pickles both ways, no deadline"
)

LENGTH = struct.Struct("!I")


class Arguments(TypedDict):
    """
    What the tools of the bench take.
    """

    path: str
    limit: int
    tags: list[str]


def gate(text: str, body: Callable[..., object]) -> Callable[[], object]:
    """
    Read strictly, validate, run; nothing is kept, named or measured.
    """
    limits = JSONLimits()
    validate = TypeAdapter(Arguments).validate_json

    def run() -> object:
        loads_strict(text, limits)
        return body(**validate(text, strict=True, extra="forbid"))

    return run


def agate(
    text: str, body: Callable[..., Awaitable[object]]
) -> Callable[[], Awaitable[object]]:
    """
    The same with a body that is awaited.
    """
    limits = JSONLimits()
    validate = TypeAdapter(Arguments).validate_json

    async def run() -> object:
        loads_strict(text, limits)
        return await body(**validate(text, strict=True, extra="forbid"))

    return run


def agate_timed(
    text: str, body: Callable[..., Awaitable[object]]
) -> Callable[[], Awaitable[object]]:
    """
    The same under `asyncio.timeout`, which cannot tell its own end from the body's.
    """
    within = agate(text, body)

    async def run() -> object:
        async with asyncio.timeout(60):
            return await within()

    return run


@final
class HandOver:
    """
    A daemon thread that runs what it is handed, and wakes who waits.
    """

    def __init__(self) -> None:
        self._go, self._back = _thread.allocate_lock(), _thread.allocate_lock()
        self._go.acquire()
        self._back.acquire()
        self._body: Callable[[], object] | None = None
        self._value: object = None
        _thread.start_new_thread(self._main, ())

    def _main(self) -> None:
        while True:
            self._go.acquire()
            body = self._body
            if body is None:
                return
            self._value = body()
            self._back.release()

    def run(self, body: Callable[[], object]) -> object:
        """
        Run *body* there.
        """
        self._body = body
        self._go.release()
        self._back.acquire(True, 60)

        return self._value

    def close(self) -> None:
        """
        Let the thread end.
        """
        self._body = None
        self._go.release()


@contextmanager
def round_trip(arguments: dict[str, Any]) -> Iterator[Callable[[], object]]:
    """
    Call the same body in another process: pickles over a socket pair, and nothing else.
    """
    ours, theirs = socket.socketpair()
    script = Path(__file__).with_name("floor_worker.py")
    command = [sys.executable, str(script), str(theirs.fileno())]
    with subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:
        theirs.close()

        def run() -> object:
            send(ours, ("read", arguments))
            return receive(ours)

        run()
        yield run
        ours.close()
        process.wait()


def send(sock: socket.socket, value: object) -> None:
    """
    Send one pickle.
    """
    data = pickle.dumps(value)
    sock.sendall(LENGTH.pack(len(data)) + data)


def receive(sock: socket.socket) -> Any:
    """
    Receive one pickle, in one read where it is small.
    """
    data = sock.recv(1 << 16)
    if not data:
        raise EOFError
    (length,) = LENGTH.unpack_from(data)
    while len(data) < LENGTH.size + length:
        data += sock.recv(1 << 20)

    return pickle.loads(memoryview(data)[LENGTH.size :])  # noqa: S301 (our own)
