"""
The documentation is true: its code runs, its tables are the code's, its links lead on.
"""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib

from pathlib import Path

import pytest

import tooldecl

from pages import (
    BRINGS,
    PAGES,
    fences,
    is_there,
    label,
    needs_of,
    prose,
    sections,
    table,
)
from source import PUBLIC_MODULES, ROOT, SOURCES, WITH_PLUGIN
from tooldecl import exceptions, telemetry


DOCS = ROOT / "docs"
README = ROOT / "README.md"
LANGUAGES = {"python", "output", "console", "text", "json", "toml"}
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

MAIN_JOB = (
    'python3 -m venv .venv && .venv/bin/pip install -q ".[demo]" '
    "&& .venv/bin/tooldecl demo"
)
TESTS = "python3 -m venv .venv && .venv/bin/pip install -q nox && .venv/bin/nox"

# Their commands are typed, and what they print is compared, by test_cli_pages.py.
TYPED = {DOCS / "how-to" / "check-your-tools.md"}

WITH_CODE = [
    page
    for page in PAGES
    if any(b.info == "python" and is_there(b) for b in fences(page))
]

# Blocks that are files of tests: pytest runs them, beside the other files of the page.
TESTS_BLOCK = re.compile(r"python (test_\w+)\.py")
WITH_TESTS = [
    page for page in PAGES if any(TESTS_BLOCK.match(b.info) for b in fences(page))
]


def run(page, folder):
    """
    Run the blocks of *page* in a fresh interpreter, warnings as errors.
    """
    tests, package = ROOT / "tests", Path(tooldecl.__file__).parent.parent
    return subprocess.run(
        [sys.executable, "-P", "-W", "error", str(tests / "run_page.py"), str(page)],
        capture_output=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(package)])},
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("page", WITH_CODE, ids=label)
def test_the_code_of_a_page_runs(page, tmp_path):
    """
    Whoever copies an example, block by block, gets what the page says.
    """
    done = run(page, tmp_path)

    assert (0, "") == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```python\nx = 1\n```\n\n```python\nassert x == 1\n```\n", ""),
        ("```python\nprint(1)\n```\n\n```output\n1\n```\n", ""),
        ("```python\nprint(1)\n```\n\n```output\n2\n```\n", "page.md:6 says"),
        ("# A\n\n```python\nx = 1\n1 / 0\n```\n", 'page.md", line 5'),
        ("<!-- needs nothing -->\n## A\n```python\n1 / 0\n```\n", ""),
        ("## A\n<!-- needs nothing -->\n```python\n1 / 0\n```\n", ""),
        ("## A\n<!-- needs nothing -->\n## B\n```python\n1 / 0\n```\n", "line 5"),
    ],
)
def test_a_page_that_is_wrong_fails(tmp_path, text, expected):
    """
    A page that cannot fail proves nothing; the failure names the line of the page.
    """
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    done = run(page, tmp_path)

    assert (bool(expected), True) == (done.returncode != 0, expected in done.stderr)


@pytest.mark.parametrize("page", WITH_TESTS, ids=label)
def test_the_tests_of_a_page_pass(page, tmp_path):
    """
    Whoever copies the files of a page, its settings among them, has tests that pass.
    """
    names = []
    for block in fences(page):
        kind, _, name = block.info.partition(" ")
        name = "pyproject.toml" if kind == "toml" else name
        if name:
            names.append(name)
            (tmp_path / name).write_text(f"{block.text}\n", encoding="utf-8")
    package = str(Path(tooldecl.__file__).parent.parent)
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "pytest", "-q", "-W", "error", *WITH_PLUGIN),
            *("--import-mode=prepend", "-p", "no:cacheprovider", "--rootdir=."),
        ],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": package, "PYTEST_ADDOPTS": ""},
        text=True,
        timeout=60,
    )

    assert (0, len(names)) == (done.returncode, len(set(names))), done.stdout
    assert " passed" in done.stdout


def wrong_fences(page):
    """
    List blocks in a language that nobody checks, ``python no-run`` and the like; a module
    that a later block imports, or a command that is shown takes, is checked by that.
    """
    blocks = fences(page)
    imported = {
        f"python {name}.py"
        for block in blocks
        if block.info == "python" or TESTS_BLOCK.fullmatch(block.info)
        for name in re.findall(r"^import (\w+)$", block.text, re.MULTILINE)
    }
    imported |= {
        f"python {name}"
        for block in blocks
        if block.info == "console" and page in TYPED
        for name in re.findall(r"^\$ tooldecl \w+ (\w+\.py)", block.text, re.MULTILINE)
    }

    return [
        f"{label(page)}:{block.line} {block.info!r}"
        for block in blocks
        if block.info not in LANGUAGES | imported
        if not TESTS_BLOCK.fullmatch(block.info)
    ]


def test_no_block_gets_around_being_run():
    """
    A block called ``py`` or ``python no-run`` would be shown and never run.
    """
    assert [] == [wrong for page in PAGES for wrong in wrong_fences(page)]


@pytest.mark.parametrize("page", [p for p in PAGES if needs_of(p)], ids=label)
def test_what_a_page_needs_is_brought_by_a_session(page):
    """
    Without the package a block is not run: where no session has it, it never would be.
    """
    for name in needs_of(page):
        assert BRINGS[name] in nox_sessions()
        assert label(page) in code_of_session(BRINGS[name])


def code_of_session(name):
    """
    Return the code of a session, with all of the noxfile that it uses.
    """
    parts = {}
    for node in ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            parts[node.name] = node
        elif isinstance(node, ast.Assign):
            parts[ast.unparse(node.targets[0])] = node
    found, names = [], [name]
    while names:
        if node := parts.pop(names.pop(), None):
            found.append(ast.unparse(node))
            names += [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]

    return "\n".join(found)


def commands():
    """
    List what the console blocks tell readers to type, with the place it stands in.
    """
    return [
        (f"{label(page)}:{block.line}", command.strip())
        for page in PAGES
        for block in fences(page)
        if block.info == "console"
        for line in block.text.splitlines()
        if line.startswith("$ ")
        for command in line.removeprefix("$ ").split("&&")
    ]


def nox_sessions():
    """
    List the sessions of the noxfile, by their names on the command line.
    """
    names = set()
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for call in node.decorator_list:
                if isinstance(call, ast.Call) and "session" in ast.unparse(call.func):
                    given = {k.arg: k.value for k in call.keywords}
                    name = given.get("name", ast.Constant(node.name))
                    names.add(ast.literal_eval(name))

    return names


def cli_commands():
    """
    List the commands of the command line, from its own group.
    """
    from tooldecl.cli import COMMANDS

    return set(COMMANDS)


def wrong_command(command):
    """
    Say what is wrong with a command, or None.
    """
    program, *arguments = shlex.split(command)
    match Path(program).name, arguments:
        case "nox", ["-s", *sessions]:
            bare = {s.partition("-")[0] for s in sessions if s != "--"}
            return sorted(bare - nox_sessions()) or None
        case "pip", ["install", *_]:
            asked = re.findall(r"\.\[([\w,]+)\]|tooldecl\[([\w,]+)\]", command)
            names = {n for pair in asked for part in pair for n in part.split(",") if n}
            known = set(PYPROJECT["project"]["optional-dependencies"])
            return sorted(names - known) or None
        case "tooldecl", [name, *_]:
            return [name] if name not in cli_commands() else None
        case "pytest", paths:
            return [p for p in paths if "/" in p and not (ROOT / p).exists()] or None
        case ("nox", []) | ("python3" | "git" | "cd" | "ray", _):
            return None

    return [program]


def test_console_blocks_name_what_exists():
    """
    A session, an extra, a command or a path that is gone makes a page a dead end.
    """
    wrong = [(place, c, wrong_command(c)) for place, c in commands()]

    assert [] == [entry for entry in wrong if entry[2]]


@pytest.mark.parametrize(
    "command",
    [
        "nox -s lnit",
        'pip install ".[jsonschemas]"',
        "pip install tooldecl[clii]",
        "pytest tests/nowhere",
        "make test",
    ],
)
def test_a_wrong_command_is_found(command):
    """
    The check of console blocks has to bite.
    """
    assert wrong_command(command)


def test_the_two_commands_are_one_line_each():
    """
    They are what a reader with nothing but Python and pip can type.
    """
    shown = [
        line.removeprefix("$ ")
        for block in fences(README)
        if block.info == "console"
        for line in block.text.splitlines()
    ]
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()

    assert {MAIN_JOB, TESTS} <= set(shown)
    assert TESTS == ci[-1]


@pytest.mark.parametrize(
    ("page", "least", "most"),
    [
        (README, 60, 90),
        (DOCS / "contributing.md", 1, 120),
        *((page, 1, 40) for page in sorted((DOCS / "decisions").glob("*.md"))),
    ],
    ids=lambda value: label(value) if isinstance(value, Path) else str(value),
)
def test_pages_keep_their_length(page, least, most):
    """
    A page that grows has two subjects.
    """
    count = len(page.read_text(encoding="utf-8").splitlines())

    assert least <= count <= most


def test_decisions_are_numbered_without_gaps():
    """
    A number is how other pages and commits name a decision.
    """
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    numbers = [int(page.name[:4]) for page in pages]

    assert list(range(1, len(pages) + 1)) == numbers


@pytest.mark.parametrize(
    "page", sorted((DOCS / "decisions").glob("[0-9]*.md")), ids=label
)
def test_decisions_have_the_form(page):
    """
    What was refused, and why, is what the next reader needs most.
    """
    heads = [line for _, line in prose(page) if line.startswith("#")]

    assert ["## Context", "## Choice", "## Refused"] == heads[1:]


SECOND_SENTENCE = re.compile(r"[a-z0-9`)\"*][.?!] +(?=[A-Z`\[*])")


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_one_sentence_per_line(page):
    """
    A change to one sentence shows as one line.
    """
    assert [] == [
        number
        for number, line in prose(page)
        if not line.startswith(("|", "#"))
        and SECOND_SENTENCE.search(re.sub(r"^ *\d+\. ", "", line))
    ]


OF_THREADS = re.compile(r"\b(threads?|tasks?)\b")
ENDED = re.compile(r"\b(terminat|kill)\w*")


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_no_thread_is_said_to_be_ended(page):
    """
    Nothing ends a thread from outside; a page that says so makes people rely on it.
    """
    assert [] == [
        (number, line)
        for number, line in prose(page)
        if OF_THREADS.search(line.lower()) and ENDED.search(line.lower())
    ]


LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]+)?\)")


@pytest.mark.parametrize("page", PAGES, ids=label)
def test_links_lead_somewhere(page):
    """
    A link to a page that is not there is worse than none.
    """
    targets = [match[1] for _, line in prose(page) for match in LINK.finditer(line)]

    assert [] == [
        target
        for target in targets
        if not target.startswith("https:") and not (page.parent / target).exists()
    ]


def test_pages_that_modules_name_exist():
    """
    The docstring of a module names the page that explains it.
    """
    named = {
        (place, page)
        for place, text in SOURCES.items()
        for page in re.findall(r"docs/[\w/-]+\.md", text)
    }

    assert [] == sorted(pair for pair in named if not (ROOT / pair[1]).exists())


def shown(default):
    """
    Write a default as the table of fields does.
    """
    if default is dataclasses.MISSING:
        return "required"

    text = json.dumps(default) if isinstance(default, str) else repr(default)

    return f"`{text}`"


def test_the_table_of_fields_is_the_record():
    """
    docs/reference/tool-meta.md lists every field of `ToolMeta`, in order, with its default.
    """
    rows = table(DOCS / "reference" / "tool-meta.md", "field")
    fields = dataclasses.fields(tooldecl.ToolMeta)

    assert [(f"`{f.name}`", shown(f.default)) for f in fields] == [
        (row[0], row[2]) for row in rows
    ]


def test_the_table_of_retry_is_the_record():
    """
    The same page lists what `Retry` takes.
    """
    rows = table(DOCS / "reference" / "tool-meta.md", "`Retry` field")
    fields = dataclasses.fields(tooldecl.Retry)

    assert [(f"`{f.name}`", shown(f.default)) for f in fields] == [
        (row[0], row[2]) for row in rows
    ]


# It makes the record, and checks it.
UNREAD = {"_meta.py"}


def enforcers():
    """
    List the pairs of field and module that the table of fields promises.
    """
    rows = table(DOCS / "reference" / "tool-meta.md", "field")

    return [
        (row[0].strip("`"), f"{place}.py")
        for row in rows
        for place in re.findall(r"`([\w/]+)`", row[-1])
    ]


def test_every_field_has_an_enforcer_in_the_table():
    """
    A field without one would be a promise that nobody keeps.
    """
    fields = {field.name for field in dataclasses.fields(tooldecl.ToolMeta)}

    assert fields == {field for field, _ in enforcers()}


def test_the_enforcers_in_the_table_read_the_field():
    """
    A module that was renamed, or no longer reads the field, enforces nothing.
    """
    assert [] == [
        (field, place)
        for field, place in enforcers()
        if place not in SOURCES
        or (
            place not in UNREAD
            and not re.search(rf"(meta|table\[.*\])\.{field}\b", SOURCES[place])
        )
    ]


# What the head of the page says of every event.
OF_ALL = {"at", "call_id", "name"}


def test_the_table_of_events_is_the_records():
    """
    docs/reference/events.md lists every event with each of its fields, in order.
    """
    rows = table(DOCS / "reference" / "events.md", "event")
    listed = {
        row[0].strip("`"): [field.strip("`") for field in row[2].split(", ")]
        for row in rows
    }
    kinds = [getattr(telemetry, name) for name in telemetry.__all__]

    assert listed == {
        kind.__name__: [
            f.name for f in dataclasses.fields(kind) if f.name not in OF_ALL
        ]
        for kind in kinds
        if dataclasses.is_dataclass(kind) and kind is not telemetry.Event
    }


def test_statuses_and_fates_are_the_code():
    """
    E-37: docs/reference/errors.md lists every status and every fate, in the order of the
    code.
    """
    page = DOCS / "reference" / "errors.md"
    statuses = [row[0].strip("`") for row in table(page, "status")]
    fates = [row[0].strip("`") for row in table(page, "fate")]

    assert ([*tooldecl.Status], [*tooldecl.Fate]) == (statuses, fates)


SAMPLES = {
    "UnsupportedSignatureError": [],
    "NotAvailableError": [
        exceptions.NotAvailableError(
            option="isolation='process' of tool 'plan' on win32"
        )
    ],
    "NotImportableError": [
        exceptions.NotImportableError(
            tool="plan", ref="m:f", reason="a lambda has no name to find it by"
        )
    ],
    "WorkerDiedError": [
        exceptions.WorkerDiedError(tool="plan", exit_code=-9),
        exceptions.WorkerDiedError(tool="plan", exit_code=3),
    ],
    "RemoteError": [
        exceptions.RemoteError(
            type_names=["ValueError"], text="the text of the exception"
        )
    ],
    "DuplicateToolError": [
        exceptions.DuplicateToolError(
            by_name={
                "search": [
                    "shop.catalog.search (catalog.py:12)",
                    "web.search (web.py:40)",
                ]
            }
        )
    ],
    "UnknownToolError": [
        exceptions.UnknownToolError(name="serch", nearest=["search"]),
        exceptions.UnknownToolError(name="search"),
    ],
    "MalformedJSONError": [
        exceptions.MalformedJSONError(reason="a member is given twice", path="$.a"),
        exceptions.MalformedJSONError(
            reason="there is more text after the JSON value", offset=8
        ),
    ],
    "InvalidArgumentsError": [
        exceptions.InvalidArgumentsError(
            tool="add",
            problems=[
                ("$.a", "needs an integer, got text."),
                ("$.b", "is missing, and it is required."),
                ("$.c", "is unknown. Accepted: 'a', 'b'."),
            ],
        )
    ],
    "ApprovalDeniedError": [
        exceptions.ApprovalDeniedError(tool="pay", reason="over the limit"),
        exceptions.ApprovalDeniedError(tool="pay"),
    ],
    "ApprovalExpiredError": [
        exceptions.ApprovalExpiredError(tool="pay", limit=60),
        exceptions.ApprovalExpiredError(tool="click", limit=60, kind="external"),
    ],
    "CallPendingError": [
        exceptions.CallPendingError(tool="pay", kind="approval"),
        exceptions.CallPendingError(tool="click", kind="external"),
    ],
    "ResumeError": [
        exceptions.ResumeError(
            problems={
                "call_1": "no call with this id waits",
                "call_2": "it has been taken up before",
            }
        )
    ],
    "GuardFailedError": [
        exceptions.GuardFailedError(tool="pay", filter_name="audit", ran=ran, fate=fate)
        for ran, fate in (
            (False, "not_started"),
            (True, "completed"),
            (True, "abandoned"),
        )
    ],
    "BudgetExceededError": [
        exceptions.BudgetExceededError(
            tool="fetch", limit_name=name, limit=limit, spent=limit, level=level
        )
        for name, limit, level in (
            ("calls", 50, "client"),
            ("per_tool", 2, "loop"),
            ("seconds", 30, "loop"),
            ("repeats", 3, "call"),
        )
    ],
    "ClusterError": [
        exceptions.ClusterError(address="10.0.0.1:6379", reason="Ray says no.")
    ],
    "UnknownReferenceError": [
        exceptions.UnknownReferenceError(reference="call_1-5f0c2a17")
    ],
    "EngineBusyError": [
        exceptions.EngineBusyError(
            tool="fetch", reason="8 of 8 calls that were given up are still running"
        )
    ],
    "NotRunError": [
        exceptions.NotRunError(tool="fetch", reason="the batch was stopped")
    ],
    "CallCancelledError": [
        exceptions.CallCancelledError(tool="fetch", fate=fate)
        for fate in ("not_started", "stopped", "abandoned")
    ],
    "ToolTimeoutError": [
        exceptions.ToolTimeoutError(
            tool="fetch", timeout=5, source="declared", fate="stopped"
        ),
        exceptions.ToolTimeoutError(
            tool="fetch", timeout=0.2, source="engine", fate="abandoned", attempts=3
        ),
    ],
    "ToolFailedError": [
        exceptions.ToolFailedError(tool="fetch", type_names=["KeyError"]),
        exceptions.ToolFailedError(
            tool="fetch",
            type_names=["ToolError"],
            text="The shop is closed until Monday.",
        ),
        exceptions.ToolFailedError(
            tool="fetch", type_names=["ConnectionError"], attempts=3
        ),
    ],
    "SubRunError": [
        exceptions.SubRunError(
            name="research",
            stop_reason="max_turns",
            why="has used up its 10 turns",
            result=None,
        )
    ],
    "UnencodableResultError": [
        exceptions.UnencodableResultError(
            tool="fetch",
            type_name="Socket",
            reason="a value of this type has no JSON form",
        )
    ],
    "ResultTooLargeError": [
        exceptions.ResultTooLargeError(tool="fetch", limit=1000, size=52_114)
    ],
}


# Their text is that of whoever raises them.
GIVEN_A_TEXT = ["BatchFailedError", "ModelFailedError", "ToolDeclError", "ToolError"]


def classes_of_errors():
    """
    List the classes of tooldecl.exceptions by name.
    """
    return {
        name: value
        for name in exceptions.__all__
        if isinstance(value := getattr(exceptions, name), type)
    }


def test_the_page_of_errors_lists_every_class_with_its_bases():
    """
    Users catch by these names, and by the built-in classes beside them.
    """
    rows = table(DOCS / "reference" / "errors.md", "error")
    listed = {row[0].strip("`"): row[1] for row in rows}
    expected = {
        name: ", ".join(f"`{base.__name__}`" for base in value.__bases__)
        for name, value in classes_of_errors().items()
    }

    assert expected == listed


def test_every_error_with_a_text_of_its_own_is_shown():
    """
    A class that writes its own text belongs on the page with it.
    """
    writes = {
        name
        for name, value in classes_of_errors().items()
        if "__init__" in vars(value) and name not in GIVEN_A_TEXT
    }

    assert writes == set(SAMPLES)


@pytest.mark.parametrize("name", [name for name, given in SAMPLES.items() if given])
def test_the_texts_of_errors_are_the_ones_on_the_page(name):
    """
    What the model reads is an interface: it changes on the page and in the code at once.
    """
    blocks = sections(DOCS / "reference" / "errors.md").get(name, [])
    texts = [block.text for block in blocks if block.info == "text"]

    assert [str(error) for error in SAMPLES[name]] == texts


def test_the_layers_on_the_page_are_the_tested_ones():
    """
    The picture in docs/explanation/architecture.md is the list that the test enforces.
    """
    from test_architecture import LAYERS

    page = DOCS / "explanation" / "architecture.md"
    picture = next(block.text for block in fences(page) if block.info == "text")
    drawn = [line.split("#")[0].split() for line in picture.splitlines()]

    assert [line.split() for line in LAYERS] == [line for line in drawn if line]


def test_public_modules_have_a_place_in_the_docs():
    """
    A module that users import from is named on the page that lists the doors.
    """
    text = (DOCS / "index.md").read_text(encoding="utf-8")

    assert [] == [name for name in PUBLIC_MODULES if f"tooldecl.{name}" not in text]
