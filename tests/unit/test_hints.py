"""
Hints that are read without being evaluated mean what evaluating them would say.
"""

from __future__ import annotations

import builtins
import collections
import sys
import types
import typing

import pytest

from tooldecl._signature._hints import Scope, UnreadableHintError


T = typing.TypeVar("T")


class Own:
    """
    A class of this module.
    """


class float:  # noqa: A001, N801 (a builtin is shadowed on purpose)
    """
    What hides the builtin of that name in this module.
    """


def scope(**names):
    """
    Return where the hints of a function of this module find their names.
    """

    def function() -> None: ...

    made = Scope(function)
    made._names = names

    return made, function, names


def evaluated(annotation, function, names):
    """
    Return what typing says, by the names around a declaration.
    """
    holder = types.SimpleNamespace(
        __annotations__={"hint": annotation},
        __type_params__=getattr(function, "__type_params__", ()),
    )

    return typing.get_type_hints(
        holder, function.__globals__, names, include_extras=True
    )["hint"]


SPELLED = [
    "int",
    "float",
    "None",
    "Own",
    "Local",
    "T",
    "object",
    "list",
    "typing",
    "len",
    "Any",
    "types.GenericAlias",
    "list[int] | None",
    " int",
    "Own | None",
    "'int'",
]
OBJECTS = [
    None,
    int,
    typing.Any,
    list[int],
    list["Own"],
    dict[str, list[int | None]],
    int | None,
    list[T],
    list[T] | None,
    tuple[int, ...],
    tuple[()],
    collections.abc.Callable[[int], str],
    typing.Optional[int],  # noqa: UP045 (it is another object than int | None)
    typing.List["Own"],  # noqa: UP006
    typing.Annotated[int, "text"],
    typing.Literal["int"],
    types.GenericAlias(Own, ("Own",)),
]


@pytest.mark.parametrize("annotation", [*SPELLED, *OBJECTS], ids=ascii)
def test_a_hint_means_what_typing_says(annotation):
    """
    Plain names and plain classes are most of all hints, and evaluating costs the most.
    """
    made, function, names = scope(Local=type("Local", (), {}), Any=typing.Any)
    try:
        expected = evaluated(annotation, function, names)
    except (SyntaxError, TypeError):
        with pytest.raises(UnreadableHintError):
            made.read(annotation)
    else:
        found = made.read(annotation)
        assert expected == found
        assert type(expected) is type(found)


@pytest.mark.parametrize("name", ["Generic", "Protocol"])
def test_a_class_that_is_no_type_by_itself_is_refused(name):
    """
    They are classes, and mean nothing as a hint.
    """
    made, _, _ = scope(**{name: getattr(typing, name)})

    with pytest.raises(UnreadableHintError, match="not valid as type argument"):
        made.read(name)


def test_names_are_found_from_the_inside_out():
    """
    A class of the body around hides one of the module, and that a builtin.
    """
    inner = type("Own", (), {})

    assert inner is scope(Own=inner)[0].read("Own")
    assert Own is scope()[0].read("Own")
    assert float is scope()[0].read("float")
    assert float is not builtins.float
    with pytest.raises(UnreadableHintError, match="'Nowhere' is not defined"):
        scope()[0].read("Nowhere")


def test_builtins_of_ones_own_are_respected():
    """
    Code may be run with other builtins than the usual ones.
    """
    made = {"__builtins__": {"int": Own}}
    exec("def function(): ...", made)  # noqa: S102
    found = Scope(made["function"])

    assert Own is found.read("int")
    with pytest.raises(UnreadableHintError):
        found.read("str")


def test_a_type_parameter_is_left_to_typing():
    """
    ``def function[Own]()``: newer Pythons mean the parameter, not the class.
    """
    made = {"Own": Own}
    parameters = "[Own]" if sys.version_info >= (3, 12) else ""
    exec(f"def function{parameters}(): ...", made)  # noqa: S102
    function = made["function"]

    assert evaluated("Own", function, {}) is Scope(function).read("Own")
