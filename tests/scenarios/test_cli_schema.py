"""
``tooldecl schema``: exactly what a model is sent, and what has changed in it.
"""

from __future__ import annotations

import json
import sys

import pytest

from command_line import written
from tooldecl import ToolClient, tools_in
from tooldecl.cli._target import FORMATS


TWO = """\
from tooldecl import tool

@tool(tags=["a"])
def first(when: str, much: dict[str, int] = {}) -> int:
    \"\"\"
    Do the first \\u00e9 \\x1b \\u202e \\U0001f600.

    Args:
        when: Any time.
    \"\"\"
    return 1

@tool
def second(a: int) -> int:
    \"\"\"Do the second.\"\"\"
    return 2
"""


@pytest.fixture
def two(cli):
    """
    Type commands where there is a module of two tools.
    """
    cli.write("two.py", TWO)

    return cli


@pytest.mark.parametrize("shape", FORMATS)
def test_it_is_what_a_client_would_send(two, shape):
    """
    Whoever looks for a fault needs the very data, and nothing that is made for the eye.
    """
    done = two("schema", "two", "--format", shape)
    expected = ToolClient(tools_in(sys.modules["two"])).definitions(format=shape)

    assert 0 == done.code
    assert expected == json.loads(done.out)


def test_the_default_is_the_clients_own(two):
    """
    `ToolClient.definitions()` and this one give the same.
    """
    assert two("schema", "two").out == two("schema", "two", "--format", "openai").out


def test_the_formats_are_all_that_there_are(two):
    """
    A format that a client gets has to be on offer here.
    """
    with pytest.raises(ValueError, match="format takes one of") as caught:
        ToolClient([]).definitions(format="")

    assert all(repr(shape) in str(caught.value) for shape in FORMATS)
    assert len(FORMATS) == str(caught.value).count("', ")


def test_one_tool_is_one_object(two):
    """
    What is looked for is one definition, not a list of it.
    """
    done = two("schema", "two", "second", "--format", "mcp")

    assert "second" == json.loads(done.out)["name"]


def test_what_a_terminal_would_obey_is_escaped_as_json_has_it(two):
    """
    The data is the same; letters stay letters.
    """
    out = two("schema", "two", "first").out

    assert "Do the first \u00e9 \\u001b \\u202e \U0001f600." in out


def test_the_size_is_said_beside_it(two):
    """
    Every request pays for it; tokens are an estimate, and are called one.
    """
    whole, one = two("schema", "two").err, two("schema", "two", "second").err
    sent = json.dumps(
        json.loads(two("schema", "two", "second").out), separators=(",", ":")
    )

    assert (
        f"1 tool, {len(sent)} characters, about {-(-len(sent) // 4)} tokens "
        "(estimated: 4 characters each).\n" == one
    )
    assert "2 tools, " in whole
    assert "; the largest is first, " in whole


def test_what_has_no_strict_form_is_said(two):
    """
    It is sent as it is, and whoever asked for strict mode has to know.
    """
    done = two("schema", "two", "--format", "openai-strict")

    assert [False, True] == [t["function"]["strict"] for t in json.loads(done.out)]
    assert (
        "The schema of tool 'first' is not offered in strict mode: an obj" in done.err
    )


def test_an_unknown_tool_is_named_with_the_nearest(two):
    """
    Exit code 2, as for a call.
    """
    done = two("schema", "two", "secnd")

    assert (2, "") == (done.code, done.out)
    assert "There is no tool named 'secnd'. Did you mean 'second'?" in done.err


@pytest.fixture
def known(two):
    """
    What was written down of the two tools, to be changed by the test.
    """
    return json.loads(two("schema", "two").out)


def compared(two, known, *options):
    """
    Compare with a file that holds this.
    """
    written(two.folder, "known.json", json.dumps(known))

    return two("schema", "two", "--diff", "known.json", *options)


def test_what_has_not_changed_is_not_said(two, known):
    """
    A check in a pipeline is silent until there is something to look at.
    """
    done = compared(two, known)

    assert (0, "", "") == (done.code, done.out, done.err)
    assert {"added": [], "removed": [], "changed": []} == json.loads(
        compared(two, known, "--json").out
    )


def test_what_has_changed_is_shown_line_by_line(two, known):
    """
    The exit code is 1, as for everything that found something.
    """
    known[1]["function"]["description"] = "Do the third."
    done = compared(two, known)

    assert (1, "") == (done.code, done.err)
    assert "--- known.json\n+++ now\n" in done.out
    assert '-      "description": "Do the third.",\n' in done.out
    assert '+      "description": "Do the second.",\n' in done.out


def test_what_has_changed_is_there_as_json(two, known):
    """
    A program asks which tools, and where in them.
    """
    known[0]["function"]["name"] = "gone"
    node = known[1]["function"]["parameters"]
    node["properties"]["b"] = node["properties"].pop("a")
    done = compared(two, known, "--json")

    assert 1 == done.code
    assert {
        "added": ["first"],
        "removed": ["gone"],
        "changed": [
            {
                "name": "second",
                "paths": [
                    "$.function.parameters.properties.b",
                    "$.function.parameters.properties.a",
                ],
            }
        ],
    } == json.loads(done.out)


def test_one_tool_is_compared_with_one_object(two, known):
    """
    What one command wrote is what the same command compares with.
    """
    written(two.folder, "known.json", json.dumps(known[1]))

    assert 0 == two("schema", "two", "second", "--diff", "known.json").code


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("{", 1, "known.json is not JSON: "),
        (
            '[{"type": "function"}]',
            1,
            "known.json is not what `tooldecl schema` writes",
        ),
        ("[1]", 1, "known.json is not what `tooldecl schema` writes"),
        (None, 2, "No such file or directory"),
    ],
)
def test_a_file_that_is_none_of_ours_is_refused(two, text, code, message):
    """
    Every tool would be called new, and that would be no finding.
    """
    if text is not None:
        written(two.folder, "known.json", text)
    done = two("schema", "two", "--diff", "known.json")

    assert (code, "") == (done.code, done.out)
    assert message in done.err
