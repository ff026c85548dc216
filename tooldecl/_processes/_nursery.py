"""
The host's side of the zygote: starting it, having it fork workers, and ending it.
"""

from __future__ import annotations

import array
import fcntl
import json
import os
import socket
import subprocess
import sys
import threading
import weakref

from collections.abc import Callable, Iterable
from typing import final

from .._clock import monotonic
from .._isolation import start_thread
from ._handle import NoProcessError, Worker
from ._loading import import_path
from ._zygote import HELLO


# Seconds for the zygote or a worker to start, the import of the tools' modules included.
START_SECONDS = 60.0
# Seconds until who waits for that sees that nobody waits for him any more.
LOOK_SECONDS = 0.02
# Seconds for the zygote to end after its control socket was closed.
END_SECONDS = 2.0

_BOOT = (
    "import json, sys; given = json.loads(sys.argv[-1]); sys.path[:] = given['path']; "
    "from tooldecl._processes._zygote import main; "
    "main(int(sys.argv[-2]), sys.argv[-1])"
)


def no_process(error: OSError) -> NoProcessError:
    """
    Return the refusal for what the system does not give, without the paths in it.
    """
    return NoProcessError(error.strerror or type(error).__name__)


@final
class Nursery:
    """
    One zygote, from its start to its end.

    Args:
        modules: What it imports before it forks: pairs of name and file.
        memory_limit: Bytes of address space that a body may map, or None.

    Raises:
        NoProcessError: It cannot be started.
    """

    def __init__(
        self,
        modules: Iterable[tuple[str, str | None]],
        *,
        memory_limit: int | None,
    ) -> None:
        if not sys.executable:
            raise NoProcessError("the path of the Python interpreter is not known")
        settings = {
            "path": import_path(),
            "modules": list(modules),
            "memory_limit": memory_limit,
            "host": os.getpid(),
        }
        errors = _error_output()  # before a socket of ours may have its number
        kind = socket.SOCK_SEQPACKET
        try:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, kind)
        except OSError as error:
            raise no_process(error) from error
        try:
            self._process = _started(theirs, json.dumps(settings), errors)
        except OSError as error:
            self._control.close()
            raise no_process(error) from error
        finally:
            theirs.close()
        self._greeted: list[bool] = []
        self._finalizer = weakref.finalize(
            self, _end, self._control, self._process, self._greeted
        )

    def meet(self) -> bool:
        """
        Wait until it has imported its modules; False, and its end, where it does not.
        """
        self._control.settimeout(START_SECONDS)
        try:
            if self._control.recv(len(HELLO)) == HELLO:
                self._greeted.append(True)
        except OSError:
            pass
        if not self._greeted:
            self.end()
            return False
        self._control.settimeout(None)

        return True

    def cancel(self) -> None:
        """
        Have `meet`, which another thread may be in, fail at once.
        """
        self._process.kill()

    def spawn(self) -> Worker:
        """
        Ask for a worker; it need not be there yet.

        Raises:
            OSError: The zygote is gone.
            NoProcessError: There are no descriptors left.
        """
        try:
            ours, theirs = socket.socketpair()
        except OSError as error:
            raise no_process(error) from error
        try:
            news, tell = os.pipe()
        except OSError as error:
            ours.close()
            theirs.close()
            raise no_process(error) from error
        fds = array.array("i", [theirs.fileno(), tell])
        try:
            self._control.sendmsg([b"s"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        except OSError:
            ours.close()
            os.close(news)
            raise
        finally:
            theirs.close()
            os.close(tell)

        return Worker(self, ours, news)

    def end(self) -> None:
        """
        End it, and all workers with it; may be called twice.
        """
        self._finalizer()

    def forget(self) -> None:
        """
        Let go of it in a forked child, whose it is not.
        """
        self._finalizer.detach()
        self._control.close()
        self._process.returncode = 0


@final
class Start:
    """
    A zygote that is being started.

    Args:
        ways: How to make it, the best first.
    """

    def __init__(self, *ways: Callable[[], Nursery]) -> None:
        self._ways = ways
        self._lock = threading.Lock()
        self._cancelled = False
        self._tried: Nursery | None = None
        self._done = threading.Event()
        self._nursery: Nursery | None = None
        self.reason = "the process that starts workers is not ready yet"
        start_thread(threading.Thread(target=self._run, daemon=True))

    def _run(self) -> None:
        try:
            for way in self._ways:
                with self._lock:
                    self._tried = None if self._cancelled else way()
                if self._tried is not None and self._tried.meet():
                    self._nursery = self._tried
                    break
            else:
                self.reason = "the process that starts workers could not be started"
        except Exception as error:  # who waits for it is told
            self.reason = str(error)
        self._done.set()

    def cancel(self) -> None:
        """
        Want none any more; one that is there already is left to its owner.
        """
        with self._lock:
            self._cancelled = True
            if self._tried is not None and not self.is_over:
                self._tried.cancel()

    @property
    def is_over(self) -> bool:
        """
        Whether it is there, or cannot be.
        """
        return self._done.is_set()

    def forget(self) -> None:
        """
        Let go of it in a forked child, where no thread waits for it.
        """
        if self._tried is not None:
            self._tried.forget()

    def wait(self, until: float, is_stopped: Callable[[], bool]) -> Nursery | None:
        """
        Wait for it; None where there is none, or not yet.
        """
        while not (self.is_over or is_stopped()):
            left = until - monotonic()
            if left <= 0:
                break
            self._done.wait(min(left, LOOK_SECONDS))

        return self._nursery


def _started(
    control: socket.socket, settings: str, errors: int
) -> subprocess.Popen[bytes]:
    # In a host that has closed its own, it may have the number of a standard stream.
    fd = fcntl.fcntl(control, fcntl.F_DUPFD_CLOEXEC, 3)
    try:
        return subprocess.Popen(  # noqa: S603 (our own program, our own arguments)
            # -P: with "-c" alone, what lies in the working directory hides other modules.
            [sys.executable, "-P", *_flags(), "-c", _BOOT, str(fd), settings],
            pass_fds=[fd],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            process_group=0,  # a Ctrl-C at the terminal is the host's
        )
    finally:
        os.close(fd)


def _error_output() -> int:
    """
    Return where the host's errors go: all that its workers print goes there.
    """
    try:
        os.fstat(2)
    except OSError:
        return subprocess.DEVNULL

    return 2


def _flags() -> list[str]:
    """
    Return the options that this interpreter was started with, for another one.
    """
    flags = sys.flags
    given = ["-" + "O" * flags.optimize] if flags.optimize else []
    if flags.isolated:
        given.append("-I")
    given += [f"-W{option}" for option in sys.warnoptions]
    for name, value in sys._xoptions.items():
        given.append(f"-X{name}" if value is True else f"-X{name}={value}")

    return given


def _end(
    control: socket.socket, zygote: subprocess.Popen[bytes], greeted: list[bool]
) -> None:
    """
    End a zygote, and with it its workers.
    """
    control.close()
    if not greeted:  # it may be in the import of a module, for ever
        zygote.kill()
    try:
        zygote.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        zygote.kill()  # the kernel ends the workers with it
        zygote.wait()
