"""
What the README says at the command line works as it stands there.
"""

from __future__ import annotations

import json
import re
import shutil

import pytest

from command_line import typed
from source import ROOT


README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ \.venv/bin/tooldecl (.+)$", README, re.MULTILINE)


@pytest.fixture
def checkout(tmp_path):
    """
    Have a folder with the examples, to write into.
    """
    shutil.copytree(ROOT / "examples", tmp_path / "examples")

    return tmp_path


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("list", 0, "plan_delivery"),
        ("call", 0, "a lamp, on its way"),
        ("run", 4, "It was killed."),
    ],
)
@pytest.mark.slow
def test_a_command_of_the_readme_works(checkout, name, code, words):
    """
    A new user types it before anything else; the batch has a call that is killed.
    """
    [line] = [command for command in COMMANDS if command.startswith(name)]
    done = typed(checkout, *line.split())

    assert code == done.code, done.err
    assert words in done.out
    if name == "run":
        page = (checkout / "run.html").read_text(encoding="utf-8")
        statuses = [json.loads(line)["status"] for line in done.out.splitlines()]
        assert "plan_delivery" in page
        assert ["ok", "not_found", "ok", "invalid", "timeout"] == statuses


def test_no_command_of_the_readme_is_forgotten():
    """
    `nox -s mcp` lets a client meet the last one.
    """
    assert ["call", "list", "run", "serve"] == sorted(c.split()[0] for c in COMMANDS)


@pytest.mark.slow
def test_the_example_has_nothing_to_find():
    """
    What people copy first is declared as `check` would have it.
    """
    done = typed(ROOT, "check", "examples/shop.py")

    assert 0 == done.code, done.out
