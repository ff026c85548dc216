"""
One worker, as its host sees it.
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket

from typing import NamedTuple, final

from .._clock import monotonic, sleep
from ._system import is_alive, send_signal
from ._wire import BrokenFrameError, FrameReader
from ._zygote import BORN, BURIED


class NoProcessError(Exception):
    """
    There is no process to run a body in; nothing was run.
    """


class End(NamedTuple):
    """
    How a worker ended.

    Attributes:
        code: Its exit code; a negative one is a signal.
        swept: How many processes it had left behind, which were killed.
        left: The pid of one that could not be killed, or 0.
    """

    code: int
    swept: int
    left: int


@final
class Worker:
    """
    One worker, as its host sees it.

    Args:
        home: Where it came from.
        sock: The host's end of its private socket.
        news: Where its zygote tells of its birth and its end.

    Attributes:
        pid: Its pid, once it is known to be born.
        calls: How many calls it has answered.
        loaded: The numbers of the tools that it has imported.
    """

    __slots__ = ("calls", "frames", "home", "loaded", "news", "pid", "sock")

    def __init__(self, home: object, sock: socket.socket, news: int) -> None:
        self.home = home
        self.sock = sock
        self.news = news
        self.frames = FrameReader(sock)
        self.pid = 0
        self.calls = 0
        self.loaded: set[int] = set()

    def meet(self, until: float) -> None:
        """
        Wait until it has been born.

        Raises:
            NoProcessError: It has not been.
        """
        if self.pid:
            return
        data = self._read_news(BORN.size, until)
        pid = BORN.unpack(data)[0] if len(data) == BORN.size else 0
        if pid < 0:
            raise NoProcessError(os.strerror(-pid))
        if not pid:
            raise NoProcessError("the process that starts workers does not answer")
        self.pid = pid

    def _read_news(self, size: int, until: float) -> bytes:
        poll = select.poll()
        poll.register(self.news, select.POLLIN)
        left = None if until == math.inf else max(0.0, until - monotonic()) * 1000
        if not poll.poll(left):
            return b""

        return os.read(self.news, size)

    def is_well(self) -> bool:
        """
        Whether it can still take a call, after it was idle.
        """
        self.sock.settimeout(0)
        try:
            while True:
                self.frames.receive()  # what an earlier call has said late
                while self.frames.has_all():
                    self.frames.read()
        except BlockingIOError:
            return True
        except (EOFError, BrokenFrameError, OSError):
            return False

    def has_news(self) -> bool:
        """
        Whether it is dead, or its zygote is.
        """
        return bool(select.select([self.news], [], [], 0)[0])

    def kill(self) -> None:
        """
        Kill it and its group, now; from any thread, also twice.
        """
        if self.pid and not self.has_news():
            try:
                send_signal(self.pid, signal.SIGKILL, group=True)
            except (
                PermissionError
            ):  # its end will not be told, which is what is said then
                pass

    def end(self, seconds: float) -> End | None:
        """
        Wait until it is buried; None when it is not within *seconds*.
        """
        until = monotonic() + seconds
        data = self._read_news(BURIED.size, until)
        if len(data) == BURIED.size:
            return End(*BURIED.unpack(data))
        if not self.has_news():
            return None

        return self._end_alone(until)

    def _end_alone(self, until: float) -> End | None:
        """
        Wait for the end of a worker whose zygote is gone: nobody will tell of it.
        """
        try:
            send_signal(self.pid, signal.SIGKILL, group=True)
        except PermissionError:  # its number is another's already
            pass
        while is_alive(self.pid):
            if monotonic() >= until:
                return None
            sleep(0.001)

        return End(-signal.SIGKILL, 0, 0)

    def close(self) -> None:
        """
        Let go of it; it ends by itself where it is idle.
        """
        self.sock.close()
        os.close(self.news)
