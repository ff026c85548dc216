"""
The record of a tool: complete, frozen, checked whenever it is made.
"""

from __future__ import annotations

import dataclasses
import pickle

from collections.abc import Iterator
from datetime import timedelta

import pytest

from tooldecl import UNSET, Retry, ToolMeta
from tooldecl._meta import ToolOptions
from tooldecl.exceptions import DeclarationError


def record(**options):
    """
    Make a record with what every one has to have.
    """
    return ToolMeta(**{"name": "add", "description": "Add."} | options)


def refused(**options):
    """
    Return the text with which a record is refused.
    """
    with pytest.raises(DeclarationError) as caught:
        record(**options)

    return str(caught.value)


def test_undeclared_options_have_documented_values():
    """
    DEC-06, TAB-02: what nobody declared is answered too, without an exception.
    """
    meta = record()
    plain = {
        field.name: getattr(meta, field.name) for field in dataclasses.fields(meta)
    }

    assert {
        "name": "add",
        "description": "Add.",
        "timeout": UNSET,
        "retry": None,
        "idempotent": False,
        "serial": False,
        "isolation": UNSET,
        "sensitive": False,
        "return_direct": False,
        "external": False,
        "tags": (),
        "result_limit": UNSET,
        "on_overflow": UNSET,
        "coerce": "strict",
        "is_async": False,
        "ref": "",
        "site": "",
    } == plain


def test_every_option_of_the_decorator_is_in_the_record():
    """
    DEC-05: an option that got lost between the two would be accepted and ignored.
    """
    options = {field.name for field in dataclasses.fields(ToolOptions)}
    facts = {field.name for field in dataclasses.fields(ToolMeta)} - options

    assert {"is_async", "ref", "site"} == facts


@pytest.mark.parametrize(
    "field", [field.name for field in dataclasses.fields(ToolMeta)]
)
def test_every_field_refuses_nonsense(field):
    """
    A field without a check would let anything through to its enforcer.
    """

    class Odd:
        pass

    assert f" {field} takes " in refused(**{field: Odd()})


@pytest.mark.parametrize(
    "name", ["1abc", "a b", "a/b", "", "a" * 65, "é", "a.b", "a\n", 5]
)
def test_a_name_that_a_provider_would_refuse_is_refused(name):
    """
    R50, R52: one bad name makes a provider refuse the whole request. Names are never
    cleaned, so that two of them cannot become one.
    """
    text = refused(name=name, ref="shop:search")

    assert (
        "@tool on shop:search: name takes 1 to 64 letters, digits, _ or -, the first a "
        f"letter or _, got {name!r}."
    ) == text


@pytest.mark.parametrize("name", ["a", "_a", "A-b_9", "a" * 64])
def test_a_name_that_all_providers_take_is_taken(name):
    """
    The rule is no stricter than the strictest provider.
    """
    assert name == record(name=name).name


@pytest.mark.parametrize("description", ["", "  \n", None, 5])
def test_a_description_is_never_empty(description):
    """
    R103: some providers refuse every request that has an empty one.
    """
    assert (
        "@tool on add: description takes a text that is not empty, got "
        f"{description!r}."
    ) == refused(description=description)


def test_a_description_is_no_longer_than_providers_take():
    """
    R104: a provider would refuse the request, or cut the text without a word.
    """
    assert 1024 == len(record(description="x" * 1024).description)
    assert (
        "@tool on add: the description has 1025 characters, and providers take at most "
        "1024. Shorten the docstring (parameter sections do not count), or give "
        "description=... beside it."
    ) == refused(description="x" * 1025)


@pytest.mark.parametrize(
    "timeout",
    ["5s", -1, 0, True, float("nan"), float("inf"), timedelta(seconds=-1), [5]],
)
def test_a_timeout_that_is_none_is_refused(timeout):
    """
    VAL-01: a limit is judged where it is declared, and names the tool.
    """
    expected = f"@tool on add: timeout takes seconds above 0, got {timeout!r}."

    assert expected == refused(timeout=timeout)


@pytest.mark.parametrize(
    ("given", "kept"),
    [(5, 5.0), (0.25, 0.25), (timedelta(minutes=1), 60.0), (None, None)],
)
def test_a_timeout_is_kept_in_seconds(given, kept):
    """
    DEC-05: what was declared is readable from the record, in one unit.
    """
    assert kept == record(timeout=given).timeout


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (None, None),
        (True, Retry()),
        (1, Retry(attempts=1)),
        (4, Retry(attempts=4)),
        (Retry(delay=1), Retry(delay=1)),
    ],
)
def test_a_retry_is_kept_as_a_policy(given, kept):
    """
    TAB-01, RTY-06: `True` and a number are short for a policy, and the record has it.
    """
    assert kept == record(retry=given).retry


@pytest.mark.parametrize("retry", [False, 0, -1, 2.0, "3", {"attempts": 3}])
def test_a_retry_of_an_odd_shape_is_refused(retry):
    """
    VAL-04: a wrong shape must not pass for the defaults.
    """
    assert (
        "@tool on add: retry takes a Retry, a number of attempts from 1, True or None, "
        f"got {retry!r}."
    ) == refused(retry=retry)


def test_tags_are_kept_once_each_and_in_order():
    """
    The record of one declaration is the same in every process, also for a set.
    """
    assert ("b", "a") == record(tags=["b", "a", "b"]).tags
    assert tuple("abcdefghij") == record(tags=set("jihgfedcba")).tags
    assert ("x",) == record(tags=iter(["x"])).tags


@pytest.mark.parametrize(
    "tags", ["web", b"web", ["web", ""], [1], 5, None, {"web": 1}], ids=repr
)
def test_tags_are_several_texts(tags):
    """
    One text would become a tag for each of its letters.
    """
    assert refused(tags=tags).startswith(
        "@tool on add: tags takes a list of texts that are not empty, got "
    )


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "10"])
def test_a_result_limit_is_a_number_of_characters(limit):
    """
    Zero characters could hold no result at all.
    """
    assert (1, None) == (
        record(result_limit=1).result_limit,
        record(result_limit=None).result_limit,
    )
    assert (
        f"@tool on add: result_limit takes characters from 1, or None, got {limit!r}."
    ) == refused(result_limit=limit)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("isolation", "fork"),
        ("on_overflow", "cut"),
        ("coerce", "lax"),
        ("coerce", None),
    ],
)
def test_a_choice_is_one_of_those_listed(option, value):
    """
    The message says what could have been written.
    """
    text = refused(**{option: value})

    assert text.startswith(f"@tool on add: {option} takes ")
    assert text.endswith(f", got {value!r}.")


def test_a_record_is_frozen_copied_and_checked_again():
    """
    DEC-11, R48: no public way changes a record; a changed copy passes the same checks.
    """
    tags = ["a"]
    meta = record(tags=tags)
    tags.append("b")

    with pytest.raises(dataclasses.FrozenInstanceError):
        meta.timeout = 5
    with pytest.raises(DeclarationError):
        dataclasses.replace(meta, timeout=-1)
    assert ("a",) == meta.tags
    assert 3.0 == dataclasses.replace(meta, timeout=3).timeout


def test_a_record_pickles():
    """
    The record goes to workers and into reports; UNSET has to stay the one UNSET.
    """
    meta = record(retry=3, tags=["a"])
    again = pickle.loads(pickle.dumps(meta))

    assert meta == again
    assert again.timeout is UNSET


def test_an_iterator_of_tags_is_read_once():
    """
    A generator would be empty for whoever reads it second.
    """

    def tags() -> Iterator[str]:
        yield "a"

    assert ("a",) == record(tags=tags()).tags


def test_texts_that_cannot_be_sent_are_refused():
    """
    Half of a surrogate pair would make every request with the tool fail.
    """
    assert (
        "@tool on add: description takes a text without lone surrogates, got '\\ud800'."
    ) == refused(description="\ud800")
    assert (
        "@tool on add: tags takes texts without lone surrogates, got ('\\ud800',)."
    ) == refused(tags=["\ud800"])


@pytest.mark.parametrize(
    ("option", "value"),
    [("retry", 2), ("isolation", "thread"), ("result_limit", 5)],
)
def test_what_an_external_tool_could_not_keep_is_refused(option, value):
    """
    SPEC 0: its body never runs, and its results have a limit of their own.
    """
    with pytest.raises(DeclarationError) as caught:
        ToolMeta(name="click", description="Click.", external=True, **{option: value})

    assert f"{option} means nothing beside external=True" in str(caught.value)
