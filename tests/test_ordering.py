"""
The helpers that force an order do force it.
"""

from __future__ import annotations

import threading

import pytest

import ordering


def test_steps_run_in_the_order_of_their_numbers():
    """
    Tests of races rely on it whatever thread comes first.
    """
    steps = ordering.Steps()
    seen = []

    def run(number):
        with steps(number):
            seen.append(number)

    threads = [threading.Thread(target=run, args=(n,)) for n in (2, 1, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [0, 1, 2] == seen


def test_a_gate_holds_bodies_until_it_is_opened():
    """
    A test of overlap has to know that all parties are inside before any leaves.
    """
    gate = ordering.Gate()
    left = []
    threads = [
        threading.Thread(target=lambda: (gate.pass_through(), left.append(1)))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    gate.wait_for_arrivals(3)
    inside = list(left)
    gate.open()
    for thread in threads:
        thread.join()

    assert ([], [1, 1, 1]) == (inside, left)


def test_a_step_that_never_comes_fails_with_its_number():
    """
    A hang should say which step is missing.
    """
    steps = ordering.Steps(hangs_after=0.01)
    with pytest.raises(AssertionError) as caught, steps(3):
        pass

    assert "Step 3 waited in vain: step 0 never came." == str(caught.value)
