"""
What has to hold whatever a model decides: the demo's exit code is the verdict of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from .. import DuplicateToolError, Status, ToolResult
from ..exceptions import ToolTimeoutError
from ._demo_journal import Episode, Journal, Message


# Far beyond what an answer takes, so that a busy machine is no broken promise.
LATEST_ANSWER = 5.0

_REFUSED = (
    Status.INVALID,
    Status.UNKNOWN_TOOL,
    Status.BUDGET,
    Status.DENIED,
    Status.APPROVAL_EXPIRED,
    Status.PENDING,
)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    Whether a claim held, and what that was seen by.
    """

    claim: str
    held: bool
    evidence: str


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """
    How many notes a body had made when its call was answered, and some time later.
    """

    at_answer: int
    later: int


def answered_once_in_order(episodes: Iterable[Episode], journal: Journal) -> Verdict:
    """
    Judge whether each call got one answer, and each part its answers in request order.
    """
    in_order = all(
        list(episode.asked) == [result.call_id for result in episode.results]
        for episode in episodes
    )
    once = [i for i in set(journal.starts) if len(journal.answers.get(i, ())) == 1]
    strays = set(journal.answers) - set(journal.starts)
    count = len(journal.starts)
    order = "in order" if in_order else "not in order"

    return Verdict(
        claim="Every call has one answer, in order",
        held=in_order and not strays and count == len(once),
        evidence=f"{len(once)} of {count} calls, {order}",
    )


def refused_never_ran(
    results: Sequence[ToolResult], entered: Mapping[str, int], sneaked: int
) -> Verdict:
    """
    Judge whether what was refused, or waits, stayed outside of every body.

    Args:
        results: The results of all calls.
        entered: How often each body was entered, as the bodies themselves counted.
        sneaked: How often any was while only calls that must be refused were made.
    """
    refused = [result for result in results if result.status in _REFUSED]
    allowed: dict[str, int] = {}
    for result in results:
        allowed[result.name] = allowed.get(result.name, 0) + result.attempts
    unasked = sum(
        max(0, count - allowed.get(name, 0)) for name, count in entered.items()
    )
    tried = sum(result.attempts for result in refused)
    ran = max(sneaked, unasked, tried)

    return Verdict(
        claim="No refused call reached a body",
        held=bool(refused) and not ran,
        evidence=f"{len(refused)} refused, {ran} bodies entered",
    )


def duplicates_refused(refusal: DuplicateToolError | None) -> Verdict:
    """
    Judge whether the client with two tools of one name was refused, naming both.
    """
    named = 0 if refusal is None else len(refusal.sites)

    return Verdict(
        claim="No second tool of one name is accepted",
        held=named == 2,
        evidence=f"{named} of 2 places named",
    )


def timeouts_answered(results: Iterable[ToolResult]) -> Verdict:
    """
    Judge whether each call that timed out was answered soon after its deadline.
    """
    late = [
        result.elapsed - result.error.timeout
        for result in results
        if isinstance(result.error, ToolTimeoutError)
    ]
    worst = max(late, default=0.0)

    return Verdict(
        claim=f"A timeout is answered within {LATEST_ANSWER:g} s",
        held=bool(late) and worst <= LATEST_ANSWER,
        evidence=f"{len(late)} calls, at most {worst * 1000:.0f} ms late",
    )


def killed_do_no_more(abandoned: Growth, killed: Growth) -> Verdict:
    """
    Judge by what they note whether a killed body does nothing after its answer.

    Args:
        abandoned: Notes of a body on a thread, which nothing can stop.
        killed: Those of the same body in a process.
    """
    return Verdict(
        claim="A killed body does nothing after its answer",
        held=killed.at_answer > 0 and killed.later == killed.at_answer,
        evidence=f"{killed.later - killed.at_answer} notes after it; the abandoned one "
        f"made {abandoned.later - abandoned.at_answer}",
    )


def transcripts_valid(episodes: Iterable[Episode]) -> Verdict:
    """
    Judge whether a strict provider would take every conversation.
    """
    conversations = [e.messages for e in episodes if e.messages]
    valid = [messages for messages in conversations if is_valid(messages)]

    return Verdict(
        claim="Every transcript is valid",
        held=bool(conversations) and len(valid) == len(conversations),
        evidence=f"{len(valid)} of {len(conversations)} conversations",
    )


def is_valid(messages: Iterable[Message]) -> bool:
    """
    Tell whether the answers to each turn's calls follow it at once, each one once.
    """
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return False
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return False
        waiting += [call["id"] for call in message.get("tool_calls", ())]

    return not waiting
