"""
A record is what the dataclass decorator makes, at a fraction of the time.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

from dataclasses import FrozenInstanceError, dataclass, field, fields
from typing import get_type_hints

import pytest

from tooldecl._records import record


def made_by(decorator):
    """
    Return three classes that together use all that records use, one derived from another.
    """

    @decorator(frozen=True, slots=True, kw_only=True)
    class First:
        """First."""

        number: int
        text: str = "text"
        hidden: list[int] = field(default_factory=list, repr=False, compare=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "text", self.text.upper())

    @decorator(frozen=True, slots=True, kw_only=True)
    class Second(First):
        """Second."""

        text: str = field()
        share: float = 0.5
        made: object = field(init=False, default=None)

    @decorator(frozen=True, slots=True, eq=False)
    class Third:
        """Third."""

        one: int
        two: int = 2

        def __repr__(self) -> str:
            return "<third>"

    return First, Second, Third


PLAIN, RECORDS = made_by(dataclass), made_by(record)
ARGUMENTS = ({"number": 1}, {"number": 1, "text": "a"}, {"one": 1})
CASES = list(zip(PLAIN, RECORDS, ARGUMENTS, strict=True))


@record(frozen=True, slots=True)
class Found:
    """
    One that can be found again by its name.
    """

    one: int
    two: object


@pytest.mark.parametrize(("plain", "made", "given"), CASES, ids=["1", "2", "3"])
class TestLikeTheDataclass:
    """
    Whoever looks at a record sees a dataclass.
    """

    def test_the_class_says_the_same_of_itself(self, plain, made, given):
        """
        Tools that read dataclasses go by these.
        """
        for name in ("__slots__", "__match_args__", "__doc__", "__qualname__"):
            assert getattr(plain, name) == getattr(made, name)
        for name in ("__dataclass_params__", "__init__"):
            assert (
                repr(getattr(plain, name)).partition(" at ")[0]
                == (repr(getattr(made, name)).partition(" at ")[0])
            )
        assert repr(fields(plain)) == repr(fields(made))
        assert vars(plain).keys() == vars(made).keys()
        assert inspect.signature(plain) == inspect.signature(made)
        assert get_type_hints(plain) == get_type_hints(made)
        assert plain.__init__.__globals__ is made.__init__.__globals__

    def test_instances_look_the_same(self, plain, made, given):
        """
        What is printed and what is copied into dicts does not tell the two apart.
        """
        expected, found = plain(**given), made(**given)

        assert repr(expected) == repr(found)
        assert dataclasses.asdict(expected) == dataclasses.asdict(found)
        assert not hasattr(found, "__dict__")

    def test_mistakes_are_told_the_same_way(self, plain, made, given):
        """
        The errors of the generated methods name the class and the argument.
        """
        for wrong in ({}, {**given, "other": 1}):
            with pytest.raises(TypeError) as expected:
                plain(**wrong)
            with pytest.raises(TypeError) as found:
                made(**wrong)
            assert str(expected.value) == str(found.value)

    def test_equality_is_that_of_the_fields_or_none(self, plain, made, given):
        """
        Records are compared in tests and looked up in sets.
        """
        is_equal = plain(**given) == plain(**given)
        first, second = made(**given), made(**given)
        same = first

        assert is_equal == (first == second) == (hash(first) == hash(second))
        assert first == same
        assert first != plain(**given)
        assert first != dataclasses.replace(first, **{next(iter(given)): 7})

    def test_nothing_can_be_changed(self, plain, made, given):
        """
        A record is handed to filters and hooks of others.
        """
        one = made(**given)
        name = next(iter(given))

        with pytest.raises(
            FrozenInstanceError, match=f"cannot assign to field '{name}'"
        ):
            setattr(one, name, 3)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(one, name)
        with pytest.raises(AttributeError):
            one.other = 3

    def test_it_can_be_derived_from_either_way(self, plain, made, given):
        """
        A host may extend a public record with the decorator it knows.
        """
        for base in (plain, made):

            @dataclass(frozen=True, kw_only=True)
            class More(base):
                more: int = 5

            assert 5 == More(**given).more
            with pytest.raises(FrozenInstanceError):
                More(**given).more = 6
            with pytest.raises(TypeError, match="non-frozen"):
                dataclass(type("Open", (base,), {}))

    def test_a_class_derived_without_a_decorator_works(self, plain, made, given):
        """
        The first instance may be one of a class that only inherits.
        """
        fresh = dict(zip(PLAIN, made_by(record), strict=True))[plain]
        derived = type("Derived", (fresh,), {})
        one = derived(**given)
        one.other = 3

        assert 3 == one.other
        assert inspect.isfunction(fresh.__init__)
        with pytest.raises(FrozenInstanceError):
            setattr(one, next(iter(given)), 3)


def test_it_survives_pickling_and_copying():
    """
    Records travel to worker processes.
    """
    one = Found(1, [2])

    assert one == pickle.loads(pickle.dumps(one)) == copy.deepcopy(one)


def test_one_that_holds_itself_can_be_printed():
    """
    A value of a user's may refer back to the record around it.
    """
    held: list[object] = []
    held.append(Found(1, held))

    assert "Found(one=1, two=[...])" == repr(held[0])


def test_it_can_be_matched():
    """
    Positional patterns go by the order of the fields.
    """
    match Found(1, 2):
        case Found(one, two):
            assert (1, 2) == (one, two)


def test_nothing_is_compiled_until_a_record_is_made():
    """
    This is what it is for: an import makes dozens of classes and few records.
    """
    first, _, _ = made_by(record)
    before = vars(first)["__init__"]
    first(number=1)

    assert not inspect.isfunction(before)
    assert inspect.isfunction(vars(first)["__init__"])


@pytest.mark.parametrize(
    "options", [{"frozen": False, "slots": True}, {"frozen": True, "slots": False}]
)
def test_what_it_does_not_make_is_refused(options):
    """
    Type checkers read the options as those of a dataclass, so they have to be true.
    """
    with pytest.raises(TypeError, match="frozen and has slots"):
        record(**options)
