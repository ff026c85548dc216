"""
JSON Schema as a text: walked, closed, and held against values without pydantic.
"""

from __future__ import annotations

from ._closing import close_named, never_given
from ._given import GivenSchema
from ._problems import (
    MOST_ERRORS,
    Finding,
    Problem,
    accepted_at,
    choices_at,
    cut,
    missing,
    most_telling,
    names_at,
    not_a_choice,
    not_a_name,
    settle,
    unknown_key,
)
from ._strictness import NotStrictError, strict_form
from ._subschemas import (
    TYPES,
    Path,
    Schema,
    allows_type,
    below,
    choices_in,
    copied,
    fitting,
    is_array,
    is_listed,
    is_object,
    is_open,
    named_in,
    requires,
    speaking,
    steps_in,
    walk,
)


__all__ = [
    "MOST_ERRORS",
    "TYPES",
    "Finding",
    "GivenSchema",
    "NotStrictError",
    "Path",
    "Problem",
    "Schema",
    "accepted_at",
    "allows_type",
    "below",
    "choices_at",
    "choices_in",
    "close_named",
    "copied",
    "cut",
    "fitting",
    "is_array",
    "is_listed",
    "is_object",
    "is_open",
    "missing",
    "most_telling",
    "named_in",
    "names_at",
    "never_given",
    "not_a_choice",
    "not_a_name",
    "requires",
    "settle",
    "speaking",
    "steps_in",
    "strict_form",
    "unknown_key",
    "walk",
]
