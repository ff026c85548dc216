"""
Translate what the validator of declared types reports into problems for the model.

The types of its errors are stable and are read here; its texts are not used, except
those that a tool's author wrote in a check of their own.
"""

from __future__ import annotations

import re

from collections.abc import Mapping, Sequence
from typing import Any

from ._problems import (
    MOST_ERRORS,
    Finding,
    Problem,
    accepted_at,
    choices_at,
    cut,
    missing,
    most_telling,
    not_a_choice,
    settle,
    unknown_key,
)
from ._subschemas import Path, Schema, is_array, is_object


# One error as the validator gives it: its type, place, context and text.
Error = Mapping[str, Any]

KIND_ERRORS = {
    "a date such as 2024-12-31": "date_type",
    "a date and time such as 2024-12-31T23:59:00Z": "datetime_type",
    "a decimal number": "decimal_type",
    "a duration such as PT1H30M": "time_delta_type",
    "a fraction such as 1/2": "fraction_type",
    "a list": (
        "list_type tuple_type set_type frozen_set_type iterable_type deque_type "
        "named_tuple_type"
    ),
    "a number": "float_type",
    "a time such as 23:59:00": "time_type",
    "a URL": "url_type",
    "a UUID": "uuid_type",
    "an integer": "int_type int_from_float",
    "an object": (
        "dict_type mapping_type model_type model_attributes_type dataclass_type "
        "dataclass_exact_type arguments_type counter_type frozen_dict_type "
        "ordered_dict_type"
    ),
    "null": "none_required",
    "text": "string_type bytes_type json_type",
    "true or false": "bool_type",
}
EXPECTED = {name: kind for kind, names in KIND_ERRORS.items() for name in names.split()}

# Texts that were read and found to be none of what they should be.
UNREADABLE = {
    "bool_parsing": "true or false",
    "bytes_invalid_encoding": "text in the declared encoding",
    "date_from_datetime_inexact": "a date without a time",
    "date_from_datetime_parsing": "a date such as 2024-12-31",
    "date_parsing": "a date such as 2024-12-31",
    "datetime_from_date_parsing": "a date and time such as 2024-12-31T23:59:00Z",
    "datetime_object_invalid": "a date and time such as 2024-12-31T23:59:00Z",
    "datetime_parsing": "a date and time such as 2024-12-31T23:59:00Z",
    "decimal_parsing": "a decimal number",
    "float_parsing": "a number",
    "fraction_parsing": "a fraction such as 1/2",
    "int_parsing": "an integer",
    "int_parsing_size": "an integer",
    "json_invalid": "JSON",
    "time_delta_parsing": "a duration such as PT1H30M",
    "time_parsing": "a time such as 23:59:00",
    "url_parsing": "a URL",
    "url_syntax_violation": "a URL",
    "uuid_parsing": "a UUID",
    "uuid_version": "a UUID of another version",
}

# Rules with their figures, which come from the declaration and never from the call.
RULES = {
    "bytes_too_long": "takes at most {max_length} bytes.",
    "bytes_too_short": "needs at least {min_length} bytes.",
    "date_future": "needs a date in the future.",
    "date_past": "needs a date in the past.",
    "datetime_future": "needs a time in the future.",
    "datetime_past": "needs a time in the past.",
    "decimal_max_digits": "takes at most {max_digits} digits.",
    "decimal_max_places": "takes at most {decimal_places} decimal places.",
    "decimal_whole_digits": "takes at most {whole_digits} digits before the point.",
    "finite_number": "needs a finite number.",
    "greater_than": "must be above {gt}.",
    "greater_than_equal": "must be at least {ge}.",
    "less_than": "must be below {lt}.",
    "less_than_equal": "must be at most {le}.",
    "multiple_of": "must be a multiple of {multiple_of}.",
    "recursion_depth_exceeded": "is nested too deep.",
    "set_item_not_hashable": "takes no lists or objects here.",
    "string_not_ascii": "takes only ASCII characters.",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "string_too_long": "takes at most {max_length} characters.",
    "string_too_short": "needs at least {min_length} characters.",
    "timezone_aware": "needs a time zone.",
    "timezone_naive": "takes no time zone.",
    "too_long": "takes at most {max_length} items.",
    "too_short": "needs at least {min_length} items.",
    "url_scheme": "needs a URL that begins with {expected_schemes}.",
    "url_too_long": "takes a URL of at most {max_length} characters.",
}

MISSING_TYPES = {
    "missing",
    "missing_argument",
    "missing_keyword_only_argument",
    "missing_positional_only_argument",
}
UNKNOWN_TYPES = {
    "extra_forbidden",
    "unexpected_keyword_argument",
    "unexpected_positional_argument",
}
OWN_CHECK = "is not accepted by a check of the tool."

_QUOTED = re.compile(r"'([^']*)'")


class _Located:
    """
    One error, with its place split into steps into the data and names of forms.
    """

    __slots__ = ("error", "path", "steps")

    def __init__(self, error: Error, data: object) -> None:
        self.error = error
        self.steps: list[tuple[bool, str | int]] = []
        inner: Any = data
        loc = error["loc"]
        for place, step in enumerate(loc):
            last = place == len(loc) - 1
            if _leads_on(inner, step):
                inner = inner[step]
                self.steps.append((True, step))
            elif last and error["type"] in MISSING_TYPES:
                self.steps.append((True, step))
            elif not (last and step == "[key]"):
                self.steps.append((False, step))
        self.path = tuple(step for real, step in self.steps if real)


def _leads_on(value: object, step: str | int) -> bool:
    if is_object(value):
        return step in value

    return is_array(value) and isinstance(step, int) and step < len(value)


def translate(
    errors: Sequence[Error], *, data: object, schema: Schema, sensitive: bool
) -> list[Problem]:
    """
    Return every problem that *errors* report about *data*.
    """
    located = [_Located(error, data) for error in errors[:MOST_ERRORS]]
    findings = _chosen(located, 0, data=data, schema=schema, sensitive=sensitive)

    return settle(
        findings,
        schema=schema,
        data=data,
        sensitive=sensitive,
        unread=len(errors) - len(located),
    )


def _chosen(
    located: Sequence[_Located],
    depth: int,
    *,
    data: object,
    schema: Schema,
    sensitive: bool,
) -> list[Finding]:
    """
    Keep all errors of different places, and the telling ones where forms compete.
    """
    findings: list[Finding] = []
    groups: dict[tuple[bool, str | int], list[_Located]] = {}
    for one in located:
        if len(one.steps) > depth:
            groups.setdefault(one.steps[depth], []).append(one)
        else:
            found = _finding(one, data=data, schema=schema, sensitive=sensitive)
            findings.append(found)
    forms: list[list[Finding]] = []
    path: Path = ()
    for (real, _), group in groups.items():
        inner = _chosen(group, depth + 1, data=data, schema=schema, sensitive=sensitive)
        if real:
            findings += inner
        else:
            forms.append(inner)
            path = [s for is_step, s in group[0].steps[:depth] if is_step]
    if forms:
        findings += most_telling(forms, path)

    return findings


def _finding(
    one: _Located, *, data: object, schema: Schema, sensitive: bool
) -> Finding:
    error, path = one.error, one.path
    name, context = error["type"], error.get("ctx", {})
    if name in EXPECTED:
        return Finding(path=path, expected=EXPECTED[name])
    if name in UNREADABLE:
        text = f"needs {UNREADABLE[name]}; the text sent is none."
        return Finding(path=path, text=text, decisive=True)
    if name in RULES:
        figures = {key: _figure(value) for key, value in context.items()}
        text = cut(RULES[name].format(**figures), 150)
        return Finding(path=path, text=text, decisive=True)
    if name in MISSING_TYPES:
        return missing(path)
    if name in UNKNOWN_TYPES:
        return unknown_key(path, accepted_at(schema, data, path[:-1]))
    if name in ("literal_error", "enum"):
        return not_a_choice(path, choices_at(schema, data, path), error["input"])
    if name in ("union_tag_invalid", "union_tag_not_found"):
        return _without_mark(error, path)

    return Finding(path=path, text=_own_words(error, sensitive), decisive=True)


def _figure(value: object) -> object:
    """
    Write a whole number as one, whatever the validator made of it.
    """
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _without_mark(error: Error, path: tuple[str | int, ...]) -> Finding:
    """
    An object whose form cannot be told, because the member that marks it is off.
    """
    context = error["ctx"]
    marks = _QUOTED.findall(context["discriminator"])
    if error["type"] == "union_tag_not_found":
        return missing((*path, marks[0]) if len(marks) == 1 else path)
    present = [mark for mark in marks if mark in error["input"]]
    choices = _QUOTED.findall(context["expected_tags"])

    return not_a_choice((*path, *present[:1]), choices, context["tag"])


def _own_words(error: Error, sensitive: bool) -> str:
    """
    Return what the author of a check wrote, unless it may give a value away.
    """
    if sensitive:
        return OWN_CHECK
    text = str(error["msg"])
    if error["type"] in ("value_error", "assertion_error"):
        text = text.partition(", ")[2]
    value = error["input"]
    repeated = isinstance(value, str) and len(value) > 3 and value in text
    if not text or repeated or "://" in text:
        return OWN_CHECK
    text = " ".join(text.split())

    return cut(f"is not accepted: {text.rstrip('.')}.", 150)
