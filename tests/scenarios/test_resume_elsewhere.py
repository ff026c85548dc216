"""
Real processes, one after the other: what waits goes on from its JSON, and runs once.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

from pathlib import Path

import pytest

import resuming_process
import tooldecl

from ordering import HANGS_AFTER
from tooldecl import Suspension
from tooldecl.exceptions import ResumeError
from tooldecl.filters import Approved


def step(name, where, text="", *, dies=False):
    """
    Do one step in a process of its own; return what it told.
    """
    environment = {**os.environ, "PYTHONPATH": str(Path(tooldecl.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, resuming_process.__file__, name, str(where)],
        input=text,
        capture_output=True,
        text=True,
        timeout=HANGS_AFTER,
        env=environment,
        check=False,
    )
    if dies:
        assert -signal.SIGKILL == done.returncode
        return None
    assert (0, "") == (done.returncode, done.stderr)

    return json.loads(done.stdout)


def runs(where):
    """
    Return the bodies that were run, by all processes together.
    """
    path = Path(where) / "runs"

    return path.read_text().splitlines() if path.exists() else []


def test_another_process_goes_on_from_nothing_but_the_json(tmp_path):
    """
    APR-10, APR-11: the sibling is not run again, the state is taken over, and each answer
    stands where its call was.
    """
    first = step("begin", tmp_path)
    second = step("all", tmp_path, first["left"])

    assert ["ok", "pending", "pending", "pending"] == [
        r["status"] for r in first["results"]
    ]
    assert [("b", "ok"), ("p", "ok"), ("q", "denied"), ("c", "ok")] == [
        (r["call_id"], r["status"]) for r in second["results"]
    ]
    assert (["book", "pay 5"], None, {"booked": True, "paid": 5}) == (
        runs(tmp_path),
        second["left"],
        second["state"],
    )
    assert first["pid"] != second["pid"]


def test_three_processes_one_after_the_other(tmp_path):
    """
    EXT-07: each takes up a part, and none of them what another one has run.
    """
    first = step("begin", tmp_path)
    second = step("first", tmp_path, first["left"])
    third = step("second", tmp_path, second["left"])

    assert (["book", "pay 5"], None) == (runs(tmp_path), third["left"])
    assert ["ok", "ok", "denied", "ok"] == [r["status"] for r in third["results"]]
    assert (second["results"][1]["value"], 42) == (
        third["results"][1]["value"],
        third["results"][3]["value"],
    )


def test_a_kill_before_the_body_costs_nothing(tmp_path):
    """
    APR-11: what waits is in the JSON, and not in the process that was killed while it went
    on; the next one runs it once.
    """
    first = step("begin", tmp_path)
    (tmp_path / "die_before").touch()
    step("all", tmp_path, first["left"], dies=True)
    assert ["book"] == runs(tmp_path)
    (tmp_path / "die_before").unlink()
    second = step("all", tmp_path, first["left"])

    assert (["book", "pay 5"], "ok") == (runs(tmp_path), second["results"][1]["status"])


def test_a_kill_in_the_middle_is_seen_by_the_key(tmp_path):
    """
    EXT-07, EXT-08: killed in the body, nobody knows whether it took effect; a host that
    goes on from the same JSON runs it again, under the same key, which the service knows.
    """
    first = step("begin", tmp_path)
    (tmp_path / "die").touch()
    step("first", tmp_path, first["left"], dies=True)
    assert ["book", "pay 5"] == runs(tmp_path)
    (tmp_path / "die").unlink()
    second = step("first", tmp_path, first["left"])
    again = step("first", tmp_path, first["left"])

    assert ["book", *["pay 5"] * 3] == runs(tmp_path)
    assert second["results"][1]["value"] == again["results"][1]["value"]


def test_one_process_goes_on_once_whatever_copies_there_are(tmp_path):
    """
    APR-17: the control to the above: within one client the same JSON runs nothing twice.
    """
    first = step("begin", tmp_path)
    with resuming_process.client() as client:
        client.resume(Suspension.from_json(first["left"]), {"p": Approved()})
        with pytest.raises(ResumeError):
            client.resume(Suspension.from_json(first["left"]), {"p": Approved()})

    assert ["book", "pay 5"] == runs(tmp_path)
