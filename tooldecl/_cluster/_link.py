"""
The one connection to Ray that a process has, shared by its engines.

Invariants:

1. A thread of ours opens it and stays until it is closed: the kernel ends what Ray starts
   for a cluster here together with the thread that has started it.
2. What the host has opened is used where its address is the one that was asked for, and
   is never closed here. Nothing here reads, writes or passes on a token.
3. A forked child has none: Ray cannot be used in it.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import weakref

from typing import Protocol, final

from .._clock import monotonic
from .._forking import watch
from .._isolation import start_thread
from ..exceptions import ClusterError
from . import _why


LOCAL = "local"

# Seconds for a connection to the head; Ray itself would ask for minutes.
CONNECT_SECONDS = 5.0
# Seconds for all of it, which starts some processes where the cluster is to be here.
JOIN_SECONDS = 60.0
# Seconds in which a failure is told again before it is tried again.
REMEMBERED_SECONDS = 5.0
# How often it is looked whether somebody has closed the connection under us.
LOOK_SECONDS = 0.5
# Seconds for Ray to leave.
LEAVE_SECONDS = 15.0

# What Ray looks at before it reports usage, which it does unless this is 0.
_REPORTS = "RAY_USAGE_STATS_ENABLED"


class User(Protocol):
    """
    Who has calls on the connection.
    """

    def lost(self) -> None:
        """
        Hear that it is gone: nothing that was sent will be answered.
        """
        ...


@final
class Link:
    """
    A connection, from the wish for it to its end.

    Attributes:
        address: What was asked for.
        error: Why there is none.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.error: ClusterError | None = None
        self.users: weakref.WeakSet[User] = weakref.WeakSet()
        self._settled = threading.Event()
        self._leave = threading.Event()
        self._left = threading.Event()
        self._failed_at = 0.0

    @property
    def is_up(self) -> bool:
        """
        Whether calls can be sent.
        """
        return self._settled.is_set() and self.error is None

    @property
    def is_stale(self) -> bool:
        """
        Whether it is over, and another may be tried.
        """
        if self._leave.is_set() or self._left.is_set():
            return True
        failed = self._settled.is_set() and self.error is not None

        return failed and monotonic() - self._failed_at > REMEMBERED_SECONDS

    def open(self) -> None:
        """
        Begin to join.
        """
        start_thread(
            threading.Thread(target=self._keep, name="tooldecl-ray", daemon=True)
        )

    def wait(self, within: float) -> None:
        """
        Wait until calls can be sent.

        Raises:
            ClusterError: They cannot.
        """
        if not self._settled.wait(within):
            raise ClusterError(address=self.address, reason=_why.SLOW)
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """
        Leave the cluster, and end it where it was started here.
        """
        self._leave.set()
        self._left.wait(LEAVE_SECONDS)

    def _keep(self) -> None:
        import ray

        ours = False
        try:
            ours = _join(self.address)
        except ClusterError as error:
            self._fail(error)
        except BaseException as error:  # of Ray, which raises all kinds
            self._fail(_explained(self.address, error))
        self._settled.set()
        if self.error is not None:
            self._left.set()
            return
        while not self._leave.wait(LOOK_SECONDS):
            if not ray.is_initialized():
                self._fail(ClusterError(address=self.address, reason=_why.CLOSED))
                break
        try:
            if ours and ray.is_initialized():
                ray.shutdown()
        finally:
            self._left.set()
            for user in list(self.users):
                user.lost()

    def _fail(self, error: ClusterError) -> None:
        self._failed_at = monotonic()
        self.error = error


@final
class _Process:
    """
    What this process has of Ray.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.link: Link | None = None
        self.is_forked = False
        watch(self)

    def forget_parent(self) -> None:
        """
        Know in a forked child that it is one.
        """
        self.lock = threading.Lock()
        self.is_forked |= self.link is not None
        self.link = None


_HERE = _Process()


def link_to(address: str, user: User) -> Link:
    """
    Return the connection of this process, begun where there is none.

    Raises:
        ClusterError: There is one to another cluster, or there can be none.
    """
    with _HERE.lock:
        if _HERE.is_forked:
            raise ClusterError(address=address, reason=_why.FORKED)
        link = _HERE.link
        other = link is not None and link.address != address
        if link is not None and other and not link.is_stale and link.error is None:
            raise ClusterError(address=address, reason=_occupied(link))
        if link is None or other or link.is_stale:
            link = _HERE.link = Link(address)
            link.open()
        link.users.add(user)

        return link


def _occupied(link: Link) -> str:
    why = _why.OTHER if link.is_up else _why.TRYING

    return why.format(link.address)


def is_usable(link: Link | None) -> bool:
    """
    Whether a connection is the one of this process, which may be a fork of its owner's.
    """
    return link is not None and link is _HERE.link and not link.is_stale


def part(link: Link, user: User) -> None:
    """
    Note that *user* has no more calls; the last one closes the connection.
    """
    with _HERE.lock:
        link.users.discard(user)
        if link.users or _HERE.link is not link:
            return
        _HERE.link = None
    link.close()


def _join(address: str) -> bool:
    """
    Join a cluster, or start one here; whether the connection is ours to close.
    """
    import ray

    if ray.is_initialized():
        given = ray.get_runtime_context().gcs_address
        if given != address:
            raise ClusterError(address=address, reason=_why.HOSTS.format(given))
        return False
    if address != LOCAL:
        _knock(address)
    before = os.environ.get(_REPORTS)
    os.environ[_REPORTS] = "0"
    try:
        if address == LOCAL:
            ray.init(
                address=LOCAL, include_dashboard=False, logging_level=logging.ERROR
            )
        else:
            ray.init(address=address, logging_level=logging.ERROR)
    finally:
        if before is None:
            del os.environ[_REPORTS]
        else:
            os.environ[_REPORTS] = before

    return True


def _knock(address: str) -> None:
    """
    See whether anybody listens at an address.

    Raises:
        ClusterError: Nobody does.
    """
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS):
            return
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise ClusterError(address=address, reason=_why.NOBODY.format(why)) from error


def _explained(address: str, error: BaseException) -> ClusterError:
    """
    Say what to do about what Ray has raised.
    """
    line = f"{type(error).__name__}: {error}".splitlines()[0]
    # Somebody listens there: a head that is asked without its token answers so.
    refused = isinstance(error, ConnectionError) or "authent" in line.lower()
    reason = _why.REFUSED if refused else _why.FAILED
    said = ClusterError(address=address, reason=reason.format(line))
    said.__cause__ = error

    return said
