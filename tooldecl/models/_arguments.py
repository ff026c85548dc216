"""
The arguments of calls, as they can be sent again.
"""

from __future__ import annotations

import json
import re

from typing import Any

from ._wire import Data


# Readers take 200 levels, and a request has some around the arguments.
_DEEPEST = 190

# A string at once, so that what is in it is no bracket.
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[\]{}]', re.DOTALL)

_DICT: Any = dict


def as_text(arguments: object) -> str:
    """
    Return arguments as the JSON text of an object, which OpenAI wants to see again.

    Text that is one goes as the model wrote it.
    """
    if isinstance(arguments, str) and _object_in(arguments) is not None:
        return arguments

    return json.dumps(as_object(arguments), ensure_ascii=False)


def as_object(arguments: object) -> Data:
    """
    Return arguments as the object that Anthropic and Gemini want to see again.

    What is none, or cannot be sent as one, was refused by the gate; it is shown as text
    under ``arguments``.
    """
    if arguments is None:
        return {}
    text = arguments if isinstance(arguments, str) else _dumped(arguments)
    if not text.strip():
        return {}
    read = _object_in(text, strict=False)

    return {"arguments": _whole_characters(text)} if read is None else read


def _object_in(text: str, *, strict: bool = True) -> Data | None:
    """
    Return the object that a text is, if it is one that every wire takes.

    Args:
        text: What a model wrote.
        strict: Take no control characters that stand raw in a string.
    """
    if _is_deep(text):
        return None
    try:
        read: Any = json.loads(text, strict=strict)
        json.dumps(read, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None

    return read if isinstance(read, _DICT) else None


def _dumped(arguments: object) -> str:
    if isinstance(arguments, bytes):
        return arguments.decode("utf-8", "replace")
    try:
        return json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"(a {type(arguments).__name__} that is no JSON)"


def _is_deep(text: str) -> bool:
    """
    Whether lists and objects go deeper than what reads a request at the other end.
    """
    if text.count("[") + text.count("{") <= _DEEPEST:
        return False
    depth = 0
    for mark in _MARKS.findall(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark, 0)
        if depth > _DEEPEST:
            return True

    return False


def _whole_characters(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
