"""
The pages about the command line say what it does: tables, exit codes, every example.
"""

from __future__ import annotations

import re
import shlex

import pytest

from command_line import typed, written
from pages import fences, label, table
from source import ROOT
from tooldecl import Status
from tooldecl.cli import COMMANDS, group
from tooldecl.cli._exits import EXITS, Exit
from tooldecl.cli._rules import RULES, TARGETS
from tooldecl.cli._run import ENGINES
from tooldecl.cli._target import FORMATS


REFERENCE = ROOT / "docs" / "reference" / "cli.md"
HOW_TO = ROOT / "docs" / "how-to" / "check-your-tools.md"


def code(cell):
    """
    List what stands in backticks in a cell.
    """
    return re.findall(r"`([^`]+)`", cell)


def test_the_commands_are_those_of_the_page():
    """
    A command without a row is known to its author alone.
    """
    rows = table(REFERENCE, "command")
    ours = {name: made.short_help for name, made in group().commands.items()}

    assert set(COMMANDS) == set(ours)
    assert {f"`{name}`": words for name, words in ours.items()} == dict(rows)


def test_the_options_are_those_of_the_page():
    """
    Each of a command's options has a row, in the words of its help.
    """
    rows = {
        (of, tuple(code(option))): words
        for option, of, words in table(REFERENCE, "option")
    }
    ours = {
        (f"`{name}`", tuple(parameter.opts)): parameter.help
        for name, made in group().commands.items()
        for parameter in made.params
        if parameter.param_type_name == "option"
    }

    assert ours == rows


def test_the_choices_are_those_of_the_page():
    """
    What an option takes is looked up there.
    """
    rows = {option: code(choices) for option, choices in table(REFERENCE, "choices of")}

    assert {
        "`schema --format`": list(FORMATS),
        "`check --format`": ["text", "github", "json"],
        "`check --target`": list(TARGETS),
        "`call --output`": ["text", "json"],
        "`run --engine`": list(ENGINES),
    } == rows


def test_the_exit_codes_are_those_of_the_page():
    """
    A script is written by this table.
    """
    rows = table(REFERENCE, "exit code")
    of_page = {int(number): set(code(statuses)) for number, _, statuses in rows}
    ours = {one.value: {s.value for s in Status if EXITS[s] is one} for one in Exit}

    assert ours == of_page


def test_the_rules_are_those_of_the_page():
    """
    Whoever is shown a code looks here for what it means.
    """
    rows = [(rule, title) for rule, title, _ in table(REFERENCE, "rule")]

    assert [(f"`{rule.code}`", rule.title) for rule in RULES] == rows


@pytest.mark.slow
def test_the_examples_are_what_a_reader_gets(tmp_path):
    """
    Typed in order, in a folder with the files of the page, they print what stands there.
    """
    for block in fences(HOW_TO):
        if block.info.startswith("python "):
            written(tmp_path, block.info.removeprefix("python "), block.text)
        if block.info != "console":
            continue
        _, *commands = re.split(r"^\$ tooldecl ", block.text, flags=re.MULTILINE)
        for text in commands:
            command, _, expected = text.partition("\n")
            done = typed(tmp_path, *shlex.split(command))

            assert expected.strip() == (done.out + done.err).strip(), (
                f"{label(HOW_TO)}:{block.line} {command}"
            )
