"""
Which exceptions leave a client as they are, and which become a result.
"""

from __future__ import annotations

import asyncio

import pytest

from tooldecl._errors import is_fatal


class StopTheRunError(Exception):
    """
    A signal of a host's own, derived from Exception as some are.
    """


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        MemoryError(),
        GeneratorExit(),
        BaseException(),
        ExceptionGroup("", [ValueError(), MemoryError()]),
        BaseExceptionGroup("", [ValueError(), KeyboardInterrupt()]),
        ExceptionGroup("", [ExceptionGroup("", [MemoryError()])]),
    ],
    ids=repr,
)
def test_what_means_stop_is_fatal(error):
    """
    FAT-06: these must reach the host as they are, from whatever depth.
    """
    assert is_fatal(error)


@pytest.mark.parametrize(
    "error",
    [
        ValueError(),
        RecursionError(),
        AssertionError(),
        ImportError(),
        SystemExit(1),
        asyncio.CancelledError(),
        StopTheRunError(),
        ExceptionGroup("", [ValueError()]),
        BaseExceptionGroup("", [SystemExit(1), asyncio.CancelledError()]),
    ],
    ids=repr,
)
def test_what_a_tool_may_raise_is_not_fatal(error):
    """
    FAT-01, FAT-02, FAT-03: a failure of one tool is no failure of the host.
    """
    assert not is_fatal(error)


@pytest.mark.parametrize(
    "error",
    [
        StopTheRunError(),
        ExceptionGroup("", [ValueError(), StopTheRunError()]),
        SystemExit(1),
        ExceptionGroup("", [ValueError()]),
    ],
    ids=repr,
)
def test_a_host_can_name_what_is_fatal_for_it(error):
    """
    Stop signals that derive from Exception are caught by every wrapper on the way, unless
    the host can name them.
    """
    assert is_fatal(error, (StopTheRunError, SystemExit, ExceptionGroup))
