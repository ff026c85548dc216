"""
The end of the interpreter while bodies print and log: no abort, no wait, nothing lost.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ordering import HANGS_AFTER
from scripts import SOON, end, ended, start


pytestmark = pytest.mark.slow

HANGING = """
@tool(timeout=0.2)
def hang() -> str:
    "Hang."
    time.sleep(30)

client = ToolClient([hang])
"""

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

@tool(timeout=0.05)
async def to_helpers() -> str:
    "Print for ever, from a thread of its own that no cancellation reaches."
    await asyncio.to_thread(talk, sys.stdout)

logging.basicConfig()
client = ToolClient([to_stdout, to_stderr, to_log, to_helpers])
names = {names!r}
statuses = [client.invoke(name).status for name in names]
os.write(int(os.environ["ANSWERS"]), ",".join(statuses).encode())
"""


def outcome(names: list[str], *, read: bool) -> tuple[int, str]:
    """
    Run a script whose bodies print for ever; return its exit code and its answers.
    """
    ours, theirs = os.pipe()
    code = PRINTING.replace("{names!r}", repr(names))
    code = f"import os; os.environ['ANSWERS'] = '{theirs}'\n" + code
    script = start(code, stderr=subprocess.STDOUT, pass_fds=[theirs])
    os.close(theirs)
    reader = subprocess.Popen(
        [sys.executable, "-c", "import sys\nwhile sys.stdin.buffer.read(100): pass"],
        stdin=script.stdout if read else subprocess.DEVNULL,
    )
    try:
        returned = script.wait(HANGS_AFTER)
    finally:
        end(script)
        reader.wait()
    with os.fdopen(ours) as answers:
        return returned, answers.read()


MANY = 8  # the more of them, the surer one is stopped in the middle of a line

# Without the cure one run of three aborts at least, where somebody reads.
TIMES = [
    pytest.param(True, 3, id="read"),
    pytest.param(False, 1, id="unread"),
    pytest.param(True, 20, id="read, often", marks=pytest.mark.stress),
    pytest.param(False, 20, id="unread, often", marks=pytest.mark.stress),
]


@pytest.mark.parametrize(("read", "times"), TIMES)
@pytest.mark.parametrize(
    "names",
    [
        ["to_stdout"] * MANY,
        ["to_stderr"] * MANY,
        ["to_log"],
        ["to_helpers"] * MANY,
        ["to_stdout", "to_stderr", "to_log", "to_helpers"],
    ],
    ids=lambda names: f"{len(names)} {names[0]}",
)
def test_bodies_that_print_do_not_abort_the_end(names, read, times):
    """
    Trap 11: a daemon thread that is stopped inside ``print`` holds the stream's lock,
    and one that fills a pipe nobody reads holds it, and its log handler, before that.
    """
    expected = (0, ",".join(["timeout"] * len(names)))

    assert [expected] * times == [outcome(names, read=read) for _ in range(times)]


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


def test_what_is_printed_at_the_exit_is_not_lost():
    """
    Trap 11: what the program has registered for its exit may come after the cure.
    """
    script = start(
        HANGING
        + """
import atexit
from tooldecl._isolation import _exit

atexit.unregister(_exit._let_go)
atexit.register(lambda: print("bye"))
atexit.register(lambda: print("complaint", file=sys.stderr))
atexit.register(_exit._let_go)
client.invoke("hang")
print("before", end=" ")
"""
    )

    assert (0, "before bye\n", "complaint\n") == ended(script, SOON)


@pytest.mark.parametrize(
    "change",
    [
        "sys.stdout.close()",
        "sys.stdout = None",
        "sys.stdout = __import__('io').StringIO()",
    ],
)
def test_a_program_may_have_put_something_else_in_place_of_a_stream(change):
    """
    Trap 11: what is there is left alone, and what is closed is not written to.
    """
    script = start(HANGING + f"client.invoke('hang')\n{change}\n")

    assert (0, "", "") == ended(script, SOON)


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
