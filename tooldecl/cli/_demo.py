"""
``tooldecl demo``: a model decides, real parts answer, and what must hold is checked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import ToolLoop, ToolResult
from ..exceptions import ModelFailedError
from ._demo_cases import ALWAYS, conversation, duplicate, refused_by_the_gate
from ._demo_checks import (
    Verdict,
    answered_once_in_order,
    duplicates_refused,
    killed_do_no_more,
    refused_never_ran,
    timeouts_answered,
    transcripts_valid,
)
from ._demo_findings import Findings, Left
from ._demo_journal import Episode
from ._demo_model import (
    OUT_OF_TIME,
    QUESTIONS,
    Choice,
    Decider,
    Question,
    decider,
)
from ._demo_parts import HANGING_ORDER
from ._demo_report import Report, report_beside, report_on
from ._demo_rounds import growth_of
from ._demo_stage import Stage, staged
from ._exits import Exit
from ._results import results
from ._target import json_flag


if TYPE_CHECKING:
    import click

MAX_TURNS = 3


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("demo", short_help="Show each way in which a call can end.")
    @click.option(
        "--model",
        type=click.Choice(["local", "scripted"]),
        default="local",
        show_default=True,
        help="Who decides: a small model that runs here, or a script. Where the "
        "model is not installed, the script does.",
    )
    @json_flag
    def demo(model: Choice, *, as_json: bool) -> Exit:
        """
        Let a model call tools, show each way in which a call can end, check what must
        hold.

        It runs on this machine, needs no network, and leaves no files. The exit code
        is 0 only if everything that it checks held. With --json the report is written
        to standard error, as it goes on.
        """
        with results() as out:
            found = run(model, report_beside() if as_json else report_on(out))
            if as_json:
                out.json(found.to_dict())

        return Exit.OK if found.held else Exit.FAILED

    return demo


def run(choice: Choice, report: Report) -> Findings:
    """
    Run the demo, and return what it found.
    """
    who = decider(choice)
    with staged() as stage:
        _introduce(report, who, stage)
        episodes = _by_the_model(report, who, stage)
        verdicts = _always(report, stage, episodes)
        left = [
            Left(call.name, call.call_id, call.age)
            for client in stage.clients
            for call in client.abandoned
        ]
        found = Findings(
            model=who.name,
            fallback=who.fallback,
            episodes=episodes,
            left=left,
            verdicts=verdicts,
            journal=stage.journal,
        )
        _left_behind(report, found)
        _judge(report, found)

    return found


def _introduce(report: Report, who: Decider, stage: Stage) -> None:
    report.line("tooldecl demo", style="bold")
    report.line(
        "A model decides which tools to call, and the tools work on real parts. Every "
        "call gets one result: its status says how the call ended, its fate what "
        "became of the body."
    )
    report.line()
    report.pairs(
        [
            ("model", who.name),
            ("orders, stock", "an SQLite database file"),
            ("parcels", f"an HTTP service here; order {HANGING_ORDER} hangs for good"),
            ("docs", f"{len(stage.pages.names)} pages of tooldecl's own documentation"),
        ]
    )
    if who.fallback:
        report.line(
            f"No local model, so a script decides: {who.fallback}", style="bold"
        )


def _by_the_model(report: Report, who: Decider, stage: Stage) -> list[Episode]:
    """
    Ask one question after another.
    """
    report.heading("The model decides")
    report.columns()
    episodes: list[Episode] = []
    for question in QUESTIONS:
        was_in_time = not who.is_out_of_time
        episodes.append(_ask(report, who, stage, question))
        if who.is_out_of_time and was_in_time:
            report.line(f"{OUT_OF_TIME} A script decides instead.", style="bold")

    return episodes


def _ask(report: Report, who: Decider, stage: Stage, question: Question) -> Episode:
    """
    Let the model answer one question with the shop's tools.
    """
    title = f'"{question.text}"'
    loop = ToolLoop(stage.shop, who.model_for(question), max_turns=MAX_TURNS)
    try:
        outcome = loop.run(question.text)
    except ModelFailedError as error:
        remark = str(error)
        results = [r for r in error.results if isinstance(r, ToolResult)]
        episode = conversation(title, error.messages, results, remark)
    else:
        remark = "" if outcome.results else f"no call: {outcome.text}"
        if outcome.stop_reason == "max_turns":
            remark = f"stopped: the loop asks the model at most {MAX_TURNS} times"
        episode = conversation(title, outcome.messages, outcome.results, remark)
    report.episode(episode, stage.journal, explain=False)

    return episode


def _always(report: Report, stage: Stage, episodes: list[Episode]) -> list[Verdict]:
    """
    Show what does not depend on a model, and judge everything that was shown.
    """
    report.heading("The same every time, whatever a model decides")
    report.columns()
    refusal = duplicate(stage)
    report.remark(
        "Two tools of one name: the client is not built.",
        "accepted" if refusal is None else f"{type(refusal).__name__}: {refusal}",
    )
    sneaked = 0
    for case in ALWAYS:
        before = stage.entries.total()
        episode = case(stage)
        if case is refused_by_the_gate:
            sneaked = stage.entries.total() - before
        report.episode(episode, stage.journal, explain=True)
        episodes.append(episode)
    results = [r for answers in stage.journal.answers.values() for r in answers]
    apart = [] if stage.heavy is None else [killed_do_no_more(*growth_of(*stage.notes))]

    return [
        answered_once_in_order(episodes, stage.journal),
        refused_never_ran(results, stage.entries.counts(), sneaked),
        duplicates_refused(refusal),
        timeouts_answered(results),
        *apart,
        transcripts_valid(episodes),
    ]


def _left_behind(report: Report, found: Findings) -> None:
    """
    Show the bodies that were answered for and may still be running.
    """
    report.heading("Left behind")
    report.pairs(
        (call.name, f"answered {call.age:.1f} s ago, and may still be running")
        for call in found.left
    )
    report.line(
        "These bodies run in threads, which nothing can stop; they may still take "
        "effect. client.abandoned lists them, and nothing waits for them: this program "
        "ends now."
    )


def _judge(report: Report, found: Findings) -> None:
    verdicts = found.verdicts
    broken = sum(not verdict.held for verdict in verdicts)
    report.heading("What had to hold")
    report.verdicts(verdicts)
    report.line()
    calls, seconds = len(found.journal.starts), found.journal.seconds
    report.line(
        f"{calls} calls in {seconds:.1f} s. "
        + (f"{broken} of {len(verdicts)} claims broken." if broken else "All held."),
        style="bold red" if broken else "bold green",
    )
