"""
What once broke a batch, or the call after it: very long limits, and a zygote that dies.
"""

from __future__ import annotations

import os
import signal

import pytest

from processes.process_tools import add, parent, pid
from processes.watching import await_end
from tooldecl import ToolCall, ToolClient
from tooldecl.engines import ProcessEngine


pytestmark = pytest.mark.slow


@pytest.mark.parametrize("seconds", [30 * 86_400, 1e10, 1e300])
def test_a_limit_of_months_is_a_limit(seconds):
    """
    The system waits for so long at once and no longer; the call is none the wiser.
    """
    with ToolClient([add], engine=ProcessEngine(timeout=seconds)) as client:
        calls = [ToolCall("add", {"a": 1, "b": 2})] * 2

        assert [3, 3] == [r.value for r in client.invoke_batch(calls, within=seconds)]


def test_the_call_after_a_zygote_has_died_is_answered():
    """
    R42: what is dead is replaced, and costs no later call.
    """
    engine = ProcessEngine(max_concurrency=1)
    with ToolClient([parent, pid], engine=engine) as client:
        for _ in range(3):
            worker, zygote = client.invoke("pid").value, client.invoke("parent").value
            os.kill(zygote, signal.SIGKILL)
            # Its end is the worker's too, but not at the same moment.
            assert await_end(zygote)
            assert await_end(worker)
            assert client.invoke("pid").ok
