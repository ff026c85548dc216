"""
Any tool in any dialect: what the exported schema offers, the gate lets through, and the
body gets.
"""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import TypeAdapter

from drawn import PAIRS
from tooldecl import ToolClient, tool
from tooldecl._meta import NAME
from tooldecl.export import (
    safe_names,
    to_anthropic,
    to_gemini,
    to_mcp,
    to_openai,
    to_openai_responses,
)


SCHEMAS = {
    "openai": lambda shown: shown["function"]["parameters"],
    "openai-responses": lambda shown: shown["parameters"],
    "openai-strict": lambda shown: shown["function"]["parameters"],
    "anthropic": lambda shown: shown["input_schema"],
    "gemini": lambda shown: shown["parametersJsonSchema"],
    "mcp": lambda shown: shown["inputSchema"],
}

EXPORTS = {
    "openai": to_openai,
    "openai-responses": to_openai_responses,
    "openai-strict": lambda tools: to_openai(tools, strict=True),
    "anthropic": to_anthropic,
    "gemini": to_gemini,
    "mcp": to_mcp,
}


def client_of(hint, got):
    """
    Make a client of one tool with one parameter of that type.
    """

    def take(x):
        got.append(x)

    take.__annotations__["x"] = hint

    return ToolClient([tool(description="Take it.")(take)])


def is_in(sent, kept):
    """
    Tell whether all that was sent was kept; what was left out may have a default.
    """
    if isinstance(sent, dict):
        return all(key in kept and is_in(sent[key], kept[key]) for key in sent)
    if isinstance(sent, list):
        return len(sent) == len(kept) and all(map(is_in, sent, kept))

    return sent == kept


@settings(max_examples=300, deadline=None)
@given(PAIRS)
def test_what_a_dialect_offers_the_body_gets(pair):
    """
    A referee that knows nothing but the exported schema lets it through; then the gate
    does, and the body gets what was sent, in the declared type.

    A whole number with a point is an integer to the referee, and none to the gate.
    """
    hint, value = pair
    text = json.dumps({"x": value})
    if re.search(r"[01]\.0", text):
        return
    got = []
    client = client_of(hint, got)
    for name, export in EXPORTS.items():
        [shown] = export(client)
        assert [shown] == client.definitions(name)
        schema = json.loads(json.dumps(SCHEMAS[name](shown)))
        Draft202012Validator.check_schema(schema)
        if not Draft202012Validator(schema).is_valid({"x": value}):
            continue
        got.clear()
        result = client.invoke("take", text)

        assert ("ok", 1) == (result.status, len(got)), (name, result.content)
        again = TypeAdapter(hint).dump_json(got[0], warnings=False)
        assert is_in(value, json.loads(again)), (name, got)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.text() | st.from_regex(r"[a-b._/ -]{0,4}", fullmatch=True)))
def test_safe_names_can_always_be_read_backwards(names):
    """
    Whatever the names, each has one that every provider takes, and nobody else has it.
    """
    names = list(dict.fromkeys(names))
    safe = safe_names(names)

    assert names == list(safe)
    assert len(names) == len(set(safe.values()))
    assert all(NAME.fullmatch(made) for made in safe.values())
    assert all(safe[name] == name for name in names if NAME.fullmatch(name))
    assert safe == safe_names(names[::-1])
