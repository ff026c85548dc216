"""
``tooldecl run``: a batch of calls from a file, with what happened as a report.
"""

from __future__ import annotations

import json
import math

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from .. import Fate, Status, ToolClient, ToolResult
from ..engines import (
    AsyncioEngine,
    Engine,
    ProcessEngine,
    SequentialEngine,
    ThreadEngine,
)
from ..filters import approve_all
from ._ending import told_to_end
from ._exits import Exit, exit_of_all
from ._foreign import foreign
from ._loading import find
from ._notices import tell
from ._results import Results, results
from ._run_board import Board, progress
from ._run_kept import Kept
from ._run_lines import Line, lines_in
from ._run_whole import Whole
from ._target import F, target_argument


if TYPE_CHECKING:
    import click


ENGINES: dict[str, type[Engine]] = {
    "sequential": SequentialEngine,
    "threads": ThreadEngine,
    "asyncio": AsyncioEngine,
    "processes": ProcessEngine,
}

# Those that run calls at once, and so take a bound.
AT_ONCE = [name for name in ENGINES if name != "sequential"]


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("run", short_help="Run a batch of calls, one JSON line each.")
    @target_argument
    @click.argument("batch", type=click.File("rb"))
    @click.option(
        "--engine",
        type=click.Choice(list(ENGINES)),
        help="Which engine runs the batch; without one, one call after another.",
    )
    @_seconds("--timeout", "The limit of each call whose tool has none of its own.")
    @click.option(
        "--max-concurrency",
        type=click.IntRange(1),
        metavar="CALLS",
        help="How many calls may run at once, by any --engine but sequential.",
    )
    @_seconds("--within", "The limit of the whole batch.")
    @click.option(
        "--journal",
        type=click.Path(dir_okay=False),
        help="Append what happens to this file, one JSON line for each event.",
    )
    @click.option(
        "--report",
        type=click.Path(dir_okay=False),
        help="Write what happened to this file, as one HTML page.",
    )
    @click.option(
        "--contents",
        is_flag=True,
        help="Keep arguments and results in journal and report, not only their kinds.",
    )
    @click.option(
        "--approve-all",
        "approved",
        is_flag=True,
        help="Let sensitive tools run without asking; whoever sits at the terminal is "
        "asked otherwise.",
    )
    @click.option(
        "--json", "as_json", is_flag=True, help="Write all there is of each result."
    )
    def run(
        target: str,
        batch: IO[bytes],
        *,
        engine: str | None,
        timeout: float | None,
        max_concurrency: int | None,
        within: float | None,
        journal: str | None,
        report: str | None,
        contents: bool,
        approved: bool,
        as_json: bool,
    ) -> Exit:
        """
        Run the calls of BATCH, and write a result for each, in their order.

        BATCH has one call on each line, {"tool": ..., "arguments": {...}, "id": ...},
        and is read from standard input if it is a single -. A line that is no call is
        answered as invalid. Each result is one line of JSON: id, tool, status and
        content; with --json all there is. Where an id came before, the later result has
        one of its own, and original_id is what was given. The exit code is that of the
        worst of them.
        """
        if max_concurrency is not None and engine not in AT_ONCE:
            raise click.UsageError(
                f"--max-concurrency needs --engine {', '.join(AT_ONCE)}: any other "
                "runs one call after another."
            )
        lines = lines_in(b"".join(batch))
        with results() as out, ExitStack() as stack:
            if contents and journal is None and report is None:
                raise click.UsageError("--contents needs --journal or --report.")
            kept = Kept(journal, report, contents=contents)
            kept.check(batch, out.stream)
            with foreign("The engine cannot be made"):
                chosen = _engine(engine, timeout, max_concurrency)
            client = find(target).client(
                engine=chosen, approver=approve_all if approved else None
            )
            kept.check_modules()
            stack.enter_context(told_to_end())
            hooks = stack.enter_context(kept.hooks(f"Run of {target}"))
            whole = Whole(lines, hooks)
            stack.callback(whole.end)
            client = client.telling(whole)

            return _run(out, client, lines, within, as_json=as_json)

    return run


def _seconds(name: str, words: str) -> Callable[[F], F]:
    import click

    return click.option(
        name, type=float, metavar="SECONDS", callback=_positive, help=words
    )


def _positive(
    _context: click.Context, _parameter: click.Parameter, value: float | None
) -> float | None:
    import click

    if value is None or (math.isfinite(value) and value > 0):
        return value

    raise click.BadParameter(f"{value} is no number of seconds above 0.")


def _engine(
    name: str | None, timeout: float | None, max_concurrency: int | None
) -> Engine | None:
    """
    Return the engine that was asked for; None where nothing was said about one.
    """
    if name is None and timeout is None:
        return None
    made = ENGINES[name or "sequential"]
    if max_concurrency is None:
        return made(timeout=timeout)

    return made(timeout=timeout, max_concurrency=max_concurrency)


def _run(
    out: Results,
    client: ToolClient,
    lines: Sequence[Line],
    within: float | None,
    *,
    as_json: bool,
) -> Exit:
    """
    Run all lines, and write a result of each, also where the batch was ended.
    """
    board = Board(lines)
    try:
        with (
            progress(len(lines)) as shown,
            client.telling(board, shown) as watched,
            foreign("The batch did not end in results"),
        ):
            board.refuse(watched)
            watched.invoke_batch(board.calls, within=within)
    finally:
        done = board.results()
        for result in done:
            out.drawn(_line(result, as_json=as_json))
        _sum_up(done)

    return exit_of_all(result.status for result in done)


def _line(result: ToolResult, *, as_json: bool) -> str:
    """
    Write a result on one line of ASCII, which no terminal is moved by.
    """
    if as_json:
        return result.to_json() + "\n"
    short = {
        "id": result.call_id,
        "tool": result.name,
        "status": result.status.value,
        "content": result.content,
    }
    if result.original_id is not None:
        short["original_id"] = result.original_id

    return json.dumps(short) + "\n"


def _sum_up(done: Sequence[ToolResult]) -> None:
    counted = Counter(result.status.value for result in done)
    words = ", ".join(f"{number} {status}" for status, number in counted.most_common())
    calls = "1 call" if len(done) == 1 else f"{len(done)} calls"
    tell(f"{calls}: {words}." if words else "There are no calls.")
    left = sum(result.fate is Fate.ABANDONED for result in done)
    if left:
        tell(
            f"Given up while running: {left}. Until this program ends, that may still "
            "take effect."
        )
    if counted[Status.PENDING]:
        tell(
            "What is pending waits for somebody else, and nobody here goes on with it."
        )
