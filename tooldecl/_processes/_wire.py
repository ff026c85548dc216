"""
Frames on the private socket between the host and one worker.

A frame is one byte for its kind, four for the length of what follows, and a head in JSON;
after a zero byte, which JSON never holds, may come a text that is taken as it is.
Only pickles of the host's own tools go out in another form, and none ever comes back.
"""

from __future__ import annotations

import json
import socket
import struct

from typing import Any, Final, final

from .._jsonforms import JSON


PREPARE: Final = 1  # host: a tool, pickled by its author's process
READY: Final = 2  # worker: it can be run, or why not
CALL: Final = 3  # host: run it
ANSWER: Final = 4  # worker: what came of it
PROGRESS: Final = 5  # worker: how far it is

HEADER = struct.Struct("!BI")

# Bytes of one frame at most: a worker may not flood its host.
MAX_FRAME = 64 * 2**20


class BrokenFrameError(Exception):
    """
    What came is no frame of ours, or one that is too long.
    """


def frame(kind: int, head: object, text: str | None = None) -> bytes:
    """
    Return a frame.
    """
    body = JSON.encode(head).encode()
    if text is not None:
        body += b"\0" + text.encode()

    return raw_frame(kind, body)


def raw_frame(kind: int, body: bytes) -> bytes:
    """
    Return a frame with a body that is not JSON.
    """
    return HEADER.pack(kind, len(body)) + body


def parts(body: bytes) -> tuple[Any, str]:
    """
    Return the head and the text of a frame.

    Raises:
        BrokenFrameError: It is none of ours.
    """
    head, _, text = body.partition(b"\0")
    try:
        return json.loads(head), text.decode()
    except (ValueError, RecursionError) as error:
        raise BrokenFrameError(str(error)) from None


def is_text(value: object) -> bool:
    """
    Whether the text of a value is the value; that of no text at all is JSON.
    """
    return isinstance(value, str) and str.__len__(value) > 0


@final
class FrameReader:
    """
    Takes frames off a socket, one after another, in few reads.
    """

    __slots__ = ("_buffer", "_sock")

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = bytearray()

    def has_all(self) -> bool:
        """
        Whether the next frame is here already.
        """
        return len(self._buffer) >= HEADER.size and self._missing() <= 0

    def read(self) -> tuple[int, bytes]:
        """
        Return the next frame's kind and body, within the socket's timeout for one read.

        Raises:
            EOFError: The other side is gone.
            BrokenFrameError: What came is no frame.
        """
        while not self.has_all():
            self.receive()
        kind, length = HEADER.unpack_from(self._buffer)
        end = HEADER.size + length
        body = bytes(memoryview(self._buffer)[HEADER.size : end])
        del self._buffer[:end]

        return kind, body

    def receive(self) -> None:
        """
        Read once.
        """
        wanted = 1 << 16
        if len(self._buffer) >= HEADER.size:
            wanted = min(max(wanted, self._missing()), 1 << 22)
        try:
            data = self._sock.recv(wanted)
        except ConnectionError as error:
            raise EOFError from error
        if not data:
            raise EOFError
        self._buffer += data

    def _missing(self) -> int:
        kind, length = HEADER.unpack_from(self._buffer)
        if not PREPARE <= kind <= PROGRESS or length > MAX_FRAME:
            raise BrokenFrameError(f"kind {kind}, {length} bytes")

        return HEADER.size + int(length) - len(self._buffer)
