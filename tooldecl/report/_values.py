"""
Describe values of anybody's, as short texts that do no harm.
"""

from __future__ import annotations

import json
import math

from collections.abc import Callable

from ..telemetry import shape


LONGEST_NAME = 200
LONGEST_TEXT = 10_000
LONGEST_DECODED = 100_000


def decoded(arguments: object) -> object:
    """
    Read arguments that are JSON text, as models send them; what is none stays text.
    """
    if not isinstance(arguments, str | bytes) or len(arguments) > LONGEST_DECODED:
        return arguments
    try:
        found: object = json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments

    return found


def shape_of(value: object) -> str:
    """
    Say kinds and lengths of a value.
    """
    return unless_it_raises(lambda: clipped(shape(value), LONGEST_TEXT))


def text_of(value: object) -> str:
    """
    Write a value as JSON text, and by its type what has no JSON form.
    """
    if isinstance(value, str):
        return clipped(value, LONGEST_TEXT)
    text = json.dumps(
        value, ensure_ascii=False, default=lambda v: f"<{type(v).__name__}>"
    )

    return clipped(text, LONGEST_TEXT)


def unless_it_raises(make: Callable[[], str]) -> str:
    """
    Describe what may have methods of anybody's, which may do anything.
    """
    try:
        return make()
    except Exception as error:  # an event without its contents is better than none
        return f"<{type(error).__name__}>"


def number_of(value: object) -> float | None:
    """
    Take a number that a body said, as far as it is one.
    """
    if not isinstance(value, int | float):
        return None
    try:
        return value if math.isfinite(value) else None
    except OverflowError:  # a whole number beyond all floats
        return None


def names_of(names: tuple[object, ...]) -> list[str]:
    """
    Write down names that may be of any length.
    """
    return [clipped(str(name), LONGEST_NAME) for name in names]


def clipped(text: str, most: int) -> str:
    """
    Cut a text to *most* characters, and say in it that it was cut.
    """
    if len(text) <= most:
        return text
    mark = f"... [{len(text)} characters]"

    return text[: most - len(mark)] + mark
