"""
The zygote: a process with one thread that forks warm workers and buries them.

Invariants:

1. It never has a second thread, so that a fork copies no lock that is held. A module that
   starts one while it is imported is imported by the workers alone.
2. Every worker leads a process group and adopts the orphans among its descendants. So
   whatever appears as a child of the zygote, and is no worker, was started by a worker
   that is dead, and is killed.
3. A worker is dead, its group is dead, and what it left is killed and reaped, before its
   host is told. It is reaped itself after that: until then its number is its own, and
   the host may kill by it.
4. The host's end closes the control socket. Then every worker's group is killed; where
   the zygote dies first, the kernel kills the workers.
5. Nothing here writes to the host's standard output.
"""

from __future__ import annotations

import array
import gc
import json
import os
import selectors
import signal
import socket
import struct
import sys

from contextlib import suppress
from pathlib import Path
from typing import NoReturn, final

from .._clock import monotonic, sleep
from ._loading import import_all
from ._system import adopt_orphans, children, die_with_parent, live_on, send_signal
from ._worker import serve


HELLO = b"ready"
BORN = struct.Struct("!q")  # a worker's pid, or minus an errno
BURIED = struct.Struct("!qqq")  # exit code, processes swept, one that may survive or 0

# Seconds to look for what a dead worker has left.
SWEEP_SECONDS = 0.8


def main(control: int, settings: str) -> NoReturn:
    """
    Run the zygote; called in its own process.
    """
    given = json.loads(settings)
    # Importing may take for ever, and nobody looks at the control socket meanwhile.
    die_with_parent(given["host"])
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # Writing to a terminal from the background must not stop it.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    adopt_orphans()
    for name, file in given["modules"]:
        with suppress(BaseException):  # a worker will say what is wrong with it
            import_all([(name, file)])
    if len(list(Path("/proc/self/task").iterdir())) > 1 or children():
        _start_over(control, given)
    live_on()
    gc.collect()
    gc.freeze()
    _Zygote(socket.socket(fileno=control), given["memory_limit"]).run()
    os._exit(0)


def _start_over(control: int, given: dict[str, object]) -> NoReturn:
    """
    Become a zygote without the modules, one of which has started a thread or a process.
    """
    for pid in children():
        _kill(pid, group=False)
        os.waitpid(pid, 0)
    os.set_inheritable(control, True)
    arguments = list(sys.orig_argv)
    arguments[-1] = json.dumps({**given, "modules": []})
    os.execv(sys.executable, arguments)  # noqa: S606 (there is no shell, and none is wanted)


@final
class _Zygote:
    def __init__(self, control: socket.socket, memory_limit: int | None) -> None:
        self._control = control
        self._memory_limit = memory_limit
        self._workers: dict[int, int] = {}  # pid: where its host reads of it
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._selector = selectors.DefaultSelector()

    def run(self) -> None:
        signal.signal(signal.SIGCHLD, _note)
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._selector.register(self._control, selectors.EVENT_READ)
        self._selector.register(self._woken, selectors.EVENT_READ)
        self._control.send(HELLO)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._control:
                    if not self._obey():
                        return
                else:
                    self._drain()
                    self._bury_the_dead()

    def _drain(self) -> None:
        try:
            while os.read(self._woken, 512):
                pass
        except BlockingIOError:
            pass

    def _obey(self) -> bool:
        """
        Do what the host asks for; False when there is no host any more.
        """
        try:
            message, ancillary, *_ = self._control.recvmsg(
                16,
                socket.CMSG_SPACE(8),
                socket.MSG_CMSG_CLOEXEC,  # or what a tool starts holds them open
            )
        except ConnectionError:
            message, ancillary = b"", []
        if not message:
            self._end_all()
            return False
        data, news = array.array("i", ancillary[0][2][:8])
        self._spawn(data, news)

        return True

    def _spawn(self, data: int, news: int) -> None:
        zygote = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.write(news, BORN.pack(-(error.errno or 1)))
            os.close(news)
            os.close(data)
            return
        if not pid:
            self._live(zygote, data, news)
        try:
            os.setpgid(pid, pid)
        except OSError:  # it has done so itself, and ended
            pass
        os.close(data)
        self._workers[pid] = news
        _tell(news, BORN.pack(pid))

    def _live(self, zygote: int, data: int, news: int) -> NoReturn:
        """
        Be a worker.
        """
        code = 1
        try:
            os.setpgid(0, 0)
            die_with_parent(zygote)
            adopt_orphans()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            self._control.close()
            for fd in (self._woken, self._wake, news, *self._workers.values()):
                os.close(fd)
            null = os.open(os.devnull, os.O_RDONLY)
            os.dup2(null, 0)
            os.close(null)
            serve(socket.socket(fileno=data), self._memory_limit)
            code = 0
        finally:
            os._exit(code)

    def _bury_the_dead(self) -> None:
        while True:
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return
            if dead is None:
                return
            pid = dead.si_pid
            if pid in self._workers:
                _kill(pid, group=True)
                swept, left = self._sweep()
                news = self._workers.pop(pid)
                _tell(news, BURIED.pack(_code(dead), swept, left))
                os.close(news)
            os.waitpid(pid, 0)

    def _sweep(self) -> tuple[int, int]:
        """
        Kill and reap what dead workers have left; return how many, and one that is still there.
        """
        until, swept = monotonic() + SWEEP_SECONDS, 0
        while orphans := [pid for pid in children() if pid not in self._workers]:
            reaped = 0
            for pid in orphans:
                _kill(pid, group=False)
                reaped += _reap(pid)
            swept += reaped
            if monotonic() >= until:
                return swept, orphans[0]
            if not reaped:
                sleep(0.0005)

        return swept, 0

    def _end_all(self) -> None:
        for pid in self._workers:
            _kill(pid, group=True)
            _kill(pid, group=False)  # it may have left its group
        how = os.WEXITED | os.WNOWAIT
        ends = {pid: os.waitid(os.P_PID, pid, how) for pid in self._workers}
        swept, left = self._sweep()
        for pid, news in self._workers.items():
            _tell(news, BURIED.pack(_code(ends[pid]), swept, left))


def _note(number: int, frame: object) -> None:
    """
    Do nothing in a handler: what wakes the zygote is the byte that comes with it.
    """


def _kill(pid: int, *, group: bool) -> None:
    try:
        send_signal(pid, signal.SIGKILL, group=group)
    except (
        PermissionError
    ):  # it has become somebody else; the host is told that it is left
        pass


def _code(end: os.waitid_result | None) -> int:
    """
    Return an exit code; minus the number of a signal.
    """
    if end is None:
        raise AssertionError("unreachable")

    return end.si_status if end.si_code == os.CLD_EXITED else -end.si_status


def _reap(pid: int) -> int:
    try:
        found, _ = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return 1

    return int(found == pid)


def _tell(news: int, data: bytes) -> None:
    try:
        os.write(news, data)
    except OSError:  # the host does not want to know
        pass
