"""
What Ray is made to end by force, since asking softly has not helped.
"""

from __future__ import annotations

import pytest

import driving_ray

from processes.watching import start_script
from scripts import end, ended


pytestmark = pytest.mark.slow

# Found by every process of the cluster: its workers do not hear that they are asked.
DEAF = """
import signal, sys

if any("default_worker" in part for part in sys.orig_argv):
    signal.signal(signal.SIGINT, lambda *_: None)
"""

GIVEN_UP = """
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


def test_a_worker_that_does_not_hear_is_ended_with_its_body(lifeline, tmp_path):
    """
    SPEC 5: nobody is left to say what the body has done, so no more is said than that; the
    place of it is free for the next.
    """
    (tmp_path / "sitecustomize.py").write_text(DEAF, encoding="utf-8")
    driving_ray.prepare()
    given = {"go": lifeline.go, "line": lifeline.path, "site": str(tmp_path)}
    script = start_script(GIVEN_UP.format(**given))
    try:
        lifeline.pid(driving_ray.LONG)
        lifeline.let_go()
        code, out, err = ended(script, driving_ray.LONG)
    finally:
        end(script)

    assert (0, "") == (code, "" if code == 0 else err)
    assert ["cancelled abandoned", "() ok"] == out.splitlines()[-2:]
    assert lifeline.is_cut()
