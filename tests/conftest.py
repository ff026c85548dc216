"""
What pytest does for the whole suite: coroutine tests without a plugin, both fronts, a gate
that no test leaves closed, and a look at the end at what is left.
"""

from __future__ import annotations

import asyncio
import gc
import inspect
import os
import signal
import tempfile
import threading

from contextlib import ExitStack
from pathlib import Path

import pytest

from fronts import FRONTS, Listener
from given import GIVEN
from ordering import Gate
from source import is_found


# Tests that need an optional package, by folder; a session of nox brings it.
NEEDED = {
    "property": ["hypothesis"],
    "extras/mcp": ["mcp"],
    "extras/models": ["openai", "anthropic", "google.genai"],
    "extras/otel": ["opentelemetry.sdk"],
    "extras/langchain": ["langchain", "langgraph"],
    "extras/openai_agents": ["agents"],
    "extras/pydantic_ai": ["pydantic_ai"],
    "extras/ray": ["ray"],
    "extras/ray_nodes": ["ray"],
    "extras/loky": ["loky"],
    "extras/dask": ["distributed"],
    "extras/celery": ["celery"],
}

collect_ignore = [f for f, names in NEEDED.items() if not all(map(is_found, names))]

# A browser looks at the report; `nox -s report` finds one.
if "REPORT_BROWSER" not in os.environ:
    collect_ignore.append("extras/report")

# The site is there, and a browser to look at it, in `nox -s docs`.
if "WEBSITE" not in os.environ:
    collect_ignore.append("extras/website")
elif "WEBSITE_BROWSER" not in os.environ:
    collect_ignore.append("extras/website/test_in_a_browser.py")

HANGS_AFTER = 30

# A shell's job in the background ignores Ctrl-C, and so would each script of a test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """
    Run coroutine tests, each in a fresh loop in debug mode.
    """
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None

    names = pyfuncitem._fixtureinfo.argnames
    kwargs = {name: pyfuncitem.funcargs[name] for name in names}
    with asyncio.Runner(debug=True) as runner:
        # A step that takes long on a busy machine is not worth a word in the log.
        runner.get_loop().slow_callback_duration = HANGS_AFTER
        runner.run(asyncio.wait_for(pyfuncitem.obj(**kwargs), HANGS_AFTER))

    return True


@pytest.fixture(autouse=True)
def _no_runs(request):
    """
    Empty the list RUNS of the module of a test, in which its tools note that they ran.
    """
    getattr(request.module, "RUNS", []).clear()


@pytest.fixture(params=FRONTS)
def front(request):
    """
    Run the test from a script without a loop, and from a loop.
    """
    return request.param


@pytest.fixture
def gate():
    """
    Hold bodies until the test lets them go, at the latest when it ends.
    """
    gate = Gate()
    yield gate
    gate.open()


@pytest.fixture
def listener():
    """
    Hear what a client tells its hooks.
    """
    return Listener()


def left_in(folder: Path) -> list[str]:
    """
    List the children and the threads of this process, and what is in a folder.
    """
    threads = threading.enumerate()
    # One that no code of Python's has started has a name of this kind.
    found = [f"thread {t.name}" for t in threads if not t.name.startswith("Dummy-")]
    for at in Path("/proc/self/task").glob("*/children"):
        for number in at.read_text(encoding="utf-8").split():
            command = Path(f"/proc/{number}/cmdline").read_text(encoding="utf-8")
            # Python's own, or loky's, which lives as long as its process.
            if "resource_tracker" not in command:
                found.append(f"child {number} {command[:200]}")
    found += [f"file {at.name}" for at in folder.iterdir()]

    return found


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left(tmp_path_factory):
    """
    End the session by a look at what it has left: no process, no thread, no file.
    """
    folder = tmp_path_factory.mktemp("temporary")
    before = set(left_in(folder))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))  # for the processes that tests start
        patch.setattr(tempfile, "tempdir", str(folder))
        yield
    left: list[str] = []
    waiting = threading.Event()
    for _ in range(HANGS_AFTER * 10):
        gc.collect()  # each time: what has ended meanwhile may have held the rest
        left = [x for x in left_in(folder) if x not in before]
        if not left:
            break
        waiting.wait(0.1)

    assert [] == left


@pytest.fixture(scope="session", autouse=True)
def given_engines(nothing_is_left):
    """
    Have what the engines need that this session puts in the place of ours.
    """
    with ExitStack() as stack:
        for module in GIVEN.values():
            stack.enter_context(module.running())
        yield
