"""
The end of the interpreter: at once, quiet, and whatever the bodies do.

Every script here would take half a minute if anything waited for its bodies.
"""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from ordering import HANGS_AFTER
from scripts import end, ended, start


pytestmark = pytest.mark.slow

STRICT = ("-X", "dev", "-W", "error")

# Generous: a plain end takes a quarter of a second.
SOON = 10

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

client = ToolClient([hang, hang_async, hang_apart, block])
"""


@pytest.mark.parametrize("name", ["hang", "hang_async", "hang_apart", "block"])
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


PRINTING = """
import logging
def talk(stream):
    while True:
        print("x" * 50, file=stream)

@tool(timeout=0.05)
def to_stdout() -> str:
    "Print for ever."
    talk(sys.stdout)

@tool(timeout=0.05)
def to_stderr() -> str:
    "Print for ever."
    talk(sys.stderr)

@tool(timeout=0.05)
def to_log() -> str:
    "Log for ever."
    while True:
        logging.warning("x" * 50)

logging.basicConfig()
client = ToolClient([to_stdout, to_stderr, to_log])
names = {names!r}
statuses = [client.invoke(name).status for name in names]
os.write(int(os.environ["ANSWERS"]), ",".join(statuses).encode())
"""


def outcome(names: list[str], *, read: bool) -> tuple[int, str]:
    """
    Run a script whose bodies print for ever; return its exit code and its answers.
    """
    ours, theirs = os.pipe()
    quiet = subprocess.PIPE if not read else subprocess.DEVNULL
    code = PRINTING.replace("{names!r}", repr(names))
    code = f"import os; os.environ['ANSWERS'] = '{theirs}'\n" + code
    script = start(code, stdout=quiet, stderr=quiet, pass_fds=[theirs])
    os.close(theirs)
    try:
        returned = script.wait(HANGS_AFTER)
    finally:
        end(script)
    with os.fdopen(ours) as answers:
        return returned, answers.read()


@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize(
    "names", [["to_stdout"] * 3, ["to_stderr"], ["to_stdout", "to_stderr"]], ids=str
)
def test_bodies_that_print_do_not_abort_the_end(names, read):
    """
    Trap 11: a daemon thread that is stopped inside ``print`` holds the stream's lock,
    and one that fills a pipe nobody reads holds it before that.
    """
    expected = (0, ",".join(["timeout"] * len(names)))

    assert [expected] * 20 == [outcome(names, read=read) for _ in range(20)]


def test_what_was_printed_before_is_not_lost():
    """
    Trap 11: the cure must not swallow the program's own output.
    """
    script = start(
        HANGING
        + """
print("before")
client.invoke("hang")
print("after", end="")
sys.stderr.write("complaint")
"""
    )

    assert (0, "before\nafter", "complaint") == ended(script, SOON)


def test_what_was_logged_before_is_not_lost(tmp_path):
    """
    Trap 11: a handler that keeps its records is still emptied, unless a body holds it.
    """
    path = tmp_path / "log"
    script = start(
        HANGING
        + f"""
import logging, logging.handlers
target = logging.FileHandler({str(path)!r})
kept = logging.handlers.MemoryHandler(100, target=target)
logging.getLogger("host").addHandler(kept)
logging.getLogger("host").warning("kept")
client.invoke("hang")
"""
    )

    assert (0, "", "") == ended(script, SOON)
    assert "kept\n" == path.read_text()


def test_a_body_that_a_thread_waits_for_is_no_trouble_either():
    """
    Trap 11: it was not given up, since its caller is another daemon thread.
    """
    script = start(
        """
        began = threading.Event()

        @tool(timeout=30)
        def talk() -> str:
            "Print for ever."
            while True:
                print("x" * 50)
                began.set()

        client = ToolClient([talk])
        threading.Thread(target=client.invoke, args=("talk",), daemon=True).start()
        began.wait()
        """,
        stdout=subprocess.DEVNULL,
    )

    assert (0, "", "") == ended(script, SOON)


class TestInterrupt:
    """
    One Ctrl-C ends a blocked call at once.
    """

    @pytest.mark.parametrize(
        "declared",
        [
            "@tool\ndef hang",
            "@tool(timeout=30)\ndef hang",
            "@tool(isolation='thread')\ndef hang",
            "@tool\nasync def hang",
            "@tool(timeout=30)\nasync def hang",
            "@tool(isolation='thread')\nasync def hang",
        ],
        ids=lambda text: text.replace("\n", " "),
    )
    @pytest.mark.parametrize("batch", [False, True], ids=["one", "batch"])
    def test_it_surfaces_as_keyboard_interrupt(self, declared, batch):
        """
        R24: whatever the body does, and however it is run; no second call begins.
        """
        wait = "await asyncio.sleep(30)" if "async" in declared else "time.sleep(30)"
        invoke = (
            "client.invoke_batch([ToolCall('hang'), ToolCall('hang')])"
            if batch
            else "client.invoke('hang')"
        )
        script = start(
            f"""
{declared}() -> str:
    "Hang."
    print("began", flush=True)
    {wait}

client = ToolClient([hang])
try:
    {invoke}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
        )
        assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)

        assert (0, "interrupted\n", "") == ended(script, SOON)

    def test_it_ends_asyncio_run(self):
        """
        R24: there the main task is cancelled, and the body in its thread is left.
        """
        script = start(
            """
            @tool
            def hang() -> str:
                "Hang."
                print("began", flush=True)
                time.sleep(30)

            try:
                asyncio.run(ToolClient([hang]).ainvoke("hang"))
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """
        )
        assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)

        assert (0, "interrupted\n", "") == ended(script, SOON)

    def test_a_wait_between_attempts_ends_too(self):
        """
        R24: nothing happens there, and nothing may hold it.
        """
        script = start(
            """
            from tooldecl import Retry

            @tool(retry=Retry(attempts=2, delay=30, jitter=0))
            def fail() -> str:
                "Fail."
                print("began", flush=True)
                raise ConnectionError

            try:
                ToolClient([fail]).invoke("fail")
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """
        )
        assert "began\n" == script.stdout.readline()
        script.send_signal(signal.SIGINT)
        code, out, _ = ended(script, SOON)

        assert (0, "interrupted\n") == (code, out)
