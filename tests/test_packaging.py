"""
What is installed is what was built: whole, typed, without the tests, and quiet.
"""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tomllib

from pathlib import Path, PurePosixPath

import pytest

import tooldecl

from source import ROOT


PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

HERE = Path(tooldecl.__file__).parent


def shipped():
    """
    List the installed files of the package; in a checkout, the files of its folder.
    """
    try:
        files = importlib.metadata.files("tooldecl") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    recorded = [PurePosixPath(str(path)) for path in files]
    if any(path.name == "py.typed" for path in recorded):
        return [p for p in recorded if p.suffix != ".pyc"]

    return [
        PurePosixPath(path.relative_to(HERE.parent).as_posix())
        for path in HERE.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    ]


def run(program, *arguments):
    """
    Run *program* in a fresh interpreter that turns every warning into an error.
    """
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
    )


def test_the_version_is_the_one_that_was_built():
    """
    A version that is written in two places differs one day.
    """
    assert PYPROJECT["project"]["version"] == tooldecl.__version__
    assert importlib.metadata.version("tooldecl") == tooldecl.__version__


def test_the_package_is_marked_as_typed():
    """
    Without the marker, type checkers ignore every annotation of ours.
    """
    assert PurePosixPath("tooldecl/py.typed") in shipped()


def test_nothing_but_the_package_is_shipped():
    """
    A ``tests`` or ``docs`` folder in site-packages would collide with everybody else's.
    """
    tops = {path.parts[0] for path in shipped() if path.parts[0] != ".."}
    info = {top for top in tops if top.endswith((".dist-info", ".pth"))}

    assert {"tooldecl"} == tops - info


def test_every_module_of_the_checkout_is_shipped():
    """
    A module that the build leaves out is noticed here, not by a user.
    """
    mine = {
        PurePosixPath(path.relative_to(ROOT).as_posix())
        for path in (ROOT / "tooldecl").rglob("*.py")
    }

    assert mine == {path for path in shipped() if path.suffix == ".py"}


def test_the_installed_package_is_the_one_that_is_tested():
    """
    From the root of a checkout Python would import the checkout, and prove nothing.
    """
    in_checkout = HERE == ROOT / "tooldecl"

    assert not (in_checkout and "NOX_CURRENT_SESSION" in os.environ)


def test_importing_prints_nothing_and_starts_no_thread():
    """
    An import must be free to happen anywhere, in a worker as in a test.
    """
    program = (
        "import threading, tooldecl, tooldecl.engines, tooldecl.filters, "
        "tooldecl.telemetry, tooldecl.exceptions, tooldecl.testing; "
        "assert threading.active_count() == 1, threading.enumerate()"
    )
    done = run(program)

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)


# The core, and what pydantic and wrapt bring along.
CORE = {
    "annotated_types",
    "pydantic",
    "pydantic_core",
    "tooldecl",
    "typing_extensions",
    "typing_inspection",
    "wrapt",
}


@pytest.mark.parametrize(
    ("statement", "brought"),
    [
        ("import tooldecl", {"tooldecl"}),
        ("from tooldecl import tool", {"tooldecl", "wrapt"}),
        ("from tooldecl import ToolClient", {"pydantic", "tooldecl"}),
    ],
)
def test_importing_brings_only_what_it_needs(statement, brought):
    """
    Nobody pays for the validator before a client is built, nor for an extra unused.
    """
    program = """if True:
        import sys
        before = set(sys.modules)
        exec(sys.argv[1])
        new = {name.partition(".")[0] for name in set(sys.modules) - before}
        new -= set(sys.stdlib_module_names)
        print(*sorted(n for n in new if not n.startswith("_sysconfigdata")))
    """
    done = run(program, statement)

    assert "" == done.stderr
    imported = set(done.stdout.split())
    assert (brought, set()) == (
        imported & {"pydantic", "tooldecl", "wrapt"},
        imported - CORE,
    )


def test_importing_leaves_the_process_as_it_was():
    """
    No handler, no signal, no hook, no context of ours before a call is made.
    """
    program = """if True:
        import asyncio, logging, signal, sys, threading
        import pydantic, wrapt
        def state():
            return (
                [signal.getsignal(s) for s in (signal.SIGINT, signal.SIGTERM)],
                sys.excepthook, threading.excepthook, sys.unraisablehook,
                list(logging.root.handlers), logging.root.level,
                sys.getrecursionlimit(), sys.getswitchinterval(),
            )
        before = state()
        import tooldecl
        print(before == state())
    """
    done = run(program)

    assert ("True\n", "") == (done.stdout, done.stderr)


def test_the_extras_that_the_readme_names_exist():
    """
    A command of the README that names a missing extra only warns, and installs less.
    """
    extras = PYPROJECT["project"]["optional-dependencies"]

    assert {"cli", "demo", "jsonschema"} <= set(extras)
