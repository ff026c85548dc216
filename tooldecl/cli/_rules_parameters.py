"""
Rules about what a tool takes, and how that is described.
"""

from __future__ import annotations

import json

from collections.abc import Iterator
from enum import Enum
from inspect import Parameter

from ._outline import resolved
from ._size import characters, tokens
from ._subjects import Subject, Taken


MOST_TOKENS = 1_024

_MUTABLE = (list, dict, set, bytearray)

# How pydantic's own way to write a default is called; what is in it, pydantic copies.
_FIELD = "FieldInfo"


def undescribed(tool: Subject) -> Iterator[str]:
    """
    Find a parameter of which a model knows name and type alone.
    """
    for parameter in tool.parameters:
        said = parameter.node.get("description")
        if not said and not resolved(parameter.node, tool.schema).get("description"):
            yield (
                f"the parameter {parameter.name!r} has no description: give it a line in "
                "the docstring, or Annotated[..., Field(description=...)]"
            )


def not_there(tool: Subject) -> Iterator[str]:
    """
    Find what a docstring says about a parameter that was renamed or removed.
    """
    if tool.code is None:
        return
    count = tool.code.co_argcount + tool.code.co_kwonlyargcount
    known = {*tool.code.co_varnames[:count], *(p.name for p in tool.parameters)}
    for name in sorted(tool.documented - known):
        yield f"the docstring describes {name!r}, and there is no such parameter"


def mutable_default(tool: Subject) -> Iterator[str]:
    """
    Find a default that one call can change for all that follow.
    """
    for parameter in tool.parameters:
        if _is_mutable(parameter.default):
            kind = _kind(parameter.default)
            yield (
                f"the default of {parameter.name!r} is a {kind} that all calls share: "
                "one that changes it changes it for the others"
            )


def _is_mutable(value: object) -> bool:
    return isinstance(value, _MUTABLE)


def default_not_json(tool: Subject) -> Iterator[str]:
    """
    Find a default that a model is not told.
    """
    for parameter in tool.parameters:
        if _has_default(parameter) and not _is_json(parameter.default):
            kind = _kind(parameter.default)
            yield (
                f"the default of {parameter.name!r} is a {kind}, which has no plain JSON "
                "form: a model is not told what happens without it"
            )


def _has_default(parameter: Taken) -> bool:
    if parameter.default is Parameter.empty or "default" in parameter.node:
        return False

    return _kind(parameter.default) != _FIELD


def _kind(value: object) -> str:
    return type(value).__name__


def _is_json(value: object) -> bool:
    try:
        json.dumps(value.value if isinstance(value, Enum) else value, allow_nan=False)
    except (TypeError, ValueError):
        return False

    return True


def large(tool: Subject) -> Iterator[str]:
    """
    Find a definition that costs much in every request.
    """
    count = tokens(characters(tool.definition))
    if count > MOST_TOKENS:
        yield (
            f"the definition is about {count:,} tokens (estimated), sent with every "
            "request: split the tool, or describe less"
        )


def not_strict(tool: Subject) -> Iterator[str]:
    """
    Find a schema that cannot be offered in strict mode, such as a free dict.
    """
    if tool.not_strict:
        yield f"it is not offered in strict mode: {tool.not_strict}"
