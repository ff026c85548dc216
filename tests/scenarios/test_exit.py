"""
The end of the interpreter: at once, quiet, and whatever the bodies do.

Every script here would take half a minute if anything waited for its bodies.
"""

from __future__ import annotations

import pytest

from scripts import SOON, ended, start


pytestmark = pytest.mark.slow

STRICT = ("-X", "dev", "-W", "error")

HANGING = """
@tool(timeout=0.2)
def hang() -> str:
    "Hang."
    time.sleep(30)

@tool(timeout=0.2)
async def hang_async() -> str:
    "Hang, and refuse to end."
    while True:
        try:
            await asyncio.sleep(30)
        except BaseException:
            pass

@tool(timeout=0.2, isolation="thread")
async def hang_apart() -> str:
    "Hang on a loop of its own, and refuse to end."
    while True:
        try:
            await asyncio.sleep(30)
        except BaseException:
            pass

@tool(timeout=0.2)
async def block() -> str:
    "Hold the loop."
    time.sleep(30)

@tool(timeout=0.2)
async def hand_on() -> str:
    "Hand it on to a thread that no cancellation reaches."
    await asyncio.to_thread(time.sleep, 30)

@tool(timeout=0.2, isolation="thread")
async def hand_on_apart() -> str:
    "Hand it on to a thread, on a loop of its own."
    await asyncio.to_thread(time.sleep, 30)

client = ToolClient([hang, hang_async, hang_apart, block, hand_on, hand_on_apart])
"""


@pytest.mark.parametrize(
    "name",
    ["hang", "hang_async", "hang_apart", "block", "hand_on", "hand_on_apart"],
)
def test_a_script_ends_while_its_body_hangs(name):
    """
    R15, R13, trap 10: what was given up keeps nobody, and is not complained of.
    """
    script = start(HANGING + f"print(client.invoke({name!r}).status)", *STRICT)

    assert (0, "timeout\n", "") == ended(script, SOON)


@pytest.mark.parametrize("name", ["hang", "hang_async", "hang_apart"])
def test_asyncio_run_ends_while_its_body_hangs(name):
    """
    R27, trap 8: ``asyncio.run`` cancels what is left and waits for it; not for these.
    """
    script = start(
        HANGING + f"print(asyncio.run(client.ainvoke({name!r})).status)", *STRICT
    )

    assert (0, "timeout\n", "") == ended(script, SOON)


def test_asyncio_run_ends_while_a_generator_hangs():
    """
    Trap 8: closing the async generators that are left must not go wrong either.
    """
    script = start(
        """
        @tool(timeout=0.2)
        async def hang() -> str:
            "Yield, and refuse to end."
            yield "a"
            while True:
                try:
                    await asyncio.sleep(30)
                except asyncio.CancelledError:
                    pass

        print(asyncio.run(ToolClient([hang]).ainvoke("hang")).status)
        """,
        *STRICT,
    )

    assert (0, "timeout\n", "") == ended(script, SOON)


def test_a_cancelled_body_in_a_thread_keeps_nobody():
    """
    R13: the same for a body that was left because its caller was cancelled.
    """
    script = start(
        """
        began = threading.Event()

        @tool
        def hang() -> str:
            "Hang."
            began.set()
            time.sleep(30)

        async def main():
            task = asyncio.ensure_future(ToolClient([hang]).ainvoke("hang"))
            while not began.is_set():
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait({task})
            print(task.cancelled())

        asyncio.run(main())
        """,
        *STRICT,
    )

    assert (0, "True\n", "") == ended(script, SOON)


def test_a_client_that_is_never_closed_is_no_trouble():
    """
    R16: no thread of it is waited for, and nothing warns of what was left open.
    """
    script = start(
        """
        @tool
        async def add(x: int, y: int) -> int:
            "Add."
            return x + y

        @tool(timeout=5)
        def double(x: int) -> int:
            "Double."
            return 2 * x

        client = ToolClient([add, double])
        print(client.invoke("add", {"x": 1, "y": 2}).value)
        print(client.invoke("double", {"x": 2}).value)
        """,
        *STRICT,
    )

    assert (0, "3\n4\n", "") == ended(script, SOON)


def test_a_body_that_was_left_is_not_run_by_the_collection_of_its_client():
    """
    Invariant 3 of ``_abandoned``: collected, a coroutine runs once more, and one that
    refuses every exception would hold whoever collects it for ever.
    """
    script = start(
        HANGING
        + """
import gc

def use():
    client = ToolClient([hang_async])
    return asyncio.run(client.ainvoke("hang_async"))

result = use()
gc.collect()
print(result.status)
""",
        *STRICT,
    )

    assert (0, "timeout\n", "") == ended(script, SOON)


def test_a_body_that_was_left_is_not_run_by_the_end_of_the_interpreter():
    """
    Invariant 2 of ``_exit``: what takes the modules apart takes no body up again.
    """
    script = start(
        HANGING
        + """
import atexit, gc
from tooldecl._isolation import _abandoned, _exit

def take_apart():
    _abandoned._TASKS.clear()
    gc.collect()
    print("apart")

atexit.unregister(_exit._let_go)
atexit.register(take_apart)
atexit.register(_exit._let_go)
print(asyncio.run(client.ainvoke("hang_async")).status)
del client
""",
        *STRICT,
    )

    assert (0, "timeout\napart\n", "") == ended(script, SOON)
