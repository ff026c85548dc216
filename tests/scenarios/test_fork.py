"""
A forked child has none of its parent's threads, and answers all the same.
"""

from __future__ import annotations

import pytest

from scripts import SOON, ended, start


pytestmark = pytest.mark.slow

TOOLS = """
import warnings
warnings.simplefilter("ignore", DeprecationWarning)  # of 3.12, about forking at all

from tooldecl.engines import SequentialEngine
from tooldecl.telemetry import LateFinish

release = threading.Event()

@tool
async def add(x: int, y: int) -> int:
    "Add, on the client's loop."
    return x + y

@tool(timeout=20)
def double(x: int) -> int:
    "Double, in a thread."
    return 2 * x

@tool(timeout=0.2)
def hang() -> int:
    "Hang."
    release.wait(20)
    return 0

ended = threading.Event()
client = ToolClient(
    [add, double, hang],
    engine=SequentialEngine(max_abandoned=1),
    hooks=[lambda e: ended.set() if isinstance(e, LateFinish) else None],
)

def answers():
    return [
        client.invoke("add", {"x": 1, "y": 2}).content,
        client.invoke("double", {"x": 2}).content,
        asyncio.run(client.ainvoke("add", {"x": 2, "y": 3})).content,
    ]

def in_child(function):
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(15)
        os.write(theirs, repr(function()).encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as pipe:
        text = pipe.read()
    os.waitpid(pid, 0)
    return text
"""


def test_a_child_answers_after_its_parent_has_used_the_client():
    """
    R149: the parent's loop and threads are not there, so the child makes its own; and
    the parent's go on.
    """
    script = start(
        TOOLS
        + """
print(answers(), in_child(answers), answers())
client.close()
print(in_child(lambda: "child"))
"""
    )
    each = "['3', '4', '5']"

    assert (0, f"{each} {each} {each}\n'child'\n", "") == ended(script, SOON)


def test_a_child_has_none_of_its_parents_abandoned_bodies():
    """
    TMO-28: what hangs in the parent makes nothing busy in the child.
    """
    script = start(
        TOOLS
        + """
client.invoke("hang")
busy = client.invoke("double", {"x": 2}).status.value
print(busy, len(client.abandoned), in_child(lambda: [len(client.abandoned), *answers()]))
release.set()
ended.wait()
print(answers())
"""
    )
    out = "busy 1 [0, '3', '4', '5']\n['3', '4', '5']\n"

    assert (0, out, "") == ended(script, SOON)


def test_a_child_of_a_loop_or_of_a_tool_answers():
    """
    R149: forked within a running loop, within a body and within the client's own loop.
    """
    script = start(
        TOOLS
        + """
@tool
def forking() -> str:
    "Fork in a body."
    return in_child(answers)

@tool
async def forking_async() -> str:
    "Fork on a loop."
    return in_child(answers)

async def main():
    return [
        in_child(answers),
        (await client.ainvoke("forking")).value,
        (await client.ainvoke("forking_async")).value,
    ]

client = client.adding(forking, forking_async)
answers()
print(asyncio.run(main()))
print([client.invoke("forking").value, client.invoke("forking_async").value])
"""
    )
    each = "\"['3', '4', '5']\""

    assert (0, f"[{each}, {each}, {each}]\n[{each}, {each}]\n", "") == ended(
        script, SOON
    )


def test_a_child_answers_whatever_its_parents_threads_were_doing():
    """
    R149: a lock that another thread held when the child was made is never released in it.
    """
    script = start(
        TOOLS
        + """
stop = threading.Event()

def use():
    while not stop.is_set():
        answers()

threads = [threading.Thread(target=use) for _ in range(3)]
for thread in threads:
    thread.start()
print({in_child(answers) for _ in range(20)})
stop.set()
for thread in threads:
    thread.join()
"""
    )

    assert (0, "{\"['3', '4', '5']\"}\n", "") == ended(script, SOON * 3)
