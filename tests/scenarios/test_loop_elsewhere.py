"""
A run of a loop that goes on in another process, from nothing but the text of it.
"""

from __future__ import annotations

import textwrap

import pytest

import scripts


SHOP = """
from pathlib import Path
from tooldecl import Budget, Suspension, ToolLoop, Turn
from tooldecl.filters import Again, Approval, Approved, Suspend
from tooldecl.testing import ScriptedModel

WHERE = Path("<where>")

def noted(word):
    with open(WHERE / "journal", "a") as journal:
        print(word, file=journal)
    return word

@tool
def look(word: str) -> str:
    "Look."
    return noted(f"look {word}")

@tool(sensitive=True)
def pay(amount: int) -> str:
    "Pay."
    return noted(f"pay {amount}")

@tool
def write() -> str:
    "Write."
    if not (WHERE / "disk").exists():
        raise PermissionError
    return noted("write")

def loop(*turns):
    client = ToolClient(
        [look, pay, write], filters=[Approval(lambda request: Suspend())])
    return ToolLoop(client, ScriptedModel(turns), budget=Budget(calls=3),
                    on_environment_error="pause")

def keep(result):
    if result.suspension:
        (WHERE / "text").write_text(result.suspension.to_json())
    print(result.stop_reason, result.turns,
          *(f"{r.call_id}:{r.status}" for r in result.results))

def kept():
    return Suspension.from_json((WHERE / "text").read_text())
"""

BEGIN = """
keep(loop(Turn(calls=[
    ToolCall("look", {"word": "x"}, "a"),
    ToolCall("pay", {"amount": 5}, "b"),
    ToolCall("pay", {"amount": 6}, "c"),
])).run("Hi"))
"""

GO_ON = """
waiting = kept()
keep(loop(Turn(calls=[ToolCall("look", {"word": "y"}, "d")])).resume(
    waiting, {waiting.calls[0].call_id: Approved()}))
"""


def ran(where, body):
    """
    Run a script of the shop to its end; return what it printed.
    """
    shop = SHOP.replace("<where>", str(where))
    _, out, err = scripts.run(shop + textwrap.dedent(body))
    assert "" == err

    return out.strip()


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_body_runs_twice_in_three_processes(tmp_path, end):
    """
    EXT-07, APR-11: the first is killed once the text is written; the budget is one for
    all of them, so the last call is one too many.
    """
    ran(tmp_path, BEGIN + end)
    outs = [ran(tmp_path, GO_ON) for _ in range(2)]

    assert ["look x", "pay 5", "pay 6"] == (
        (tmp_path / "journal").read_text().splitlines()
    )
    assert [
        "suspended 1 a:ok b:ok c:pending",
        "budget 2 a:ok b:ok c:ok d:budget",
    ] == outs


def test_a_repaired_environment_is_met_elsewhere(tmp_path):
    """
    ENV-02, APR-10: the pause for an environment is text like any other; the sibling is
    not run again.
    """
    calls = (
        'Turn(calls=[ToolCall("look", {"word": "x"}, "a"), ToolCall("write", {}, "b")])'
    )
    again = 'keep(loop(Turn("Done.")).resume(kept(), {"b": Again()}))'
    outs = [ran(tmp_path, f'keep(loop({calls}).run("Hi"))'), ran(tmp_path, again)]
    (tmp_path / "disk").touch()
    outs.append(ran(tmp_path, again))

    assert ["look x", "write"] == (tmp_path / "journal").read_text().splitlines()
    assert [
        "suspended 1 a:ok b:tool_error",
        "suspended 1 a:ok b:tool_error",
        "answer 2 a:ok b:ok",
    ] == outs


def test_a_text_that_is_resumed_twice_in_two_processes_runs_twice(tmp_path):
    """
    EXT-07: nothing but the host can know that another process has it. This is the control
    of the two tests above: it is the text alone that carries what has run.
    """
    ran(tmp_path, BEGIN)
    text = (tmp_path / "text").read_text()
    ran(tmp_path, GO_ON)
    (tmp_path / "text").write_text(text)
    ran(tmp_path, GO_ON)

    assert ["look x", "pay 5", "pay 5"] == (
        (tmp_path / "journal").read_text().splitlines()
    )
