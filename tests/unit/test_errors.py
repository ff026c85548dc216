"""
What an exception means: its leaves, its causes, its class.
"""

from __future__ import annotations

import asyncio
import email.message
import errno
import ftplib
import http.client
import smtplib
import socket
import sqlite3
import ssl
import subprocess
import urllib.error

import pytest

from tooldecl._errors import causes, classify, leaves, retry_after
from tooldecl.exceptions import EngineBusyError, ToolError, ToolTimeoutError


def raised_from(error, *chain):
    """
    Give *error* the causes in *chain*, one after the other.
    """
    current = error
    for cause in chain:
        current.__cause__ = cause
        current = cause

    return error


def http_error(status, **headers):
    """
    Make the error that urllib raises for a response.
    """
    message = email.message.Message()
    for name, value in headers.items():
        message[name.replace("_", "-")] = value

    return urllib.error.HTTPError("http://shop", status, "no", message, None)


def database_error(code):
    """
    Make an error with one of SQLite's extended codes.
    """
    error = sqlite3.OperationalError("no")
    error.sqlite_errorcode = code

    return error


TIMEOUT = ToolTimeoutError(tool="f", timeout=1, source="engine", fate="stopped")
TRANSIENT = [
    ConnectionError(),
    ConnectionResetError(errno.ECONNRESET, "reset"),
    BrokenPipeError(),
    TimeoutError(),
    TIMEOUT,
    socket.gaierror(socket.EAI_NONAME, "no such host"),
    socket.herror(1, "no such host"),
    OSError(errno.EHOSTUNREACH, "no route"),
    OSError(errno.ENETUNREACH, "no network"),
    urllib.error.URLError(ConnectionRefusedError()),
    urllib.error.URLError(socket.gaierror()),
    http_error(429),
    http_error(503),
    http.client.RemoteDisconnected(),
    http.client.IncompleteRead(b""),
    asyncio.IncompleteReadError(b"", 1),
    subprocess.TimeoutExpired("cmd", 1),
    ssl.SSLEOFError(),
    smtplib.SMTPServerDisconnected(),
    ftplib.error_temp(),
    database_error(sqlite3.SQLITE_BUSY),
    database_error(sqlite3.SQLITE_BUSY_SNAPSHOT),
    database_error(sqlite3.SQLITE_LOCKED_SHAREDCACHE),
    EngineBusyError(tool="f", reason="it is full"),
]
ENVIRONMENT = [
    PermissionError(errno.EACCES, "no"),
    ImportError(),
    ModuleNotFoundError("no module named shop"),
    OSError(errno.ENOSPC, "full"),
    OSError(errno.EROFS, "read-only"),
    OSError(errno.EMFILE, "too many files"),
    http_error(401),
    http_error(403),
    smtplib.SMTPAuthenticationError(535, b"no"),
    database_error(sqlite3.SQLITE_FULL),
    database_error(sqlite3.SQLITE_READONLY),
    database_error(sqlite3.SQLITE_AUTH),
]
SEMANTIC = [
    ValueError(),
    TypeError(),
    KeyError("x"),
    FileNotFoundError(errno.ENOENT, "none"),
    IsADirectoryError(errno.EISDIR, "a directory"),
    RecursionError(),
    AssertionError(),
    StopIteration(),
    SystemExit(1),
    ToolError("The shop is closed."),
    http_error(404),
    http_error(400),
    urllib.error.URLError("unknown url type"),
    database_error(sqlite3.SQLITE_CONSTRAINT),
    sqlite3.ProgrammingError("closed"),
    OSError("no number at all"),
    OSError(["odd"], "a number that is none"),
    OSError("ECONNRESET", "a number that is none"),
]
TABLE = [
    *((error, "transient") for error in TRANSIENT),
    *((error, "environment") for error in ENVIRONMENT),
    *((error, "semantic") for error in SEMANTIC),
]


@pytest.mark.parametrize(("error", "expected"), TABLE)
def test_standard_exceptions_have_these_classes(error, expected):
    """
    CLS-03, CLS-04, CLS-05, CLS-06, E-15, R34: only a named set is worth a repeat, and a
    host can tell a missing permission from a wrong argument.
    """
    assert expected == classify(error)


@pytest.mark.parametrize("chosen", ["transient", "semantic", "environment"])
@pytest.mark.parametrize("error", [ValueError(), ConnectionError(), PermissionError()])
def test_a_class_given_by_the_author_wins(chosen, error):
    """
    CLS-01, CLS-02: the author knows more than any table, also from inside of a wrapper.
    """
    explicit = ToolError("No.", error_class=chosen)
    inside = raised_from(RuntimeError(), ValueError(), explicit)

    assert [chosen, chosen, chosen] == [
        classify(raised_from(explicit, error)),
        classify(inside),
        classify(raised_from(error, ToolError("No.", error_class=chosen))),
    ]


class OwnWayError(ToolError):
    """
    An author's error with a constructor that does not call ours.
    """

    def __init__(self, code):
        self.code = code


class HostileError(urllib.error.URLError):
    """
    An error that cannot be looked into.
    """

    reason = property(lambda self: 1 / 0, lambda self, value: None)


def test_an_error_that_was_made_or_behaves_oddly_has_a_class_too():
    """
    Whatever a tool raises becomes a result; looking at it must not raise itself.
    """
    waiting = raised_from(OwnWayError(5), ConnectionError())

    assert ["semantic", "transient", "semantic"] == [
        classify(error) for error in (OwnWayError(5), waiting, HostileError("x"))
    ]


def test_the_cause_decides_where_the_author_gave_no_class():
    """
    E-15: a failure that was wrapped for the model is as transient as what is inside.
    """
    error = raised_from(ToolError("The shop does not answer."), ConnectionError())

    assert "transient" == classify(error)


def test_the_nearest_entry_of_the_table_decides():
    """
    What was raised last says most about the failure.
    """
    error = raised_from(PermissionError(), RuntimeError(), ConnectionError())

    assert "environment" == classify(error)


def test_what_was_being_handled_is_no_cause():
    """
    An exception raised while another was handled may have nothing to do with it.
    """
    error = ValueError()
    error.__context__ = ConnectionError()

    assert "semantic" == classify(error)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ([ConnectionError(), TimeoutError()], "transient"),
        ([ConnectionError(), ValueError()], "semantic"),
        ([ConnectionError(), PermissionError()], "environment"),
        ([ValueError(), ImportError()], "environment"),
        ([raised_from(KeyError(), ConnectionError())], "transient"),
        ([ToolError("No.", error_class="transient"), ConnectionError()], "transient"),
        ([ToolError("No.", error_class="semantic"), ConnectionError()], "semantic"),
        ([ExceptionGroup("", [ConnectionError()]), TimeoutError()], "transient"),
    ],
)
def test_a_group_is_opened_to_its_leaves(inside, expected):
    """
    R120: a task group wraps every failure, and its wrapper says nothing. A repeat is good
    for a group only where it is good for all that is in it.
    """
    group = ExceptionGroup("several", inside)

    assert [expected, expected] == [
        classify(group),
        classify(raised_from(RuntimeError(), group)),
    ]


def test_a_class_on_the_cause_of_a_group_wins():
    """
    Whoever raises a group from a ToolError has said what kind of failure it is.
    """
    group = ExceptionGroup("", [ValueError()])

    assert "transient" == classify(
        raised_from(group, ToolError("No.", error_class="transient"))
    )


def test_circles_of_causes_and_groups_come_to_an_end():
    """
    An exception that is its own cause, or a group inside of itself, must not hang a call.
    """
    first, second = ValueError(), KeyError()
    raised_from(first, second, first)
    leaf = OSError()
    group = ExceptionGroup("", [leaf])
    raised_from(leaf, group)
    reason = urllib.error.URLError("x")
    reason.reason = reason

    assert [[first, second], ["semantic"] * 3] == [
        list(causes(first)),
        [classify(first), classify(group), classify(reason)],
    ]


def test_a_very_long_chain_is_followed_only_so_far():
    """
    A chain that a loop of wrappers made costs no more than a few dozen steps.
    """
    chain = [ValueError(n) for n in range(1000)]
    raised_from(*chain)

    assert chain[:32] == list(causes(chain[0]))


def test_leaves_come_in_order_and_each_once():
    """
    R120: the texts for the model name them in the order in which they were raised.
    """
    a, b, c = ValueError("a"), KeyError("b"), OSError("c")
    inner = ExceptionGroup("inner", [b, a])
    group = ExceptionGroup("outer", [a, inner, c, inner])

    assert ([a, b, c], [a]) == (list(leaves(group)), list(leaves(a)))


def test_a_group_that_is_deep_or_shares_its_parts_is_opened_quickly():
    """
    Forty levels that hold the one below twice are a million million leaves on paper.
    """
    leaf = ValueError()
    group = ExceptionGroup("", [leaf, leaf])
    for _ in range(2000):
        group = ExceptionGroup("", [group, group])

    assert [leaf] == list(leaves(group))


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (http_error(503, Retry_After="7"), 7.0),
        (raised_from(ToolError("No."), http_error(429, Retry_After="120")), 120.0),
        (
            ExceptionGroup("", [http_error(429, Retry_After=n) for n in ("3", "9")]),
            9.0,
        ),
        (http_error(503), None),
        (http_error(503, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT"), None),
        (http_error(503, Retry_After="-1"), None),
        (http_error(503, Retry_After="²"), None),
        (http_error(503, Retry_After="9" * 400), 999_999_999.0),
        (urllib.error.HTTPError("http://shop", 503, "no", None, None), None),
        (ValueError(), None),
    ],
)
def test_the_wait_that_a_server_asks_for_is_read(error, seconds):
    """
    E-12: a server that says when to come back knows it better than any formula. What is
    no plain number of seconds is not guessed at.
    """
    assert seconds == retry_after(error)
