"""
A signal that stops what several threads do for one caller.
"""

from __future__ import annotations

import threading

from ordering import HANGS_AFTER
from tooldecl._isolation import StopSignal


def test_a_callback_is_called_once():
    """
    CAN-04: a caller that is stopped twice ends each body once.
    """
    signal, called = StopSignal(), []
    signal.add(lambda: called.append(1))
    for _ in range(2):
        signal.set()

    assert ([1], True) == (called, signal.is_set)


def test_who_comes_late_is_called_at_once():
    """
    CAN-04: a body that begins in that very moment must not be forgotten.
    """
    signal, called = StopSignal(), []
    signal.set()
    signal.add(lambda: called.append(1))

    assert [1] == called


def test_who_has_left_is_not_called():
    """
    CAN-05: a body that has ended has nothing to be stopped; leaving twice is no fault.
    """
    signal, called = StopSignal(), []

    def callback():
        called.append(1)

    signal.add(callback)
    for _ in range(2):
        signal.discard(callback)
    signal.set()

    assert [] == called


def test_a_callback_may_use_the_signal():
    """
    CAN-04: no lock is held meanwhile, or waking one body could wait for ever for another.
    """
    signal, called = StopSignal(), []
    signal.add(lambda: signal.add(lambda: called.append(1)))
    signal.set()

    assert [1] == called


def test_two_that_set_it_at_once_call_each_once():
    """
    CAN-04: an interrupt and a failure may come together, on two threads.
    """
    signal, barrier = StopSignal(), threading.Barrier(2)
    called: list[int] = []
    for number in range(200):
        signal.add(lambda n=number: called.append(n))

    def go():
        barrier.wait(HANGS_AFTER)
        signal.set()

    threads = [threading.Thread(target=go) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANGS_AFTER)

    assert list(range(200)) == sorted(called)
