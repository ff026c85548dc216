"""
Every test and every public name says what it is for.
"""

from __future__ import annotations

import ast
import importlib
import inspect

from typing import get_origin

import pytest

import tooldecl

from imports import parsed
from source import PUBLIC_MODULES, ROOT, SOURCES


TEST_FILES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "tests").rglob("test_*.py"))
}

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def silent_tests(files):
    """
    List the tests that have no docstring, and those whose docstring is no sentence.
    """
    silent = []
    for label, text in files.items():
        for node in ast.walk(parsed(text)):
            if isinstance(node, FUNCTIONS) and node.name.startswith("test_"):
                doc = ast.get_docstring(node) or ""
                if not doc.strip().endswith((".", "?", "!", "`", ")", ":")):
                    silent.append(f"{label}:{node.lineno} {node.name}")

    return silent


def silent_modules(sources):
    """
    List the modules that do not say what they are.
    """
    return [
        label for label, text in sources.items() if not ast.get_docstring(parsed(text))
    ]


def silent_names(modules):
    """
    List public classes, functions, methods and properties without a docstring.
    """
    silent = []
    for module in modules:
        for name in module.__all__:
            value = getattr(module, name)
            if not callable(value) or get_origin(value):
                continue  # a constant, or a name for a type
            label = f"{module.__name__}.{name}"
            if is_silent(value):
                silent.append(label)
            if inspect.isclass(value):
                silent += [f"{label}.{key}" for key in silent_members(value)]

    return silent


def is_silent(value):
    """
    Tell a missing docstring, and the one that a dataclass makes up, from a written one.
    """
    doc = inspect.getdoc(value) or ""
    made_up = inspect.isclass(value) and doc.startswith(f"{value.__name__}(")

    return made_up or not doc.strip()


def silent_members(cls):
    """
    List the public methods and properties that a class of ours leaves without a word.
    """
    return [
        key
        for key, member in vars(cls).items()
        if not key.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, property))
        and is_silent(getattr(cls, key))
    ]


def test_every_test_says_why():
    """
    A name says what a test does; only its docstring can say what breaks without it.
    """
    assert "" == "\n".join(silent_tests(TEST_FILES))


def test_every_module_says_what_it_is():
    """
    Whoever opens a file should not have to guess its subject.
    """
    assert [] == silent_modules(SOURCES)


def test_every_public_name_has_a_docstring():
    """
    What users see in their editor is the reference.
    """
    modules = [tooldecl]
    modules += [importlib.import_module(f"tooldecl.{name}") for name in PUBLIC_MODULES]

    assert "" == "\n".join(silent_names(modules))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def test_x():\n    pass", True),
        ("async def test_x():\n    pass", True),
        ("class TestY:\n    def test_x(self):\n        '''No'''", True),
        ("def test_x():\n    '''A sentence.'''", False),
        ("def helper():\n    pass", False),
    ],
)
def test_a_silent_test_is_found(text, found):
    """
    The check has to see coroutine tests and methods too.
    """
    assert found == bool(silent_tests({"test_planted.py": text}))
