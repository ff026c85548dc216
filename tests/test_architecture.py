"""
The plan of the house, as docs/explanation/architecture.md draws it, holds.

Each check takes the modules as a mapping from place to text, so that the tests below
it can plant a violation and see it found.
"""

from __future__ import annotations

import ast
import statistics
import sys

import pytest

from imports import Import, imports_of, parsed
from source import SOURCES


# A module imports only from lines above its own.
LAYERS = [
    # Words and records.
    "_forking _records _shapes _wording _sentinels _clock _ids _readonly _plaindata",
    "exceptions",
    "_policy _refs",
    "_meta",
    "_calls _decisions _state",
    "_carriers _context _events _held",
    "telemetry",
    # What a function promises.
    "_signature",
    # JSON and its schemas.
    "_jsonfaults",
    "_jsonforms _jsonschema _strictjson",
    "_suspension _repair",
    "_schema _spec",
    # From declarations to the table.
    "_declared",
    "_build _groups",
    "_decl _table",
    # One call.
    "export _gate _errors _cut _budget _faults _stores",
    "_encode _meter _retry _sqlitestore _texts filters _isolation",
    "_processes",
    "_cluster _statuses",
    "_answers _charging _reports _terminal _ways",
    "_runtime",
    "_elsewhere _offload",
    "_pipeline _resume",
    # Many calls.
    "_batch _transcript engines",
    "_environment _gather _settings _turns",
    "_doors _views _promises",
    "_resumable",
    "_client",
    "_loop",
    "__init__",
    # The edges: they import public names only.
    "models",
    "testing",
    "report integrations",
    "cli _pytest_plugin",
    "__main__",
]
EDGES = {"models", "testing", "report", "integrations", "cli", "__main__"}
EDGES |= {"_pytest_plugin"}

# The same inside of packages that are no edges; ``__init__`` comes last in each.
INSIDE = {
    "export": ["_dialects _names", "_forms"],
    "filters": ["_surround", "_approval _chain"],
    "_cluster": ["_box _open _why", "_link _task", "_transport"],
    "_isolation": [
        "_incontext _signals _waits",
        "_attempt _awaiting _lines",
        "_body",
        "_abandoned _outcome",
        "_hosts _jobs",
        "_loopthread _stays _threads",
        "_loops",
        "_exit",
    ],
    "_processes": [
        "_loading _system _wire",
        "_outcome",
        "_worker",
        "_zygote",
        "_handle",
        "_dialogue _nursery",
        "_pool",
        "_inworker",
        "_parcel _remote",
        "_errand",
        "_transport _untilinterrupt",
        "_sent",
        "_abroad",
    ],
    "_jsonschema": [
        "_subschemas",
        "_closing _dialect _problems _strictness",
        "_given",
    ],
    "_loop": ["_conversation _rules", "_rounds _subruns", "_runs", "_toolloop"],
    "_pipeline": [
        "_admission _attempts _entrance",
        "_driving _layers _questions",
        "_adriver _approvals _driver",
        "_call",
        "_running",
    ],
    "_schema": ["_published _verdicts", "_choices _publisher _translate", "_shape"],
    "_signature": ["_callables _docstrings", "_hints", "_promise"],
    "engines": [
        "_options _plan _queue",
        "_base _crew _tasks",
        "_sequential _window",
        "_away",
        "_asyncio _executor _processes _ray _threads",
    ],
}

RANK = {name: rank for rank, line in enumerate(LAYERS) for name in line.split()}

# What may be imported from outside of the standard library, and where; also the parts
# of the standard library that one place answers for.
DOORS = {
    "wrapt": {"_decl"},
    "pydantic": {"_schema"},
    "pydantic_core": {"_encode"},
    "jsonschema": {"_jsonschema", "integrations"},
    "referencing": {"_jsonschema"},
    "click": {"cli"},
    "rich": {"cli"},
    "needle": {"models"},
    "mcp": {"integrations"},
    "anyio": {"integrations"},
    "starlette": {"integrations"},
    "uvicorn": {"integrations"},
    "openai": {"models"},
    "anthropic": {"models"},
    "google": {"models"},
    "opentelemetry": {"integrations"},
    "pytest": {"_pytest_plugin"},
    "ray": {"_cluster"},
    "pydantic_ai": {"integrations"},
    "langchain_core": {"integrations"},
    "agents": {"integrations"},
    "time": {"_clock"},
}

# What a function promises is read once, at its declaration; these words read it.
READING = {"signature", "unwrap", "getdoc", "get_annotations", "get_type_hints"}
READING |= {"__wrapped__", "__annotations__", "getsourcelines", "getsourcefile"}
READERS = {"_signature", "_groups", "_decl", "_refs", "_records"}

# Packages that come with an extra: only these may be imported inside of functions.
OPTIONAL = {"click", "jsonschema", "needle", "referencing", "rich"}
OPTIONAL |= {"anyio", "mcp", "starlette", "uvicorn"}  # what the extra mcp brings
OPTIONAL |= {"openai", "anthropic", "google"}
OPTIONAL |= {"ray"}
OPTIONAL |= {"agents", "langchain_core", "pydantic_ai"}  # the adapters of integrations

# Parts of the standard library that almost no run needs and every import would pay for.
DEFERRED = {("__init__.py", "importlib")}

LONGEST = 300
LONGER = {"exceptions.py": 720}  # one subject: the tree of errors


def top_of(label: str) -> str:
    """
    Name the room of a module in LAYERS.
    """
    return label.split("/", maxsplit=1)[0].removesuffix(".py")


def each_import(sources) -> list[tuple[str, Import]]:
    """
    List the imports of all modules with the place they stand in.
    """
    return [
        (label, found)
        for label in sources
        for found in dict.fromkeys(imports_of(label, sources))
    ]


def upward_imports(sources) -> list[str]:
    """
    List imports from the importer's own layer or from above it.
    """
    wrong = []
    for label, found in each_import(sources):
        if found.outside is not None:
            continue
        mine = top_of(label)
        theirs = found.module[0] if found.module else "__init__"
        if theirs == mine != "__init__":
            continue
        if RANK.get(theirs, len(LAYERS)) >= RANK.get(mine, -1):
            wrong.append(f"{label}:{found.line} imports {theirs}")

    return wrong


def wrong_imports_inside_packages(sources) -> list[str]:
    """
    List imports against the order of a package, and of a package by its own children.
    """
    wrong = []
    for label, found in each_import(sources):
        package = top_of(label)
        if found.outside is not None or found.module[:1] != (package,):
            continue
        mine = label.partition("/")[2].removesuffix(".py")
        if mine in ("", "__init__"):
            continue
        if len(found.module) == 1:
            wrong.append(f"{label}:{found.line} imports its own package")
            continue
        if package in EDGES:
            continue
        lines = INSIDE.get(package, [])
        rank = {n: place for place, line in enumerate(lines) for n in line.split()}
        if rank.get(found.module[1], len(lines)) >= rank.get(mine, -1):
            wrong.append(f"{label}:{found.line} imports {found.module[1]}")

    return wrong


def unplaced_modules(sources) -> list[str]:
    """
    List modules that no line of the plan names.
    """
    unplaced = [label for label in sources if top_of(label) not in RANK]
    for label in sources:
        package, _, name = label.removesuffix(".py").partition("/")
        named = ["", "__init__", *" ".join(INSIDE.get(package, [])).split()]
        if name not in named and package not in EDGES:
            unplaced.append(label)

    return unplaced


def empty_rooms(sources) -> list[str]:
    """
    List names of the plan that no module has.
    """
    built = {top_of(label) for label in sources}
    rooms = {f"{name} is planned" for name in RANK if name not in built}
    for package, lines in INSIDE.items():
        for name in " ".join(lines).split():
            if f"{package}/{name}.py" not in sources:
                rooms.add(f"{package}/{name} is planned")

    return sorted(rooms)


def imports_past_the_door(sources) -> list[str]:
    """
    List imports from outside by a module that is not their door.
    """
    wrong = []
    for label, found in each_import(sources):
        name = found.outside
        if name is None or (name in sys.stdlib_module_names and name not in DOORS):
            continue
        if top_of(label) not in DOORS.get(name, set()):
            wrong.append(f"{label}:{found.line} imports {name}")

    return wrong


def readers_of_functions(sources) -> list[str]:
    """
    List places that look into a function after its declaration.
    """
    wrong = []
    for label, text in sources.items():
        if top_of(label) in READERS:
            continue
        for node in ast.walk(parsed(text)):
            word = None
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                word = node.attr
            word = node.value if isinstance(node, ast.Constant) else word
            if isinstance(word, str) and word in READING:
                wrong.append(f"{label}:{node.lineno} reads {word}")

    return wrong


def imports_in_functions(sources) -> list[str]:
    """
    List imports inside of functions of anything but an optional package.
    """
    return [
        f"{label}:{found.line} imports {found.outside or 'a module of ours'}"
        for label, found in each_import(sources)
        if found.in_function
        and found.outside not in OPTIONAL
        and (label, found.outside) not in DEFERRED
    ]


def private_imports_of_edges(sources) -> list[str]:
    """
    List imports of private modules or names by the edges, except inside their package.
    """
    wrong = []
    for label, found in each_import(sources):
        mine = top_of(label)
        if mine not in EDGES or found.outside is not None:
            continue
        if found.module[:1] == (mine,):
            continue
        taken = [*found.module, *([found.name] if found.name else [])]
        if any(part.startswith("_") and part != "__version__" for part in taken):
            wrong.append(f"{label}:{found.line} imports {'.'.join(taken)}")

    return wrong


def long_files(sources) -> list[str]:
    """
    List modules that have more lines than a module may have.
    """
    counts = {label: len(text.splitlines()) for label, text in sources.items()}

    return [
        f"{label} has {count} lines"
        for label, count in counts.items()
        if count > LONGER.get(label, LONGEST)
    ]


def lengths_of_functions(sources) -> list[int]:
    """
    List how many lines the functions have, their docstrings left out.
    """
    lengths = []
    for text in sources.values():
        for node in ast.walk(parsed(text)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                body = node.body
                if ast.get_docstring(node) is not None:
                    body = body[1:]
                if body:
                    lengths.append((body[-1].end_lineno or 0) - body[0].lineno + 1)

    return lengths


CHECKS = [
    upward_imports,
    wrong_imports_inside_packages,
    unplaced_modules,
    empty_rooms,
    imports_past_the_door,
    readers_of_functions,
    imports_in_functions,
    private_imports_of_edges,
    long_files,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_house_follows_the_plan(check):
    """
    A module in the wrong room, or a door in the wrong wall, is named with its line.
    """
    assert "" == "\n".join(check(SOURCES))


def test_functions_are_short():
    """
    Nine of ten functions fit on a third of a screen, so that a body is read at a glance.
    """
    tenths = statistics.quantiles(lengths_of_functions(SOURCES), n=10)

    assert tenths[-1] <= 30


PLANTED = [
    (
        upward_imports,
        "_meta.py",
        "from ._client import X",
        "_meta.py:1 imports _client",
    ),
    (upward_imports, "_meta.py", "from . import _calls", "_meta.py:1 imports _calls"),
    (
        upward_imports,
        "_gate.py",
        "from ._errors import X",
        "_gate.py:1 imports _errors",
    ),
    (upward_imports, "_meta.py", "from . import tool", "_meta.py:1 imports __init__"),
    (
        upward_imports,
        "_meta.py",
        "import tooldecl.engines",
        "_meta.py:1 imports engines",
    ),
    (
        upward_imports,
        "_meta.py",
        "if TYPE_CHECKING:\n    from ._client import X",
        "_meta.py:2 imports _client",
    ),
    (
        upward_imports,
        "engines/_new.py",
        "from .._client import X",
        "engines/_new.py:1 imports _client",
    ),
    (
        wrong_imports_inside_packages,
        "engines/_new.py",
        "from . import Engine",
        "engines/_new.py:1 imports its own package",
    ),
    (
        wrong_imports_inside_packages,
        "engines/_new.py",
        "def f():\n    from ._newer import X",
        "engines/_new.py:2 imports _newer",
    ),
    (unplaced_modules, "_helpers.py", "", "_helpers.py"),
    (unplaced_modules, "engines/_new.py", "", "engines/_new.py"),
    (
        imports_past_the_door,
        "_meta.py",
        "import pydantic",
        "_meta.py:1 imports pydantic",
    ),
    (
        imports_past_the_door,
        "_loop.py",
        "from time import sleep",
        "_loop.py:1 imports time",
    ),
    (
        readers_of_functions,
        "_loop.py",
        "inspect.signature(f)",
        "_loop.py:1 reads signature",
    ),
    (
        readers_of_functions,
        "_loop.py",
        "getattr(f, '__wrapped__')",
        "_loop.py:1 reads __wrapped__",
    ),
    (imports_past_the_door, "_loop.py", "import numpy", "_loop.py:1 imports numpy"),
    (
        imports_in_functions,
        "_loop.py",
        "def f():\n    from ._client import X",
        "_loop.py:2 imports a module of ours",
    ),
    (
        imports_in_functions,
        "_loop.py",
        "class A:\n    async def f(self):\n        import json",
        "_loop.py:3 imports json",
    ),
    (
        private_imports_of_edges,
        "cli/_new.py",
        "from .._client import ToolClient",
        "cli/_new.py:1 imports _client.ToolClient",
    ),
    (
        private_imports_of_edges,
        "testing.py",
        "from tooldecl.engines._base import X",
        "testing.py:1 imports engines._base.X",
    ),
    (long_files, "_new.py", "#\n" * 301, "_new.py has 301 lines"),
]


@pytest.mark.parametrize(
    ("check", "label", "text", "expected"),
    PLANTED,
    ids=[f"{case[0].__name__}-{place}" for place, case in enumerate(PLANTED)],
)
def test_a_planted_violation_is_found(check, label, text, expected):
    """
    A check that cannot fail would let the next violation through.
    """
    without = {**SOURCES, "engines/_newer.py": ""}

    assert expected not in check(without)
    assert expected in check({**without, label: text})


@pytest.mark.parametrize("label", ["_meta.py", "engines/_plan.py"])
def test_a_room_that_is_gone_is_found(label):
    """
    A plan with rooms that nobody has built would be believed.
    """
    without = {place: text for place, text in SOURCES.items() if place != label}

    assert [f"{label.removesuffix('.py').split('.')[0]} is planned"] == [
        room.replace(".py", "") for room in empty_rooms(without)
    ]


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("_client.py", "from ._meta import ToolMeta"),
        ("_client.py", "if TYPE_CHECKING:\n    from .engines import Engine"),
        ("_decl.py", "import wrapt"),
        ("cli/_new.py", "from .. import ToolClient\nfrom ._render import table"),
        ("cli/_new.py", "def f():\n    import click"),
    ],
)
def test_an_allowed_import_is_let_through(label, text):
    """
    A check that refuses everything would be switched off.
    """
    planted = {label: text, "_meta.py": "", "engines/__init__.py": ""}
    checks = [
        upward_imports,
        imports_past_the_door,
        imports_in_functions,
        private_imports_of_edges,
    ]

    assert [] == [wrong for check in checks for wrong in check(planted)]
