"""
A fork while other threads are inside of a client: the child has its locks, and not them.
"""

from __future__ import annotations

import os
import threading

import pytest

from tooldecl import Budget, ToolClient, ToolContext, tool


pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


@tool
def note(ctx: ToolContext) -> int:
    """
    Write to the state.
    """
    ctx.write("noted", 1)
    return 1


@pytest.mark.parametrize("options", [{}, {"budget": Budget(calls=10**9)}], ids=str)
def test_a_child_can_call_whatever_the_parents_threads_do(options):
    """
    Traps 28 and 29: a lock that a thread of the parent holds is nobody's in the child.
    """
    client, over = ToolClient([note], **options), threading.Event()

    def call() -> None:
        while not over.is_set():
            client.invoke("note")

    threads = [threading.Thread(target=call, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    statuses = []
    try:
        for _ in range(25):
            child = os.fork()
            if not child:
                os._exit(0 if client.invoke("note").ok else 1)
            statuses.append(ended(child))
    finally:
        over.set()
        for thread in threads:
            thread.join()

    assert [0] * 25 == statuses


def ended(child: int) -> int:
    """
    Return the exit code of a child, or kill one that hangs.
    """
    waiting = threading.Event()
    for _ in range(2_000):
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        waiting.wait(0.01)
    os.kill(child, 9)

    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
