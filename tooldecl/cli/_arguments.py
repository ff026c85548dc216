"""
Arguments of a call from the words of a command line, as JSON text for the strict gate.
"""

from __future__ import annotations

import json

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn

from ._outline import Schema, members, types_of
from ._words import plain


if TYPE_CHECKING:
    import click


def arguments_of(words: Sequence[str], schema: Schema) -> str:
    """
    Return ``a=1 b:=2`` as the text of one JSON object.

    ``name=text`` is what the schema asks for: text where it takes any text, else the
    JSON value that is written there. ``name:=json`` is always JSON.

    Args:
        words: One argument each.
        schema: What the tool takes.

    Raises:
        click.UsageError: A word is neither.
    """
    known = members(schema)

    return "{" + ", ".join(_member(word, known, schema) for word in words) + "}"


def _member(word: str, known: Mapping[str, Schema], root: Schema) -> str:
    name, equals, text = word.partition("=")
    if not equals or name in ("", ":"):
        _refuse(
            f"{word!r} is neither name=text nor name:=json. Arguments can also be given "
            "as one object: --json '{...}', or - to read it from standard input."
        )
    if name.endswith(":"):
        name = name.removesuffix(":")
        if not _is_json(text):
            _refuse(
                f"What is given for {name!r} is not one JSON value: {text!r}. For text, "
                f"say {name}={text}."
            )
        return f"{json.dumps(name)}: {text}"

    return f"{json.dumps(name)}: {coerced(text, known.get(name, {}), root)}"


def coerced(text: str, node: Schema, root: Schema) -> str:
    """
    Return the JSON of a text; what fits no type stays text, so that the gate names it.
    """
    types = types_of(node, root)
    as_text = json.dumps(text)
    if not types or "string" in types:
        return as_text

    return fitting(text, types) or as_text


def fitting(text: str, types: Iterable[str]) -> str:
    """
    Return a text that is JSON of one of some types, and an empty one where it is not.
    """
    value, is_json = _parsed(text)

    return text if is_json and any(_is_a(value, kind) for kind in types) else ""


def _parsed(text: str) -> tuple[object, bool]:
    try:
        return json.loads(text), True
    except (ValueError, RecursionError):
        return None, False


def _is_json(text: str) -> bool:
    return _parsed(text)[1]


def _is_a(value: object, kind: str) -> bool:
    match value:
        case bool():
            return kind == "boolean"
        case int() | float():
            return kind in ("integer", "number")
        case None:
            return kind == "null"
        case list():
            return kind == "array"
        case dict():
            return kind == "object"
        case str():
            return kind == "string"
        case _:
            return False


def _refuse(text: str) -> NoReturn:
    raise _usage(text)


def _usage(text: str) -> click.UsageError:
    import click

    return click.UsageError(plain(text))
