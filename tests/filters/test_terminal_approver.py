"""
Asking at a terminal, a real one, and what happens where there is none.
"""

from __future__ import annotations

import signal
import subprocess

import pytest

from scripts import run
from terminals import Terminal


QUESTION = "Run it? y, or n and a reason: "

SCRIPT = """
import asyncio, sys
from tooldecl import ToolCall, ToolClient, tool
from tooldecl.engines import ThreadEngine
from tooldecl.filters import Approval, TerminalApprover

@tool(sensitive=True)
def pay(amount: int, to: str = "shop") -> str:
    "Pay."
    return f"paid {amount}"

client = ToolClient(
    [pay], engine=ThreadEngine(), filters=[Approval(TerminalApprover())]
)
[front] = sys.argv[1:]
"""

ONE = """
arguments = {"amount": 5, "to": "\\x1b[2Jshop\\n"}
if front == "sync":
    result = client.invoke("pay", arguments)
else:
    result = asyncio.run(client.ainvoke("pay", arguments))
print(result.status, "|", result.content)
"""

MANY = """
calls = [ToolCall("pay", {"amount": n}) for n in (1, 2, 3)]
if front == "sync":
    batch = client.invoke_batch(calls)
else:
    batch = asyncio.run(client.ainvoke_batch(calls))
print([result.status.value for result in batch])
"""


ANSWERS = {
    "y": "ok | paid 5",
    "Y": "ok | paid 5",
    " yes ": "ok | paid 5",
    "n": "denied | No reason was given.",
    "no": "denied | No reason was given.",
    "n too much": "denied | The reason given: too much",
    "": "denied | No reason was given.",
    "never": "denied | The reason given: never",
    "y but less": "denied | The reason given: y but less",
    "yes!": "denied | The reason given: yes!",
}


@pytest.mark.parametrize("typed", ANSWERS, ids=repr)
def test_what_is_typed_decides(front, typed):
    """
    APR-01, APR-02: only a plain yes is one; anything else is a no, and its reason.
    """
    terminal = Terminal(SCRIPT + ONE, front)
    asked = terminal.until(QUESTION)
    terminal.type(f"{typed}\n")
    out, err = terminal.end()
    status, _, tail = ANSWERS[typed].partition(" | ")

    assert ("", status, True) == (err, out.split(" |")[0], out.strip().endswith(tail))
    assert r'pay({"amount": 5, "to": "\u001b[2Jshop\n"})' in asked


def test_several_questions_come_one_after_the_other(front):
    """
    E-17: three calls wait at once, and each question gets its own answer.
    """
    terminal = Terminal(SCRIPT + MANY, front)
    for _ in range(3):
        asked = terminal.until(QUESTION)
        terminal.type("n\n" if '"amount": 2' in asked else "y\n")
    out, err = terminal.end()

    assert ("['ok', 'denied', 'ok']\n", "") == (out, err)


def test_what_was_typed_before_the_question_is_no_answer():
    """
    A key that was hit too early, or is left of another question, approves nothing.
    """
    early = "print('ready', flush=True)\nsys.stdin.readline()\n" + ONE
    terminal = Terminal(SCRIPT + early, "sync")
    assert "ready\n" == terminal.script.stdout.readline()
    terminal.type("go\ny\n")
    terminal.until(QUESTION)
    terminal.type("n\n")
    out, _ = terminal.end()

    assert out.startswith("denied")


def test_the_end_of_the_input_is_a_no(front):
    """
    Whoever closes the terminal has not agreed.
    """
    terminal = Terminal(SCRIPT + ONE, front)
    terminal.until(QUESTION)
    terminal.type("\x04")
    out, err = terminal.end()

    assert (True, "") == (out.startswith("denied"), err)


def test_ctrl_c_at_the_question_ends_the_program(front):
    """
    FAT-06: it is no answer, and nothing waits for one any more.
    """
    terminal = Terminal(SCRIPT + ONE, front)
    terminal.until(QUESTION)
    terminal.script.send_signal(signal.SIGINT)
    out, err = terminal.end()

    assert ("", True) == (out, err.strip().endswith("KeyboardInterrupt"))
    assert -signal.SIGINT == terminal.script.returncode


NOBODY = """
    from tooldecl.filters import *

    @tool(sensitive=True)
    def pay(amount: int) -> str:
        "Pay."
        print("paid")

    def at_night(request):
        return {answer}

    lines = []
    ask = TerminalApprover({options})
    client = ToolClient([pay], filters=[Approval(ask)])
    call = dict(name="pay", arguments=dict(amount=1))
    result = client.invoke(**call) if {sync} else asyncio.run(client.ainvoke(**call))
    print(result.status, lines)
"""


def nobody(front, *, answer="None", options="otherwise=at_night, tell=lines.append"):
    """
    Run a call where there is no terminal; return what was printed.
    """
    body = NOBODY.format(answer=answer, options=options, sync=front == "sync")
    code, out, err = run(body, stdin=subprocess.DEVNULL, start_new_session=True)
    assert 0 == code, err

    return out


def test_without_a_terminal_it_denies(front):
    """
    R130: nobody can be asked in a job that runs at night, and nobody has agreed.
    """
    assert "denied []\n" == nobody(front, options="")


@pytest.mark.parametrize(
    ("answer", "word", "out"),
    [
        ("Approved()", "approved", "paid\nok"),
        ("Denied('at night')", "denied", "denied"),
        ("Answer('tomorrow')", "answer", "ok"),
        ("Suspend()", "suspend", "pending"),
    ],
)
def test_without_a_terminal_the_rule_is_told(front, answer, word, out):
    """
    Whoever reads the output later can see who decided.
    """
    line = f"No terminal to ask at: pay is {word} by the rule at_night."

    assert f"{out} ['{line}']\n" == nobody(front, answer=answer)


@pytest.mark.parametrize("answer", ["True", "1 / 0"])
def test_a_rule_that_decides_nothing_blocks_the_call(front, answer):
    """
    R130: the rule is an approver like any other.
    """
    assert nobody(front, answer=answer).startswith("guard_failed")


def test_a_closed_standard_input_is_no_terminal():
    """
    As under a service manager; nothing hangs and nothing is approved.
    """
    code, out, err = run(
        """
        from tooldecl.filters import Approval, TerminalApprover
        sys.stdin.close()

        @tool(sensitive=True)
        def pay() -> str:
            "Pay."
            return "paid"

        client = ToolClient([pay], filters=[Approval(TerminalApprover())])
        print(client.invoke("pay").status)
        """,
        stdin=subprocess.DEVNULL,
    )

    assert (0, "denied\n", "") == (code, out, err)
