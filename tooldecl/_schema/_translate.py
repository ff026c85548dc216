"""
Translate what the validator of declared types reports into problems for the model.

The types of its errors are stable and are read here; its texts are not used, except
those that a tool's author wrote in a check of their own.
"""

from __future__ import annotations

import re

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._jsonschema import (
    MOST_ERRORS,
    Finding,
    Path,
    Problem,
    Schema,
    accepted_at,
    choices_at,
    cut,
    is_array,
    is_listed,
    is_object,
    missing,
    most_telling,
    names_at,
    not_a_choice,
    not_a_name,
    settle,
    unknown_key,
)
from ._verdicts import EXPECTED, MISSING_TYPES, RULES, UNKNOWN_TYPES, UNREADABLE


# One error as the validator gives it: its type, place, context and text.
Error = Mapping[str, Any]

OWN_CHECK = "is not accepted by a check of the tool."

_QUOTED = re.compile(r"'([^']*)'")


class _Located:
    """
    One error, with its place split into steps into the data and names of forms.
    """

    __slots__ = ("about_name", "error", "path", "steps")

    def __init__(self, error: Error, data: object) -> None:
        self.error = error
        self.about_name = False
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
            elif step == "[key]":
                self.about_name = True
            else:
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
    name = error["type"]
    if one.about_name:
        return _wrong_name(one, data=data, schema=schema, sensitive=sensitive)
    if name in EXPECTED:
        return Finding(path=path, expected=EXPECTED[name])
    if name in UNREADABLE:
        text = f"needs {UNREADABLE[name]}; the text sent is none."
        return Finding(path=path, text=text, decisive=True)
    if name in RULES:
        return Finding(path=path, text=_rule(error), decisive=True)
    if name in MISSING_TYPES:
        return missing(path)
    if name in UNKNOWN_TYPES:
        return unknown_key(path, accepted_at(schema, data, path[:-1]))
    if name in ("literal_error", "enum"):
        choices, sent = choices_at(schema, data, path), error["input"]
        return replace(
            not_a_choice(path, choices, sent), elsewhere=is_listed(sent, choices)
        )
    if name in ("union_tag_invalid", "union_tag_not_found"):
        return _without_mark(error, path)

    return Finding(path=path, text=_own_words(error, sensitive), decisive=True)


def _wrong_name(
    one: _Located, *, data: object, schema: Schema, sensitive: bool
) -> Finding:
    """
    A member whose value may be right, under a name that is not.
    """
    error, path = one.error, one.path
    name = error["type"]
    if choices := names_at(schema, data, path[:-1]):
        return not_a_name(path, choices)
    if kind := EXPECTED.get(name) or UNREADABLE.get(name):
        rule = f"has to be {kind}."
    else:
        rule = _rule(error) if name in RULES else _own_words(error, sensitive)

    return Finding(path=path, text=f"its name {rule}", decisive=True)


def _rule(error: Error) -> str:
    figures = {key: _figure(value) for key, value in error.get("ctx", {}).items()}

    return cut(RULES[error["type"]].format(**figures), 150)


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
