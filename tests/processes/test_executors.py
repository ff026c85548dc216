"""
What an engine over an executor promises beyond the conformance of all engines: a clock and
a kill where the body is, whoever runs it there, and the truth about what was lost.
"""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import signal
import sys
import textwrap
import threading

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import resource_tracker

import pytest

from engine_stage import Stage, begin_batch, outcome
from engine_tools import hold
from fronts import call, call_batch
from given import GIVEN
from processes.executor_tools import (
    about,
    fail,
    fail_often,
    hang,
    hang_as,
    hang_first,
    hang_first_again,
    mark,
)
from processes.hanging_tools import HANGING, start_and_hang
from processes.process_tools import add
from processes.watching import (
    await_end,
    children,
    parent_of,
    shoot_all,
    start_script,
)
from recipes import recipe
from scripts import SOON, end, ended
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import ExecutorEngine
from tooldecl.exceptions import DeclarationError, WorkerDiedError
from tooldecl.telemetry import LateFinish


pytestmark = pytest.mark.slow

SPAWN = multiprocessing.get_context("spawn")
TOOLS = [about, add, fail, hang, hang_as, hang_first, hang_first_again, hold, mark]
TOOLS += [start_and_hang]


@pytest.fixture(autouse=True, scope="module")
def tracker():
    """
    Have what Python starts beside the first process and keeps until its own end.
    """
    resource_tracker.ensure_running()


def processes(number):
    """
    Return a pool of processes that were not forked.

    What is left of earlier ones goes first: where it is collected while a pool is made,
    CPython 3.13.0 complains of a call of its own tracker into itself.
    """
    gc.collect()

    return ProcessPoolExecutor(number, mp_context=SPAWN)


@pytest.fixture(params=["threads", "processes"])
def executor(request):
    """
    Run the test over threads of this process, and over processes that it has not forked.
    """
    makers = {
        "threads": lambda: ThreadPoolExecutor(4),
        "processes": lambda: processes(2),
    }
    with makers[request.param]() as executor:
        yield executor


@pytest.fixture(params=[*GIVEN] or ["threads", "processes"])
def engine(request):
    """
    Run the test under each of them, or under an engine of an optional package.
    """
    if request.param in GIVEN:
        yield GIVEN[request.param].make()
        return
    makers = {
        "threads": lambda: ThreadPoolExecutor(4),
        "processes": lambda: processes(2),
    }
    with makers[request.param]() as executor:
        yield ExecutorEngine(executor)


@pytest.fixture
def client(engine, make_client):
    """
    Have a client whose calls its executor runs.
    """
    return make_client(*TOOLS, engine=engine)


@pytest.fixture(params=[*GIVEN] or ["processes"])
def renewed(request):
    """
    Have an engine that has workers again when one was shot.
    """
    if request.param in GIVEN:
        yield GIVEN[request.param].make()
        return
    pools = []

    def make():
        pools.append(processes(1))

        return pools[-1]

    yield ExecutorEngine(recipe("renewed").Renewed(make))
    for pool in pools:
        pool.shutdown()


def test_a_call_is_run_where_the_executor_is(front, executor, make_client):
    """
    SPEC 6: by reference, in a process of its own, with what the call knows.
    """
    client = make_client(about, engine=ExecutorEngine(executor), state={"a": 1})
    result = call(front, client, "about", call_id="mine")
    call_id, attempt, state, here, _ = result.value

    assert ("ok", "completed") == (result.status, result.fate)
    assert ("mine", 1, {"a": 1}) == (call_id, attempt, state)
    assert here != os.getpid()
    assert call(front, client, "about").value[3] == here


@pytest.mark.parametrize("how", sorted(set(HANGING) - {"fat"}))
def test_no_body_outlives_its_deadline(how, client, lifeline):
    """
    R44, R45: whatever it does, nothing that it held is held when the answer is there.
    """
    result = client.invoke("hang_as", {"how": how, "line": lifeline.path})
    lifeline.pid()

    assert ("timeout", "killed", False) == (
        result.status,
        result.fate,
        lifeline.is_held(),
    )
    assert "limit declared on it. It was killed." in result.content
    assert () == client.abandoned


@pytest.mark.parametrize("how", ["group", "session", "double"])
def test_what_a_body_has_started_ends_with_it(how, client, lifeline):
    """
    R44: the work of a body may be in another process, which its deadline ends too.
    """
    result = client.invoke("start_and_hang", {"how": how, **lifeline.arguments})
    lifeline.pid()
    held = lifeline.is_held()
    lifeline.let_go()

    assert ("timeout", "killed", False) == (result.status, result.fate, held)
    assert not lifeline.marker.exists()


def test_places_are_free_after_bodies_that_hung(front, client, tmp_path, lifeline):
    """
    R44, SPEC 6: as many bodies as before are inside at once, and those that stood beside
    the hanging ones have run once each.
    """
    markers = [tmp_path / f"marker{n}" for n in range(4)]
    hanging = ToolCall("hang_as", {"how": "spin", "line": lifeline.path})
    calls = [ToolCall("mark", {"marker": str(marker)}) for marker in markers]
    mixed = [each for call in calls for each in (hanging, call)]
    results = call_batch(front, client, mixed)
    (tmp_path / "stage").mkdir()
    stage = Stage(tmp_path / "stage")
    future = begin_batch(front, client, stage.calls(("hold", "a"), ("hold", "b")))
    stage.arrivals(2)
    stage.go(2)

    assert ["timeout", "ok"] * 4 == [r.status for r in results]
    assert ["ran\n"] * 4 == [marker.read_text() for marker in markers]
    assert outcome(future).ok
    stage.close()


def test_the_engines_limit_begins_with_the_body(front, make_client, lifeline):
    """
    R63, SPEC 5: what a call waits for its executor is no part of its time.
    """
    free = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        executor.submit(free.wait)
        engine = ExecutorEngine(executor, timeout=30)
        client = make_client(add, engine=engine)
        threading.Timer(0.5, free.set).start()
        result = call(front, client, "add", {"a": 1, "b": 2})

    assert (3, True) == (result.value, result.queue_wait > 0.3)


def test_a_call_that_is_begun_too_late_is_not_begun(front, make_client, tmp_path):
    """
    ``expires``: what has waited longer for its executor has no effect any more.
    """
    free, marker = threading.Event(), tmp_path / "marker"
    with ThreadPoolExecutor(1) as executor:
        executor.submit(free.wait)
        client = make_client(mark, engine=ExecutorEngine(executor, expires=0.2))
        threading.Timer(0.5, free.set).start()
        late = call(front, client, "mark", {"marker": str(marker)})
        written = marker.exists()
        soon = call(front, client, "mark", {"marker": str(marker)})

    assert ("busy", "not_started", 0, False) == (
        late.status,
        late.fate,
        late.attempts,
        written,
    )
    assert ("ok", "ran\n") == (soon.status, marker.read_text())


def test_a_batch_that_is_over_begins_nothing(front, make_client, lifeline, tmp_path):
    """
    SPEC 6: the running call is ended in time, the one behind it never begins.
    """
    marker = tmp_path / "marker"
    calls = [
        ToolCall("hang", {"line": lifeline.path}),
        ToolCall("mark", {"marker": str(marker)}),
    ]
    with ThreadPoolExecutor(1) as executor:
        client = make_client(hang, mark, engine=ExecutorEngine(executor))
        client.invoke("mark", {"marker": str(tmp_path / "warm")})
        results = call_batch(front, client, calls, within=2.5)
        lifeline.pid()
        cut = lifeline.is_cut()

    assert ["timeout", "not_run"] == [r.status for r in results]
    assert (True, False) == (cut, marker.exists())


@pytest.mark.parametrize(
    ("name", "expected"), [("hang_first", "worker_died"), ("hang_first_again", "ok")]
)
def test_a_lost_call_is_repeated_only_where_that_is_safe(
    front, name, expected, renewed, make_client, lifeline, tmp_path
):
    """
    R39, SPEC 4: the executor's worker is shot under the body, which dies with it; nobody
    knows what it has done.
    """
    marker = tmp_path / "marker"

    def shoot():
        body = lifeline.pid()
        os.kill(parent_of(parent_of(body)), signal.SIGKILL)

    client = make_client(*TOOLS, engine=renewed, rng=lambda: 0.0)
    shooter = threading.Thread(target=shoot)
    shooter.start()
    result = call(front, client, name, {"line": lifeline.path, "marker": str(marker)})
    shooter.join()
    cut = lifeline.is_cut()

    assert (expected, True) == (result.status, cut)
    if expected == "ok":
        assert (2, "ran\nran\n") == (result.attempts, marker.read_text())
    else:
        assert ("abandoned", 1, "ran\n") == (
            result.fate,
            result.attempts,
            marker.read_text(),
        )
        assert isinstance(result.error, WorkerDiedError)
        assert "It may have taken effect." in result.content


def test_an_executor_that_takes_nothing_is_busy(front, make_client):
    """
    Nothing was run, and the call says so.
    """
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    client = make_client(add, engine=ExecutorEngine(executor))
    result = call(front, client, "add", {"a": 1, "b": 2})

    assert ("busy", "not_started", 0) == (result.status, result.fate, result.attempts)
    assert "its executor takes no more calls (RuntimeError)" in result.content


class Silent(Executor):
    """
    An executor that never answers, or only when it is told to.
    """

    def __init__(self):
        self.futures = []

    def submit(self, function, /, *args):
        """
        Begin it, for all that anybody knows.
        """
        future = Future()
        future.set_running_or_notify_cancel()
        self.futures.append(future)

        return future


def test_a_call_that_is_given_up_counts_until_its_future_is_done(make_client, listener):
    """
    R31: nobody can say that it does not run; what it says late changes nothing.
    """
    executor = Silent()
    client = make_client(add, engine=ExecutorEngine(executor))
    [result] = client.invoke_batch([ToolCall("add", {"a": 1, "b": 2})], within=0.3)
    names = [call.name for call in client.abandoned]
    executor.futures[0].set_result(b"nonsense")
    [late] = listener.wait_for(LateFinish)

    assert ("timeout", "abandoned", ["add"]) == (result.status, result.fate, names)
    assert ("add", ()) == (late.name, client.abandoned)
    assert isinstance(late.error, WorkerDiedError)


@pytest.mark.parametrize("said", [b"", b"{}", b'{"fate": "dead"}\0', "text", None])
def test_what_is_no_answer_is_a_lost_call(front, said, make_client):
    """
    R44: an executor may hand over anything; nothing is unpickled or believed here.
    """

    class Odd(Silent):
        """
        Answers at once.
        """

        def submit(self, function, /, *args):
            """
            Answer.
            """
            future = super().submit(function, *args)
            future.set_result(said)

            return future

    client = make_client(add, engine=ExecutorEngine(Odd()))
    result = call(front, client, "add", {"a": 1, "b": 2})

    assert ("worker_died", "abandoned") == (result.status, result.fate)


def test_a_tool_that_is_declared_otherwise_there_is_not_run(make_client, tmp_path):
    """
    Version skew is told, by both names, before anything runs with the wrong arguments.
    """
    module = tmp_path / "skewed_tools.py"
    text = "from tooldecl import tool\n\n@tool\ndef f(a: {}) -> str:\n    'Say.'\n    return str(a)\n"
    module.write_text(text.format("int"))
    sys.path.insert(0, str(tmp_path))
    try:
        f = importlib.import_module("skewed_tools").f
        module.write_text(
            text.format("list[str]")
        )  # of another length: bytecode goes by it
        with ThreadPoolExecutor(1) as executor:
            client = make_client(f, engine=ExecutorEngine(executor))
            result = client.invoke("f", {"a": 1})
    finally:
        sys.path.remove(str(tmp_path))
        del sys.modules["skewed_tools"]

    assert ("tool_error", "not_started") == (result.status, result.fate)
    assert "both need the same version" in str(result.error.__cause__)


@pytest.mark.parametrize(("kind", "words"), [("value", "ValueError"), ("exit", "3")])
def test_what_a_body_raises_is_its_error(front, client, kind, words):
    """
    R37: told in words, whatever the executor makes of exceptions.
    """
    result = call(front, client, "fail", {"kind": kind})

    assert ("tool_error", "completed") == (result.status, result.fate)
    assert words in result.content


@pytest.mark.parametrize("given", [None, 5, "threads", ExecutorEngine])
def test_what_is_no_executor_is_refused(given):
    """
    At the declaration of the engine, not at the first call.
    """
    with pytest.raises(DeclarationError, match="takes an executor, which has submit"):
        ExecutorEngine(given)


@pytest.mark.parametrize("given", [0, -1, True, "1", float("nan")])
def test_odd_limits_are_refused(given):
    """
    DEC-07: as for every option that takes seconds.
    """
    with ThreadPoolExecutor(1) as executor, pytest.raises(DeclarationError) as caught:
        ExecutorEngine(executor, expires=given)

    assert "ExecutorEngine(expires=...) takes seconds above 0" in str(caught.value)


def test_a_tool_that_nobody_can_name_is_refused():
    """
    SPEC 2: it could not be found where the executor runs it.
    """

    @tool
    def local() -> None:
        """Do nothing."""

    with ThreadPoolExecutor(1) as executor, pytest.raises(DeclarationError) as caught:
        ToolClient([local], engine=ExecutorEngine(executor))

    assert "defined inside of another function" in str(caught.value)


def test_the_body_dies_with_the_worker_that_ran_it(make_client, lifeline):
    """
    R46: no body outlives the machine's part in it, though nobody asks for it.
    """
    with processes(1) as executor:
        client = make_client(hang, engine=ExecutorEngine(executor))
        results = []
        thread = threading.Thread(
            target=lambda: results.append(
                client.invoke("hang", {"line": lifeline.path})
            )
        )
        thread.start()
        body = lifeline.pid()
        os.kill(parent_of(parent_of(body)), signal.SIGKILL)
        thread.join()

        assert await_end(body)
        assert ["worker_died"] == [r.status for r in results]


ORPHANED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from processes import executor_tools

context = multiprocessing.get_context("spawn")
engine = ExecutorEngine(ProcessPoolExecutor(1, mp_context=context))
client = ToolClient([executor_tools.hang, executor_tools.mark], engine=engine)
calls = [ToolCall("hang", {"line": %r}), ToolCall("mark", {"marker": %r})]
client.invoke_batch(calls)
"""


def test_the_body_dies_with_the_client_of_a_pool(lifeline):
    """
    R46: the pool's process outlives a client that is killed; the body does not, and what
    waited behind it is not begun.
    """
    script = start_script(ORPHANED % (lifeline.path, str(lifeline.marker)))
    keeper = parent_of(lifeline.pid())
    theirs = children(script.pid)
    end(script)
    cut, gone = lifeline.is_cut(), await_end(keeper)
    shoot_all(theirs)  # which wait for ever for their pool

    assert (True, True, False) == (cut, gone, lifeline.marker.exists())


def test_retries_are_those_of_the_client(front, make_client):
    """
    Each attempt is a parcel of its own, and the executor repeats nothing.
    """
    sent = []

    class Counting(ThreadPoolExecutor):
        """
        Counts what it is given.
        """

        def submit(self, function, /, *args):
            """
            Count.
            """
            sent.append(1)

            return super().submit(function, *args)

    with Counting(1) as executor:
        client = make_client(fail_often, engine=ExecutorEngine(executor))
        result = call(front, client, "fail_often")

    assert ("tool_error", 3, 3) == (result.status, result.attempts, len(sent))


HANG = """
import asyncio
from concurrent.futures import ThreadPoolExecutor
from processes import executor_tools

client = ToolClient(
    [executor_tools.hang], engine=ExecutorEngine(ThreadPoolExecutor(2))
)

async def main():
    call = client.ainvoke("hang", {"line": %r})
    try:
        await asyncio.wait_for(call, 5)
    except TimeoutError:
        print(len(client.abandoned))
"""


def test_a_call_that_is_given_up_on_a_thread_is_killed(make_client, lifeline):
    """
    R31, SPEC 5: the executor's thread is free again, and nothing of the body is left.
    """
    executor = ThreadPoolExecutor(1)
    client = make_client(hang, mark, engine=ExecutorEngine(executor))
    client.invoke("mark", {"marker": os.devnull})  # so that there is a worker
    [result] = client.invoke_batch(
        [ToolCall("hang", {"line": lifeline.path})], within=2.5
    )
    lifeline.pid()

    assert ("timeout", True) == (result.status, lifeline.is_cut())
    executor.shutdown()  # which waits for the thread


@pytest.mark.parametrize("end", ["asyncio.run(main())", "start_and_leave()"])
def test_no_body_holds_the_end_of_the_interpreter(end, lifeline):
    """
    SPEC 5: neither one that was given up, nor one whose caller is a daemon thread; an
    executor joins its threads at the end, and ours let them go before.
    """
    leave = textwrap.dedent(
        f"""
        def start_and_leave():
            arguments = {{"line": {lifeline.path!r}}}
            thread = threading.Thread(
                target=client.invoke, args=("hang", arguments), daemon=True
            )
            thread.start()
            open({lifeline.go!r}).readline()
            print(1)
        """
    )
    script = start_script(HANG % lifeline.path + leave + end)
    lifeline.pid()
    lifeline.let_go()
    code, out, _ = ended(script, SOON)

    assert (0, "1\n", True) == (code, out, lifeline.is_cut())
