"""
What a model reads when arguments do not fit: a path, the rule, what to do.
"""

from __future__ import annotations

import collections
import datetime as dt
import decimal
import enum
import json
import typing
import uuid

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from pydantic import (
    AfterValidator,
    AnyUrl,
    AwareDatetime,
    BaseModel,
    Discriminator,
    Field,
    FutureDate,
    HttpUrl,
    Json,
    NaiveDatetime,
    PastDatetime,
    Tag,
)
from pydantic_core import PydanticCustomError, core_schema
from typing_extensions import TypedDict

from one_tool import entry_of, problems_of, run, schema_of, values_of
from tooldecl import tool
from tooldecl._schema._verdicts import (
    EXPECTED,
    MISSING_TYPES,
    RULES,
    UNKNOWN_TYPES,
    UNREADABLE,
)
from tooldecl.exceptions import InvalidArgumentsError


class Item(BaseModel):
    """
    One item.
    """

    name: str
    price: float = 1.0


@dataclass
class Point:
    """
    A place.
    """

    x: int
    y: int = 0


class Options(TypedDict, total=False):
    """
    What may be set.
    """

    depth: int


class Cat(BaseModel):
    """
    A cat.
    """

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    """
    A dog.
    """

    kind: Literal["dog"]
    tricks: list[str] = []


class Number(enum.IntEnum):
    """
    Two numbers.
    """

    ONE = 1
    TWO = 2


def taking(hint: Any, *default: Any, **options: Any) -> Any:
    """
    Declare a tool with one parameter.
    """

    def function(x) -> Any:
        return x

    function.__annotations__["x"] = hint
    function.__defaults__ = default or None

    return tool(description="Do it.", **options)(function)


def problem(hint: Any, value: object, *default: Any, **options: Any) -> str:
    """
    Return the one problem of a value at its own place.
    """
    problems = problems_of(taking(hint, *default, **options), {"x": value})
    assert ["$.x"] == list(problems)

    return problems["$.x"]


def test_the_whole_text_says_that_nothing_was_run():
    """
    DEC-04: every problem is listed, each by its path.
    """

    @tool
    def read(topic: str = "", limit: int = 3) -> None:
        """
        Read.
        """

    with pytest.raises(Exception) as caught:
        values_of(read, {"path": "x", "limit": "3"})

    assert (
        "The arguments for 'read' were refused and nothing was run.\n"
        "$.limit: needs an integer, got text.\n"
        "$.path: is unknown. Accepted: 'topic', 'limit'."
    ) == str(caught.value)


def test_what_is_missing_is_named():
    """
    DEC-04: with its own name, and not that of the type.
    """

    @tool
    def weather(city: str, days: int = 1) -> None:
        """
        Say the weather.
        """

    assert {"$.city": "is missing, and it is required."} == problems_of(weather, {})
    assert {"city": "x"} == values_of(weather, {"city": "x"})


def test_an_unknown_argument_names_the_accepted_and_the_nearest():
    """
    R76: a misspelt filter must not be dropped and its default be used.
    """

    @tool
    def find(query: str = "", max_results: int = 1) -> None:
        """
        Find.
        """

    assert {
        "$.maxResults": (
            "is unknown. Accepted: 'query', 'max_results'. Did you mean 'max_results'?"
        )
    } == problems_of(find, {"maxResults": 3})


def test_a_tool_without_parameters_says_so():
    """
    Invented arguments for a tool that takes none are what models get wrong most.
    """

    @tool
    def now() -> None:
        """
        Say the time.
        """

    assert {"$.zone": "is unknown: this tool takes no arguments, send {}."} == (
        problems_of(now, {"zone": "utc"})
    )


@pytest.mark.parametrize(
    ("hint", "value", "path"),
    [
        (Item, {"name": "a", "nam": 1}, "$.x.nam"),
        (Point, {"x": 1, "z": 1}, "$.x.z"),
        (Options, {"dept": 1}, "$.x.dept"),
        (list[Item], [{"name": "a"}, {"name": "a", "nam": 1}], "$.x[1].nam"),
        (dict[str, Point], {"a b": {"x": 1, "z": 1}}, '$.x["a b"].z'),
        (Item | None, {"name": "a", "nam": 1}, "$.x.nam"),
    ],
    ids=str,
)
def test_unknown_members_are_refused_at_every_depth(hint, value, path):
    """
    R76: the type's own leniency does not count.
    """
    [(where, text)] = problems_of(taking(hint), {"x": value}).items()

    assert path == where
    assert text.startswith("is unknown. Accepted: ")


def test_an_object_without_members_says_so():
    """
    R76: there is nothing to list.
    """

    class Empty(BaseModel):
        pass

    assert {"$.x.a": "is unknown: this object takes no members."} == (
        problems_of(taking(Empty), {"x": {"a": 1}})
    )


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (int, "1", "needs an integer, got text."),
        (int, True, "needs an integer, got true or false."),
        (int, 1.5, "needs an integer, got a number."),
        (int, 1.0, "needs an integer, got a number."),
        (int, [1], "needs an integer, got a list."),
        (int, {}, "needs an integer, got an object."),
        (int, None, "needs an integer, got null."),
        (float, "1", "needs a number, got text."),
        (float, True, "needs a number, got true or false."),
        (bool, 1, "needs true or false, got an integer."),
        (bool, "yes", "needs true or false, got text."),
        (str, 1, "needs text, got an integer."),
        (bytes, 1, "needs text, got an integer."),
        (list[int], 1, "needs a list, got an integer."),
        (set[int], {}, "needs a list, got an object."),
        (tuple[int, ...], "a", "needs a list, got text."),
        (frozenset[int], None, "needs a list, got null."),
        (dict[str, int], [], "needs an object, got a list."),
        (Item, [], "needs an object, got a list."),
        (Point, 1, "needs an object, got an integer."),
        (Options, "a", "needs an object, got text."),
        (None, 1, "needs null, got an integer."),
        (dt.date, 5, "needs a date such as 2024-12-31, got an integer."),
        (dt.time, 5, "needs a time such as 23:59:00, got an integer."),
        (
            dt.datetime,
            5,
            "needs a date and time such as 2024-12-31T23:59:00Z, got an integer.",
        ),
        (dt.timedelta, 5, "needs a duration such as PT1H30M, got an integer."),
        (uuid.UUID, 5, "needs a UUID, got an integer."),
        (decimal.Decimal, [], "needs a decimal number, got a list."),
        (AnyUrl, 5, "needs a URL, got an integer."),
        (collections.deque[int], "a", "needs a list, got text."),
        (Json[int], 5, "needs text, got an integer."),
    ],
    ids=str,
)
def test_a_wrong_kind_says_what_is_needed_and_what_came(hint, value, expected):
    """
    R79: strict scalars; the value itself is never repeated.
    """
    assert expected == problem(hint, value)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (float, 3),
        (float, 3.0),
        (int, 3),
        (int, -(2**63)),
        (int, 2**64 - 1),
        (bool, True),
        (str, "3"),
        (decimal.Decimal, 1.5),
        (decimal.Decimal, "1.5"),
    ],
    ids=repr,
)
def test_a_whole_number_may_stand_for_a_number(hint, value):
    """
    R79: the only exception among scalars; a Decimal has two JSON forms.
    """
    seen = run(taking(hint), {"x": value})

    assert hint(str(value)) == seen if hint is decimal.Decimal else value == seen
    assert type(seen) is hint


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (
            dt.date,
            "2024-02-30",
            "needs a date such as 2024-12-31; the text sent is none.",
        ),
        (dt.time, "25:00", "needs a time such as 23:59:00; the text sent is none."),
        (
            dt.datetime,
            "soon",
            "needs a date and time such as 2024-12-31T23:59:00Z; the text sent is none.",
        ),
        (
            dt.timedelta,
            "soon",
            "needs a duration such as PT1H30M; the text sent is none.",
        ),
        (uuid.UUID, "1234", "needs a UUID; the text sent is none."),
        (decimal.Decimal, "x", "needs a decimal number; the text sent is none."),
        (AnyUrl, "x", "needs a URL; the text sent is none."),
        (Json[int], "x", "needs JSON; the text sent is none."),
        (dict[int, str], {"x": "a"}, None),
    ],
    ids=str,
)
def test_text_that_cannot_be_read_says_what_it_should_be(hint, value, expected):
    """
    The right kind and the wrong form is another mistake than the wrong kind.
    """
    if expected is None:
        assert {"$.x.x": "its name has to be an integer."} == (
            problems_of(taking(hint), {"x": value})
        )
        return
    assert expected == problem(hint, value)


@pytest.mark.parametrize(
    ("hint", "value", "expected"),
    [
        (Annotated[int, Field(ge=1)], 0, "must be at least 1."),
        (Annotated[int, Field(le=100)], 101, "must be at most 100."),
        (Annotated[float, Field(gt=0)], 0, "must be above 0."),
        (Annotated[float, Field(lt=1.5)], 1.5, "must be below 1.5."),
        (Annotated[int, Field(multiple_of=5)], 7, "must be a multiple of 5."),
        (Annotated[str, Field(min_length=2)], "a", "needs at least 2 characters."),
        (Annotated[str, Field(max_length=2)], "abc", "takes at most 2 characters."),
        (
            Annotated[str, Field(pattern="^[a-z]+$")],
            "no match!",
            "must match the pattern ^[a-z]+$",
        ),
        (Annotated[list[int], Field(min_length=2)], [1], "needs at least 2 items."),
        (Annotated[list[int], Field(max_length=1)], [1, 2], "takes at most 1 items."),
        (tuple[int, str], [1, "a", 2], "takes at most 2 items."),
        (Annotated[bytes, Field(max_length=1)], "ab", "takes at most 1 bytes."),
        (
            Annotated[decimal.Decimal, Field(max_digits=2)],
            123,
            "takes at most 2 digits.",
        ),
        (
            Annotated[decimal.Decimal, Field(decimal_places=1)],
            "1.25",
            "takes at most 1 decimal places.",
        ),
        (FutureDate, "2020-01-01", "needs a date in the future."),
        (PastDatetime, "2999-01-01T00:00:00", "needs a time in the past."),
        (AwareDatetime, "2020-01-01T00:00:00", "needs a time zone."),
        (NaiveDatetime, "2020-01-01T00:00:00Z", "takes no time zone."),
        (
            HttpUrl,
            "ftp://example.com",
            "needs a URL that begins with 'http' or 'https'.",
        ),
    ],
    ids=str,
)
def test_a_limit_that_is_passed_is_named(hint, value, expected):
    """
    R86: the figures come from the declaration, so they may be shown.
    """
    assert expected == problem(hint, value)


def test_too_few_items_of_a_tuple_are_missing_by_place():
    """
    A place in a list is named like any other.
    """
    assert {"$.x[1]": "is missing, and it is required."} == (
        problems_of(taking(tuple[int, str]), {"x": [1]})
    )


def test_all_problems_are_listed_with_their_paths():
    """
    One answer has to be enough to mend the call.
    """

    @tool
    def order(items: list[Item], note: str, when: dt.date | None = None) -> None:
        """
        Order.
        """

    assert {
        "$.items[0].price": "needs a number, got text.",
        "$.items[2].name": "is missing, and it is required.",
        "$.note": "is missing, and it is required.",
        "$.when": "needs a date such as 2024-12-31; the text sent is none.",
    } == problems_of(
        order,
        {"items": [{"name": "a", "price": "b"}, {"name": "c"}, {}], "when": "soon"},
    )


def test_a_list_or_object_in_a_string_says_to_send_it_itself():
    """
    R74: strict by default, and the fix is named; a model would repeat the shape.
    """
    assert "needs a list: this is a string, send the list itself." == (
        problem(list[int], "[1,2]")
    )
    assert "needs an object: this is a string, send the object itself." == (
        problem(Item, ' {"name": "a"}')
    )
    assert "needs a list or an object: this is a string, send the list itself." == (
        problem(list[int] | dict[str, int] | None, "[", None)
    )


def test_null_is_for_types_that_allow_it():
    """
    R77: a default does not make null fine, and the remedy is to leave it out.
    """

    @tool
    def flags(a: bool = False, b: int | None = 3) -> list[object]:
        """
        Return them.
        """
        return [a, b]

    assert {"$.a": "needs true or false, not null: leave it out."} == (
        problems_of(flags, {"a": None})
    )
    assert [False, None] == run(flags, {"b": None})
    assert "needs an integer, got null." == problem(int, None)
    assert {"$.x.y": "needs an integer, not null: leave it out."} == (
        problems_of(taking(Point), {"x": {"x": 1, "y": None}})
    )
    assert 'needs one of "a", not null: leave it out.' == problem(
        Literal["a"], None, "a"
    )


class TestChoices:
    """
    Values out of a list.
    """

    def test_the_choices_are_listed(self):
        """
        R80, R84: by their JSON forms, and of what kind the value was.
        """
        drinks = Literal["tea", "coffee"]

        assert 'needs one of "tea", "coffee".' == problem(drinks, "milk")
        assert 'needs one of "tea", "coffee", got an integer.' == problem(drinks, 1)
        assert "needs one of 1, 2." == problem(Number, 9)
        assert Number.ONE is run(taking(Number), {"x": 1})
        assert 'needs one of "a", null.' == problem(Literal["a", None], "b")  # noqa: PYI061

    def test_a_long_list_is_cut(self):
        """
        The text stays readable, and says how many more there are.
        """
        many = Literal[tuple(f"choice-{n:02}" for n in range(50))]  # type: ignore[valid-type]
        text = problem(many, "x")

        assert text.startswith('needs one of "choice-00", "choice-01", ')
        assert text.endswith(" and 43 more.")

    @pytest.mark.parametrize(
        ("hint", "value"),
        [
            (Literal[1, 2], True),
            (Literal[1, 2], 1.0),
            (Literal[1, "a"], True),
            (Literal[True], 1),
            (Literal[False], 0.0),
            (Number, True),
            (Number, 1.0),
            (list[Number], [True]),
            (dict[str, Number], {"a": 1.0}),
            (Literal[1] | str, True),
        ],
        ids=repr,
    )
    def test_choices_are_compared_as_json_compares(self, hint, value):
        """
        R79: in Python 1, 1.0 and True are equal; in arguments they are three things.
        """
        [(path, text)] = problems_of(taking(hint), {"x": value}).items()

        assert path in ("$.x", "$.x[0]", "$.x.a")
        assert text.startswith("needs one of ")

    @pytest.mark.parametrize(
        ("hint", "value"),
        [
            (Literal[1] | float, 1.0),
            (Literal[1] | bool, True),
            (Literal[1, True], True),
            (list[Number], [1, 2]),
            (enum.Enum("Half", {"A": 0.5, "B": 1.0}), 1),
        ],
        ids=repr,
    )
    def test_what_another_type_takes_is_taken(self, hint, value):
        """
        R79: the check looks at all types that a place may have.
        """
        values_of(taking(hint), {"x": value})

    def test_loose_choices_are_listed_beside_other_problems(self):
        """
        All problems come at once, whoever finds them.
        """

        @tool
        def function(a: Number, b: int) -> None:
            """
            Do it.
            """

        assert {
            "$.b": "needs an integer, got text.",
            "$.a": "needs one of 1, 2, got true or false.",
        } == problems_of(function, {"a": True, "b": "x"})


class TestForms:
    """
    Values that may have one of several forms.
    """

    def test_kinds_of_all_forms_are_named(self):
        """
        A value of no form's kind fits none of them.
        """
        assert "needs an integer, a list or true or false, got text." == (
            problem(int | list[int] | bool, "a")
        )

    def test_the_form_whose_kind_it_has_is_meant(self):
        """
        The others would only distract.
        """
        small = Annotated[int, Field(ge=1)]

        assert "must be at least 1." == problem(small | str, 0)
        assert "needs a UUID; the text sent is none." == problem(uuid.UUID | int, "x")

    def test_the_form_that_was_gone_into_is_meant(self):
        """
        Of two models the one with fewer mistakes.
        """
        assert {"$.x.x": "needs an integer, got text."} == (
            problems_of(taking(Item | Point | int), {"x": {"x": "a"}})
        )
        assert {"$.x[1]": "needs an integer, got text."} == (
            problems_of(taking(list[int] | str), {"x": [1, "a"]})
        )

    def test_a_mark_that_tells_the_forms_apart_is_named(self):
        """
        The member that marks the form is what has to be mended.
        """
        pet = Annotated[Cat | Dog, Field(discriminator="kind")]

        assert {"$.x.kind": 'needs one of "cat", "dog".'} == (
            problems_of(taking(pet), {"x": {"kind": "cow"}})
        )
        assert {"$.x.kind": "is missing, and it is required."} == (
            problems_of(taking(pet), {"x": {}})
        )
        assert {"$.x.tricks[0]": "needs text, got an integer."} == (
            problems_of(taking(pet), {"x": {"kind": "dog", "tricks": [1]}})
        )
        assert {"$.x.lives": "is unknown. Accepted: 'kind', 'tricks'."} == (
            problems_of(taking(pet), {"x": {"kind": "dog", "lives": 1}})
        )

    def test_a_mark_that_is_computed_has_no_place(self):
        """
        Then the object as a whole is of none of the forms.
        """

        def mark(value: Any) -> str | None:
            return "cat" if "lives" in value else value.get("no")

        pet = Annotated[
            Annotated[Cat, Tag("cat")] | Annotated[Dog, Tag("dog")], Discriminator(mark)
        ]

        assert "is missing, and it is required." == problem(pet, {})
        assert 'needs one of "cat", "dog".' == problem(pet, {"no": "x"})


class TestSecrets:
    """
    What texts never hold.
    """

    def test_no_value_is_ever_repeated(self):
        """
        A value may be a secret, and the model knows it anyway.
        """

        @tool
        def function(
            a: int, b: list[int], c: Literal["x"], d: dt.date, e: Item
        ) -> None:
            """
            Do it.
            """

        secret = "hunter2-hunter2"
        problems = problems_of(
            function,
            {
                "a": secret,
                "b": f"[{secret}]",
                "c": secret,
                "d": secret,
                "e": {secret: 1},
            },
        )

        assert secret not in json.dumps(list(problems.values()))

    @pytest.mark.parametrize("error", [ValueError, AssertionError])
    def test_a_check_of_the_author_speaks_for_itself(self, error):
        """
        A message that was written for this case is better than any of ours.
        """

        def even(value: int) -> int:
            if value % 2:
                raise error("must be even.\nReally")
            return value

        hint = Annotated[int, AfterValidator(even)]

        assert "is not accepted: must be even. Really." == problem(hint, 3)
        assert "is not accepted by a check of the tool." == (
            problem(hint, 3, sensitive=True)
        )

    def test_a_check_that_repeats_the_value_does_not_speak(self):
        """
        Authors forget; a text that holds the value is left out.
        """

        def known(value: str) -> str:
            raise ValueError(f"unknown key {value}")

        def silent(value: str) -> str:
            raise ValueError

        general = "is not accepted by a check of the tool."

        assert general == problem(Annotated[str, AfterValidator(known)], "hunter2")
        assert general == problem(Annotated[str, AfterValidator(silent)], "hunter2")

    def test_free_keys_of_a_sensitive_tool_are_masked(self):
        """
        In a free-form object the keys are the caller's data as well.
        """

        @tool(sensitive=True)
        def function(headers: dict[str, int], item: Item) -> None:
            """
            Do it.
            """

        assert {
            '$.headers["*"]': "needs an integer, got text.",
            "$.item.price": "needs a number, got text.",
            "$.oops": "is unknown. Accepted: 'headers', 'item'.",
        } == problems_of(
            function,
            {
                "headers": {"hunter2": "a"},
                "item": {"name": "a", "price": "b"},
                "oops": 1,
            },
        )

    def test_many_problems_are_counted(self):
        """
        A wrong list of a million must not become a million sentences.
        """
        for count in (120, 1_200):
            problems = problems_of(taking(list[int]), {"x": ["a"] * count})

            assert 51 == len(problems)
            assert f"{count - 50} more problems were found." == problems["$"]

    def test_long_names_are_cut(self):
        """
        What the model made up must not fill the answer.
        """
        [(path, text)] = problems_of(taking(int, 1), {"y" * 500: 1}).items()

        assert 90 >= len(path)
        assert "is unknown. Accepted: 'x'." == text

    def test_many_accepted_names_are_cut(self):
        """
        A tool with fifty parameters cannot list them all each time.
        """

        class Wide(BaseModel):
            pass

        fields = {f"parameter_{n:02}": (int, 0) for n in range(50)}
        from pydantic import create_model

        wide = create_model("Wide", **fields)  # type: ignore[call-overload]
        [text] = problems_of(taking(wide), {"x": {"parameter_99": 1}}).values()

        assert " and 45 more. Did you mean 'parameter_" in text


def test_every_error_type_of_the_validator_has_a_text():
    """
    A new type would show its own words; this says which ones do on purpose.
    """
    ours = {*EXPECTED, *UNREADABLE, *RULES, *MISSING_TYPES, *UNKNOWN_TYPES}
    ours |= {"literal_error", "enum", "union_tag_invalid", "union_tag_not_found"}
    theirs = set(typing.get_args(core_schema.ErrorType))

    on_purpose = {
        *("assertion_error", "value_error"),  # the author's own words
        *("callable_type", "is_instance_of", "is_subclass_of"),  # never offered
        *("complex_str_parsing", "complex_type"),
        *("iteration_error", "needs_python_object", "string_sub_type"),
        *("default_factory_not_called", "frozen_field", "frozen_instance"),
        *("ellipsis_error", "get_attribute_error", "invalid_key"),
        *("missing_sentinel_error", "multiple_argument_values", "no_such_attribute"),
        *("recursion_loop", "string_unicode", "timezone_offset"),
    }

    assert set() == theirs - ours - on_purpose


def test_a_type_without_a_text_of_ours_is_told_in_its_own_words():
    """
    Better than nothing, but never with a link.
    """

    def even(value: int) -> int:
        raise PydanticCustomError("even", "An even number is needed")

    checked = Annotated[int, AfterValidator(even)]

    assert "is not accepted by a check of the tool." == problem(complex, "no number")
    assert "is not accepted: An even number is needed." == problem(checked, 1)


def test_the_published_limits_are_those_that_are_checked():
    """
    R86: what the schema shows and what the gate says are one.
    """
    limited = taking(Annotated[int, Field(ge=1, le=100)])

    assert {"type": "integer", "minimum": 1, "maximum": 100} == (
        schema_of(limited)["properties"]["x"]
    )
    assert "must be at most 100." == problems_of(limited, {"x": 101})["$.x"]


class Letter(enum.Enum):
    """
    Names of members.
    """

    A = "a"
    B = "b"


class Level(enum.Enum):
    """
    Numbers.
    """

    LOW = 1
    HIGH = 2


class P1(BaseModel):
    """
    A form with a mark.
    """

    kind: Literal["p1"]
    x: int


class P2(BaseModel):
    """
    Another one.
    """

    kind: Literal["p2"]
    y: int


@pytest.mark.parametrize("key", [Literal["a", "b"], Letter], ids=["literal", "enum"])
def test_a_name_that_is_not_listed_is_told_from_its_value(key):
    """
    The value is right; what has to change is the name, to one of those listed.
    """
    assert {
        "$.x.z": 'its name is not allowed: it has to be one of "a", "b".'
    } == problems_of(taking(dict[key, int]), {"x": {"z": 1}})


def refuse(_name: str) -> str:
    """
    Refuse every name.
    """
    raise ValueError("no")


@pytest.mark.parametrize(
    ("key", "name", "expected"),
    [
        (Annotated[str, Field(pattern="^k")], "z", "must match the pattern ^k"),
        (Annotated[str, Field(min_length=2)], "z", "needs at least 2 characters."),
        (int, "z", "has to be an integer."),
        (Annotated[str, AfterValidator(refuse)], "z", "is not accepted: no."),
    ],
    ids=["pattern", "length", "kind", "own"],
)
def test_a_rule_for_names_is_told_of_the_name(key, name, expected):
    """
    The same words about the value would send a model the wrong way.
    """
    assert {f"$.x.{name}": f"its name {expected}"} == problems_of(
        taking(dict[key, int]), {"x": {name: 1}}
    )


def test_a_pattern_of_another_engine_is_no_obstacle():
    """
    The validator's patterns are not Python's; a problem behind one is told all the same.
    """
    hint = dict[Annotated[str, Field(pattern=r"^\p{L}+$")], P1]

    assert {"$.x.a.y": "is unknown. Accepted: 'kind', 'x'."} == problems_of(
        taking(hint), {"x": {"a": {"kind": "p1", "x": 1, "y": 1}}}
    )


@pytest.mark.parametrize("hint", [P1 | P2, P2 | P1], ids=["first", "last"])
def test_the_form_whose_mark_was_sent_is_told(hint):
    """
    A form that misses less and has another mark was not meant.
    """
    assert {
        "$.x.y": "is missing, and it is required.",
        "$.x.x": "is unknown. Accepted: 'kind', 'y'.",
    } == problems_of(taking(hint), {"x": {"kind": "p2", "x": 1}})


def test_a_mark_of_no_form_lists_them_all():
    """
    Then nothing says which form was meant.
    """
    assert {"$.x.kind": 'needs one of "p1", "p2".'} == problems_of(
        taking(P1 | P2), {"x": {"kind": "p3", "x": 1}}
    )


@pytest.mark.parametrize("value", [3, True, "a"])
def test_a_problem_is_told_once(value):
    """
    Listed numbers are checked twice, by Python's rule and by JSON's.
    """
    entry = entry_of(taking(Level))
    data = {"x": value}
    with pytest.raises(InvalidArgumentsError) as caught:
        entry.validate(json.dumps(data), data)

    assert 1 == len(caught.value.problems)
