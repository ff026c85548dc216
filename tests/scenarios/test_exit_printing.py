"""
The end of the interpreter while bodies print and log: no abort, no wait, nothing lost.
"""

from __future__ import annotations

import os
import subprocess

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


@pytest.mark.parametrize(
    "times", [1, pytest.param(20, marks=pytest.mark.stress)], ids=str
)
@pytest.mark.parametrize("read", [True, False], ids=["read", "unread"])
@pytest.mark.parametrize(
    "names",
    [
        ["to_stdout"] * 3,
        ["to_stderr"],
        ["to_log"],
        ["to_stdout", "to_stderr", "to_log"],
    ],
    ids=str,
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
