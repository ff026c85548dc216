"""
Exported definitions: the client's own, of clients as of definitions from elsewhere.
"""

from __future__ import annotations

import itertools
import json

import pytest

from sample_declarations import add, counted, fetch
from tooldecl import ToolClient, tool
from tooldecl.export import (
    safe_names,
    to_anthropic,
    to_gemini,
    to_mcp,
    to_openai,
    to_openai_responses,
    why_not_strict,
)


FORMS = {
    "openai": to_openai,
    "openai-responses": to_openai_responses,
    "openai-strict": lambda tools: to_openai(tools, strict=True),
    "anthropic": to_anthropic,
    "gemini": to_gemini,
    "mcp": to_mcp,
}


@tool
def free(data: dict[str, int]) -> None:
    """Take anything."""


@pytest.fixture
def client():
    """
    Make a client of tools with and without a declared result.
    """
    return ToolClient([add, fetch, counted, free])


@pytest.mark.parametrize("name", FORMS)
def test_each_function_gives_what_the_client_gives(client, name):
    """
    There is one home of the dialects; two would differ one day.
    """
    assert client.definitions(name) == FORMS[name](client)


@pytest.mark.parametrize("name", FORMS)
def test_definitions_are_taken_as_the_client_is(client, name):
    """
    A loop's model gets definitions, and an MCP server lists them in words of its own.
    """
    listed = client.definitions("mcp")
    neutral = [
        {
            "name": one["name"],
            "description": one["description"],
            "input_schema": one["inputSchema"],
            "output_schema": one.get("outputSchema"),
        }
        for one in listed
    ]

    assert FORMS[name](client) == FORMS[name](listed) == FORMS[name](iter(neutral))


def test_they_are_copies(client):
    """
    What is done to an exported schema is not done to what it was made of.
    """
    listed = client.definitions("mcp")
    before = json.dumps(listed)
    for form in FORMS.values():
        for shown in form(listed):
            shown.clear()
    to_mcp(listed)[0]["inputSchema"]["properties"].clear()

    assert before == json.dumps(listed)


def test_the_flat_form_can_be_strict_too(client):
    """
    The responses API wants the same narrowing in the flat shape, always with its flag.
    """
    shown = {one["name"]: one for one in to_openai_responses(client, strict=True)}
    chat = {one["function"]["name"]: one for one in to_openai(client, strict=True)}

    assert {"type", "name", "description", "parameters", "strict"} == set(shown["add"])
    assert [True, False] == [shown["add"]["strict"], shown["free"]["strict"]]
    for name, flat in shown.items():
        assert chat[name]["function"] == {k: v for k, v in flat.items() if k != "type"}


def test_the_caller_can_ask_what_has_no_strict_form(client):
    """
    A note in a log is read too late by whoever chooses the mode.
    """
    reason = "an object of it takes members of any name"

    assert {"free": reason} == why_not_strict(client)
    assert {"free": reason} == why_not_strict(client.definitions("anthropic"))
    assert {} == why_not_strict(ToolClient([add]))


@pytest.mark.parametrize(
    ("tools", "text"),
    [
        ([1], "Definition 0 is no mapping with a name and an input_schema."),
        (
            [{"name": "a"}],
            "Definition 0 is no mapping with a name and an input_schema.",
        ),
        (
            [{"name": "", "input_schema": {}}],
            "Definition 0 is no mapping with a name and an input_schema.",
        ),
        (
            [{"name": "a", "description": 1, "input_schema": {}}],
            "Definition 0 is no mapping with a name and an input_schema.",
        ),
        (
            [{"name": "a", "input_schema": {}, "output_schema": 1}],
            "Definition 0 has an output_schema that is no mapping.",
        ),
        ("add", "Definitions come as a list, got 'add'."),
        ({"name": "a"}, "Definitions come as a list, got {'name': 'a'}."),
        (None, "Definitions come as a list, got None."),
    ],
    ids=str,
)
def test_what_is_no_definition_is_refused(tools, text):
    """
    A provider would refuse the whole request, and not say which tool it was.
    """
    for form in FORMS.values():
        with pytest.raises(ValueError) as caught:
            form(tools)
        assert text == str(caught.value)


def test_a_name_that_providers_refuse_is_refused_here():
    """
    One name with a dot costs a request its answer; MCP itself allows it.
    """
    listed = [{"name": "gh.search", "description": "Search.", "inputSchema": {}}]

    assert "gh.search" == to_mcp(listed)[0]["name"]
    for name, form in FORMS.items():
        if name != "mcp":
            with pytest.raises(ValueError) as caught:
                form(listed)
            assert (
                "The name 'gh.search' is none that every provider takes: 1 to 64 "
                "letters, digits, _ or -, the first a letter or _. "
                "tooldecl.export.safe_names() makes one of it."
            ) == str(caught.value)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", "add"),
        ("gh.search", "gh_search"),
        ("files/read me", "files_read_me"),
        ("2nd", "_2nd"),
        ("-x", "_-x"),
        ("größe", "gr__e_d353a267"),
        ("", "__e3b0c442"),
    ],
)
def test_a_name_alone_becomes(name, expected):
    """
    A model reads these, so they stay as readable as they can.
    """
    assert {name: expected} == safe_names([name])


def test_no_two_names_become_one():
    """
    Two tools under one name would be one tool, and nobody could say which.
    """
    names = ["a.b", "a_b", "a/b", "a b", "x" * 65, "x" * 66, "検索", "検閲", "", "_"]
    safe = safe_names(names)

    assert names == list(safe)
    assert "a_b" == safe["a_b"]
    assert len(names) == len(set(safe.values()))
    assert {made: made for made in safe.values()} == safe_names(safe.values())
    for made in safe.values():
        assert to_openai([{"name": made, "input_schema": {}}])


def test_the_order_of_names_changes_nothing():
    """
    A tool must not be called otherwise because another one was listed before it.
    """
    names = ["a.b", "a/b", "a_b", "a b"]

    assert 1 == len(
        {
            tuple(sorted(safe_names(order).items()))
            for order in itertools.permutations(names)
        }
    )


def test_a_made_name_that_is_taken_is_not_given_again():
    """
    Whoever knows how the names are made could else take over another's tool.
    """
    pair = ["a.b", "a/b"]
    made = safe_names(pair)
    safe = safe_names([*pair, *made.values()])

    assert made["a.b"] == safe[made["a.b"]]
    assert 4 == len(set(safe.values()))


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (["a", "b", "a"], ValueError, "Names are given twice: 'a'."),
        ("ab", TypeError, "safe_names takes a list of names, got one text."),
        (["a", 1], TypeError, "A name is a text, got int."),
    ],
    ids=str,
)
def test_what_cannot_be_mapped_back_is_refused(names, error, text):
    """
    Two tools of one name cannot be told apart by any mapping.
    """
    with pytest.raises(error) as caught:
        safe_names(names)

    assert text == str(caught.value)
