"""
The words that several errors share: fates, limits, durations, lists that do not end.
"""

from __future__ import annotations

import signal

from collections.abc import Sequence


FATE_TEXTS = {
    "not_started": "It never started.",
    "completed": "It had already finished; its result was dropped.",
    "stopped": "It was stopped.",
    "killed": "It was killed.",
    "abandoned": "It may still be running and may still take effect.",
}

SOURCE_TEXTS = {
    "declared": "the limit declared on it",
    "engine": "the engine's limit",
    "batch": "what was left of the batch's limit",
}

LEVEL_TEXTS = {
    "client": "the client's budget",
    "loop": "the loop's budget",
    "call": "the call's budget",
}


def seconds(value: float) -> str:
    """
    Render seconds for a sentence, as in ``0.2 s``.
    """
    return f"{value:.4g} s"


def guard_text(tool: str, fate: str) -> str:
    """
    Say that a check failed, and what that means for the body.
    """
    tails = {
        "not_started": "It was not run.",
        "completed": "The tool had run; its result was lost.",
    }

    return f"A check around tool {tool!r} failed. {tails.get(fate) or FATE_TEXTS[fate]}"


def denied_text(tool: str, reason: str) -> str:
    """
    Say that somebody refused the call, and that this is no failure.
    """
    why = f"The reason given: {reason}" if reason else "No reason was given."

    return (
        f"Tool {tool!r} was not run: the call was refused. That is a decision and not a "
        f"failure. {why}"
    )


def expired_text(tool: str, limit: float | None, kind: str) -> str:
    """
    Say that a decision, or a result from elsewhere, has not come in time.
    """
    within = "in time" if limit is None else f"within {seconds(limit)}"
    if kind == "approval":
        return f"Tool {tool!r} was not run: nobody decided about the call {within}."

    return (
        f"Tool {tool!r} has no result: none came from elsewhere {within}. It may have "
        "taken effect there."
    )


def budget_text(name: str, limit: float, whose: str) -> str:
    """
    Say which limit of a budget is reached, as in ``the client's budget of 5 calls is used up``.
    """
    if name == "seconds":
        return f"{whose} of {seconds(limit)} is over"
    calls = "1 call" if limit == 1 else f"{limit:.0f} calls"
    if name == "repeats":
        calls = calls.replace("call", "equal call")
        return f"{whose} allows {calls} in a row"
    of_tool = " of this tool" if name == "per_tool" else ""

    return f"{whose} of {calls}{of_tool} is used up"


def joined(head: str, lines: Sequence[str], limit: int = 990) -> str:
    """
    Join as many of *lines* as fit below *limit* characters, and say how many are left.
    """
    text = head
    for done, line in enumerate(lines):
        short = line if len(line) <= 300 else line[:297] + "..."
        if len(text) + len(short) + 1 > limit - 30:
            return f"{text}\nand {len(lines) - done} more."
        text += "\n" + short

    return text


def exit_text(code: int | None) -> str:
    """
    Say how a process ended, as in ``by signal 9 (SIGKILL)``.
    """
    if code is None:
        return "nobody knows how"
    if code >= 0:
        return f"with exit code {code}"
    try:
        name = f" ({signal.Signals(-code).name})"
    except ValueError:  # a real-time signal has no name
        name = ""

    return f"by signal {-code}{name}"


def some_of(names: Sequence[str], most: int = 10) -> str:
    """
    List names, not for ever.
    """
    shown = [name if len(name) <= 60 else name[:57] + "..." for name in names[:most]]
    more = f" and {len(names) - most} more" if len(names) > most else ""

    return ", ".join(shown) + more


def is_encodable(text: str) -> bool:
    """
    Tell whether a text can be sent: half of a surrogate pair has no UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False

    return True
