"""
The plugin for pytest, in real runs of pytest on files of a user's.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

from pathlib import Path

import pytest

import tooldecl

from source import IS_INSTALLED, WITH_PLUGIN


pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path):
    """
    Run pytest on one file, warnings as errors, and return what it printed.
    """

    def run(text, *arguments, ini=""):
        (tmp_path / "test_it.py").write_text(text, encoding="utf-8")
        (tmp_path / "pytest.ini").write_text(
            f"[pytest]\nfilterwarnings = error\nstrict = true\n{ini}\n",
            encoding="utf-8",
        )
        package = str(Path(tooldecl.__file__).parent.parent)
        done = subprocess.run(
            [sys.executable, "-P", "-m", "pytest", "-q", *WITH_PLUGIN, *arguments],
            capture_output=True,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": package, "PYTEST_ADDOPTS": ""},
            text=True,
            timeout=60,
        )

        return done.stdout + done.stderr

    return run


def counts(output):
    """
    Return how many tests did what, from the last line of a run.
    """
    found = re.findall(r"(\d+) (passed|failed|error|warning)s?\b", output)
    return {what: int(number) for number, what in found}


FIXTURES = """
from tooldecl import Retry, tool
from tooldecl.testing import assert_called

MADE = []

@tool(retry=Retry(attempts=2, delay=3600, max_delay=3600, jitter=0))
def flaky(city: str) -> str:
    "Fail."
    raise ConnectionError

def test_an_hour_of_waits(tool_client, fake_clock, recording_hook):
    client = tool_client([flaky], clock=fake_clock, hooks=[recording_hook])
    MADE.append(client)
    [result] = [client.invoke("flaky", {"city": "Oslo"})]
    assert [3600] == fake_clock.sleeps
    assert [result] == assert_called(recording_hook, "flaky", city="Oslo")

def test_the_client_of_another_test_is_closed():
    assert "closed" in repr(MADE[0])
"""


def test_the_fixtures_are_there_and_close_what_they_made(run):
    """
    A user imports nothing, and leaves no loop or worker to the next test.
    """
    assert {"passed": 2} == counts(run(FIXTURES))


ABANDONING = """
import threading
import pytest
from tooldecl import ToolClient, tool

OPEN = threading.Event()
INSIDE = threading.Event()

@tool(timeout=0.5)
def stuck() -> None:
    "Wait."
    INSIDE.set()
    OPEN.wait(30)

def leave():
    ToolClient([stuck]).invoke("stuck")
    assert INSIDE.wait(30)

def test_that_leaves():
    leave()

@pytest.mark.tooldecl_abandons
def test_that_says_so():
    leave()

def test_that_comes_later():
    pass

@pytest.fixture
def opened():
    yield
    OPEN.set()
    import tooldecl.engines
    while tooldecl.engines.abandoned_calls():
        OPEN.wait()

def test_that_cleans_up(opened):
    leave()
"""


def test_a_test_that_leaves_bodies_running_fails(run):
    """
    It makes another test flaky; the one that did it is named, and no other.
    """
    output = run(ABANDONING, ini="tooldecl_no_abandoned = true")

    assert {"passed": 4, "error": 1} == counts(output)
    assert "ERROR test_it.py::test_that_leaves - Failed: Abandoned calls" in output
    assert re.search(
        r"still running: stuck \(\d+\.\d s\)\. Open what they wait", output
    )


def test_nobody_looks_where_nobody_asked(run):
    """
    Whoever only has the package installed gets no new failures.
    """
    assert {"passed": 4} == counts(run(ABANDONING))


NOTHING = """
import sys

def test_nothing_is_imported():
    heavy = {"pydantic", "wrapt", "asyncio", "tooldecl.testing", "tooldecl._client"}
    assert set() == heavy & set(sys.modules)
    assert "tooldecl._pytest_plugin" in sys.modules
"""


@pytest.mark.parametrize("ini", ["", "tooldecl_no_abandoned = true"])
def test_a_run_without_tools_pays_nothing(run, ini):
    """
    It is loaded in every run of pytest of whoever has the package installed.
    """
    assert {"passed": 1} == counts(run(NOTHING, ini=ini))


def test_it_can_be_left_out(run):
    """
    Whoever has fixtures of these names switches the plugin off by its name.
    """
    output = run("def test_it(fake_clock): pass", "-p", "no:tooldecl")
    expected = "error" if IS_INSTALLED else "passed"

    assert {expected: 1} == counts(output)


def test_it_can_be_asked_what_it_has(run):
    """
    The fixtures and the mark are listed with what they are for.
    """
    output = run("", "--fixtures") + run("", "--markers")

    for name in ("fake_clock", "recording_hook", "tool_client", "tooldecl_abandons"):
        assert re.search(rf"{name}\b.*\n?.+", output)
    assert "A clock that does not wait" in output
