"""
How a call is ended from a process that has Ray to itself: softly, by force, and by the end
of that process.
"""

from __future__ import annotations

import pytest

import driving_ray

from processes.watching import start_script
from scripts import end, ended


pytestmark = pytest.mark.slow

HUNG = """
import ray_tools
from tooldecl import ToolClient
from tooldecl.telemetry import CallFinished
from tooldecl.testing import RecordingHook

os.environ["PYTHONPATH"] = os.pathsep.join([{site!r}, *filter(None, sys.path)])
hook = RecordingHook()
engine = RayEngine("local")
tools = [ray_tools.hang_for_good, ray_tools.surroundings]
client = ToolClient(tools, engine=engine, hooks=[hook])
arguments = {{"how": "hold_lock", "line": {line!r}}}
"""

GIVEN_UP = """
async def main():
    calling = asyncio.create_task(client.ainvoke("hang_for_good", arguments))
    await asyncio.to_thread(open({go!r}).readline)
    calling.cancel()
    await asyncio.wait({{calling}})

asyncio.run(main())
result = hook.of(CallFinished)[0].result
print(result.status, result.fate)
print(client.abandoned, client.invoke("surroundings", {{"names": []}}).status)
engine.close()
"""

LEFT = """
hanging = threading.Thread(
    target=client.invoke, args=("hang_for_good", arguments), daemon=True
)
hanging.start()
open({go!r}).readline()
"""

IGNORED = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"

# Found by every process of the cluster: its workers do not hear that they are asked.
DEAF = """
import signal, sys

if any("default_worker" in part for part in sys.orig_argv):
    signal.signal(signal.SIGINT, lambda *_: None)
"""


@pytest.fixture
def run(lifeline, tmp_path):
    """
    Run a script to its end, once a body of it hangs; return what it has said, by line.
    """
    driving_ray.prepare()

    def run(body):
        given = {"go": lifeline.go, "line": lifeline.path, "site": str(tmp_path)}
        script = start_script(body.format(**given))
        try:
            lifeline.pid(driving_ray.LONG)
            lifeline.let_go()
            code, out, err = ended(script, driving_ray.LONG)
        finally:
            end(script)
        assert (0, "") == (code, "" if code == 0 else err)

        return out.splitlines()

    return run


def test_a_call_can_be_ended_where_interrupts_are_ignored(run, lifeline):
    """
    What a shell starts in the background ignores SIGINT, by which Ray asks softly; without
    it, the worker would be lost with the body, and nobody could say what it has done.
    """
    lines = run(IGNORED + HUNG + GIVEN_UP)

    assert ["cancelled killed", "() ok"] == lines[-2:]
    assert lifeline.is_cut()


def test_a_worker_that_does_not_hear_is_ended_with_its_body(run, lifeline, tmp_path):
    """
    SPEC 5: nobody is left to say what the body has done, so no more is said than that; the
    place of it is free for the next.
    """
    (tmp_path / "sitecustomize.py").write_text(DEAF, encoding="utf-8")
    lines = run(HUNG + GIVEN_UP)

    assert ["cancelled abandoned", "() ok"] == lines[-2:]
    assert lifeline.is_cut()


def test_no_body_holds_the_end_of_the_interpreter(run, lifeline):
    """
    SPEC 5: a process that ends ends its cluster, and the bodies there.
    """
    run(HUNG + LEFT)

    assert lifeline.is_cut()
