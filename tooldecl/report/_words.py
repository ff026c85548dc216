"""
The words of a report: how a call ended, how long something took, and nothing unescaped.
"""

from __future__ import annotations

import html

from ._rows import Row, Tried


# How a call ended, as people say it; a status of a later version is shown as it is.
OUTCOMES = {
    "": "no answer recorded",
    "ok": "ok",
    "not_found": "nothing found",
    "tool_error": "failed",
    "timeout": "timeout",
    "too_large": "result too large",
    "unencodable": "result cannot be sent",
    "worker_died": "worker died",
    "invalid": "arguments refused",
    "unknown_tool": "unknown tool",
    "budget": "budget reached",
    "busy": "engine busy",
    "denied": "denied",
    "approval_expired": "nobody decided in time",
    "guard_failed": "guard failed",
    "not_run": "not run",
    "cancelled": "cancelled",
    "pending": "waits",
}

FATES = {
    "not_started": "never started",
    "completed": "completed",
    "stopped": "was stopped",
    "killed": "was killed",
    "abandoned": "was given up",
}

# Which colour stands beside the words.
TONES = {
    "ok": "good",
    "not_found": "good",
    "pending": "person",
    "denied": "person",
    "approval_expired": "person",
    "timeout": "late",
    "cancelled": "quiet",
    "not_run": "quiet",
    "busy": "quiet",
    "budget": "quiet",
    "": "late",
}

ATTEMPTS = {
    "ran": "ran",
    "failed": "failed",
    "timeout": "ran out of time",
    "cancelled": "was cancelled",
}

_KEPT = "\n\t\u200d"


def safe(text: object) -> str:
    """
    Escape what others have written, also what would not be seen or would turn a line.
    """
    shown = "".join(
        c if c.isprintable() or c in _KEPT else f"\\u{ord(c):04x}" for c in str(text)
    )

    return html.escape(shown, quote=True)


def duration(seconds: float) -> str:
    """
    Write a duration as short as it can be read.
    """
    if seconds <= 0:
        return "0"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 99.95:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 100:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)

    return f"{hours} h {minutes} min"


def named(row: Row) -> str:
    """
    Name the tool of a call; a request that could not be read names none.
    """
    return row.name or "(no tool)"


def outcome(row: Row) -> str:
    """
    Say how a call ended.
    """
    if row.status == "invalid" and not row.name:
        return "request refused"

    return OUTCOMES.get(row.status, row.status)


def tone(row: Row) -> str:
    """
    Name the colour of how a call ended.
    """
    return TONES.get(row.status, "bad")


def body(row: Row) -> str:
    """
    Say what became of the body of a call.
    """
    if row.answered is None:
        return "unknown"
    if row.never_seen_to_end:
        return f"{FATES['abandoned']}, not seen to end"
    if row.outlived:
        late = max(tried.late_by for tried in row.tried)
        return f"{FATES['abandoned']}, ended {duration(late)} later"

    return FATES.get(row.fate, row.fate)


def attempt(tried: Tried) -> str:
    """
    Say what became of one attempt.
    """
    return ATTEMPTS.get(tried.how, tried.how)


def summary(row: Row) -> str:
    """
    Say in one line how a call ended and what became of its body, where that is news.
    """
    said = outcome(row)
    if row.outlived or row.fate in ("killed", "stopped"):
        said += f"; the body {body(row)}"
    if row.attempts > 1:
        said += f"; {row.attempts} attempts"

    return said


def plural(number: int, one: str, many: str = "") -> str:
    """
    Count something in words.
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"
