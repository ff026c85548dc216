"""
One worker, as its host sees it.
"""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import threading

from collections.abc import Callable
from typing import NamedTuple, final

from .._clock import monotonic, sleep
from ._system import is_alive, send_signal
from ._wire import BrokenFrameError, FrameReader
from ._zygote import BORN, BURIED


# A longer wait is waited for in parts: poll() does not take any number, and a signal that
# comes right before a wait does not end it.
LONGEST_WAIT = 0.5


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
        is_killed: Whether it has been told to end, and takes no further call.
    """

    __slots__ = (
        "_killing",
        "_poll",
        "calls",
        "frames",
        "home",
        "is_killed",
        "loaded",
        "news",
        "pid",
        "sock",
    )

    def __init__(self, home: object, sock: socket.socket, news: int) -> None:
        self.home = home
        self.sock = sock
        self.news = news
        self.frames = FrameReader(sock)
        self.pid = 0
        self.calls = 0
        self.loaded: set[int] = set()
        self.is_killed = False
        self._killing = threading.Lock()
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)
        self._poll.register(news, select.POLLIN)

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

    def is_lost(self) -> bool:
        """
        Whether its zygote ended before it told of a birth.
        """
        return not self.pid and self.has_news() and not os.read(self.news, BORN.size)

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
        poll = select.poll()
        poll.register(self.news, select.POLLIN)

        return bool(poll.poll(0))

    def read(self, left: Callable[[], float | None]) -> tuple[int, bytes]:
        """
        Return its next frame.

        A copy of it, or a program that it has started, may hold its socket open: that
        it has ended is seen by the news of it.

        Args:
            left: Gives the seconds that are left, or None.

        Raises:
            TimeoutError: They are over.
            EOFError: It is gone.
        """
        while not self.frames.has_all():
            seconds = left()
            bound = LONGEST_WAIT if seconds is None else min(seconds, LONGEST_WAIT)
            came = self._poll.poll(bound * 1000)
            if not came:
                if bound != seconds:
                    continue
                raise TimeoutError
            if came[0][0] == self.news and len(came) == 1:
                raise EOFError
            self.frames.receive()

        return self.frames.read()

    def end_call(self) -> bool:
        """
        Note that it has answered; False where it was told to end all the same.
        """
        with self._killing:
            self.calls += 1

            return not self.is_killed

    def kill(self, call: int | None = None) -> None:
        """
        Kill it and its group, now; from any thread, also twice.

        Args:
            call: Only while it has this one, which is the number of those before it.
        """
        with self._killing:
            if call is not None and call != self.calls:
                return
            self.is_killed = True
            if self.news >= 0 and self.pid and not self.has_news():
                self._kill()

    def _kill(self) -> None:
        # By its own number too: it may have left its group.
        for group in (True, False):
            try:
                send_signal(self.pid, signal.SIGKILL, group=group)
            except PermissionError:  # its end will not be told, and that is said then
                continue

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
        self._kill()
        while is_alive(self.pid):
            if monotonic() >= until:
                return None
            sleep(0.001)

        # Nobody has looked for what it had started in a session of its own.
        return End(-signal.SIGKILL, 0, self.pid)

    def forget(self) -> None:
        """
        Let go of it in a forked child, where a thread that has just killed it is no more.
        """
        self._killing = threading.Lock()
        self.close()

    def close(self) -> None:
        """
        Let go of it; it ends by itself where it is idle.
        """
        with self._killing:
            news, self.news = self.news, -1
        self.sock.close()
        if news >= 0:
            os.close(news)
