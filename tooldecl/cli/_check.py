"""
``tooldecl check``: what is allowed, and likely not what was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, final

from .. import ToolClient
from ._exits import Exit
from ._loading import load
from ._notices import tell
from ._places import place_of
from ._results import results
from ._rules import CODES, RULES, TARGETS
from ._subjects import subjects_of
from ._target import target_argument


if TYPE_CHECKING:
    import click


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    What a rule has found.
    """

    code: str
    tool: str
    message: str
    file: str
    line: int


def command() -> click.Command:
    """
    Return the command, for the group of all.
    """
    import click

    @click.command("check", short_help="Find what is likely not what was meant.")
    @target_argument
    @click.option(
        "--format",
        "form",
        type=click.Choice([*_WRITERS, "json"]),
        default="text",
        show_default=True,
        help="Lines for people and editors, annotations for GitHub, or JSON.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
    @click.option(
        "--target",
        "targets",
        multiple=True,
        type=click.Choice(TARGETS),
        help="Apply the rules of this format too; may be given again.",
    )
    @click.option(
        "--ignore",
        multiple=True,
        type=click.Choice(CODES),
        metavar="CODE",
        help="Leave out what this rule finds; may be given again.",
    )
    def check(
        target: str,
        form: str,
        targets: tuple[str, ...],
        ignore: tuple[str, ...],
        *,
        as_json: bool,
    ) -> Exit:
        """
        Look at every tool for what is allowed, and likely not what was meant.

        The exit code is 1 if something is found. Each finding has a code, and the line
        where the tool is declared.
        """
        if as_json and form not in ("text", "json"):
            raise click.UsageError("Give either --json or another --format.")
        with results() as out:
            client = load(target)
            found = findings(client, targets=targets, ignore=ignore)
            if as_json or form == "json":
                out.json([asdict(finding) for finding in found])
            elif found:
                out.text("\n".join(map(_WRITERS[form], found)))
            tell(_summary(client, found))

        return Exit.FAILED if found else Exit.OK

    return check


def findings(
    client: ToolClient, *, targets: Collection[str] = (), ignore: Collection[str] = ()
) -> list[Finding]:
    """
    Apply every rule to every tool.

    Args:
        client: Whose tools.
        targets: Formats whose rules are applied too.
        ignore: Codes of rules that are not applied.
    """
    rules = [
        rule
        for rule in RULES
        if rule.code not in ignore and (rule.target is None or rule.target in targets)
    ]
    found: list[Finding] = []
    for tool in subjects_of(client):
        file, line = place_of(tool.meta)
        found += (
            Finding(
                code=rule.code,
                tool=tool.meta.name,
                message=message,
                file=file,
                line=line,
            )
            for rule in rules
            for message in rule.find(tool)
        )

    return found


def _summary(client: ToolClient, found: Sequence[Finding]) -> str:
    count, tools = len(client.table), len({finding.tool for finding in found})
    if not found:
        return f"Nothing found in {count} tool{'' if count == 1 else 's'}."
    things = "1 finding" if len(found) == 1 else f"{len(found)} findings"

    return f"{things} in {tools} of {count} tool{'' if count == 1 else 's'}."


def _line(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}: " if finding.file else ""

    return f"{place}{finding.code} {finding.tool}: {finding.message}"


def _annotation(finding: Finding) -> str:
    """
    Write what GitHub shows beside the line of a change.
    """
    place = (
        f"file={_property(finding.file)},line={finding.line}," if finding.file else ""
    )
    title = _property(f"{finding.code} {finding.tool}")

    return f"::warning {place}title={title}::{_escaped(finding.message)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


_WRITERS: dict[str, Callable[[Finding], str]] = {"text": _line, "github": _annotation}
