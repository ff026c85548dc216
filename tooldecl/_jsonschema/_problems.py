"""
Say what is wrong with arguments, in our own words: a path, the rule, what to do.

Values are never shown, only their kinds; keys are, except in the free-form objects of
a sensitive tool. The matching page is docs/reference/errors.md.
"""

from __future__ import annotations

import difflib
import json

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, final

from .._jsonfaults import show_path
from .._records import record
from ._subschemas import (
    Path,
    Schema,
    at,
    choices_in,
    fitting,
    is_open,
    named_in,
    requires,
    speaking,
)


Problem: TypeAlias = tuple[str, str]

# A wrong list of a million items would otherwise become a million sentences.
MOST = 50
MOST_ERRORS = 500
LONGEST = 190

KINDS: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    float: "a number",
    int: "an integer",
    list: "a list",
    str: "text",
    type(None): "null",
}


@final
@record(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    One thing that is wrong.

    Attributes:
        path: Where.
        text: The sentence about it, or "" where the value is of a wrong kind.
        expected: The kind that is needed, where the value is of a wrong kind.
        decisive: Whether the value was of the right kind, so that one form of several
            was meant.
        elsewhere: Whether another of several forms lists the value, and so was meant.
    """

    path: tuple[str | int, ...]
    text: str = ""
    expected: str = ""
    decisive: bool = False
    elsewhere: bool = False


def kind_of(value: object) -> str:
    """
    Name the kind of a JSON value.
    """
    return KINDS[type(value)]


def cut(text: str, longest: int) -> str:
    """
    Shorten a text, visibly.
    """
    return text if len(text) <= longest else text[: longest - 3] + "..."


def missing(path: Sequence[str | int]) -> Finding:
    """
    A member that has to be there.
    """
    return Finding(path=tuple(path), text="is missing, and it is required.")


def unknown_key(
    path: Sequence[str | int], accepted: Sequence[str], patterns: Sequence[str] = ()
) -> Finding:
    """
    A member that nothing takes, with those that would be taken and the nearest.
    """
    key = str(path[-1])
    if not accepted and patterns:
        forms = _alternatives([cut(pattern, 60) for pattern in patterns])
        text = f"is unknown: a name here must match the pattern {forms}"
    elif not accepted and len(path) == 1:
        text = "is unknown: this tool takes no arguments, send {}."
    elif not accepted:
        text = "is unknown: this object takes no members."
    else:
        near = difflib.get_close_matches(key, accepted, n=1)
        hint = f" Did you mean {cut(near[0], 40)!r}?" if near else ""
        text = f"is unknown. Accepted: {_listed(accepted)}.{hint}"

    return Finding(path=tuple(path), text=text)


def not_a_choice(
    path: Sequence[str | int], choices: Sequence[object], value: object
) -> Finding:
    """
    A value that is none of those listed.
    """
    return Finding(
        path=tuple(path),
        expected=f"one of {_written(choices)}",
        decisive=any(type(choice) is type(value) for choice in choices),
    )


def not_a_name(path: Sequence[str | int], choices: Sequence[object]) -> Finding:
    """
    A member whose name is none of those listed.
    """
    text = f"its name is not allowed: it has to be one of {_written(choices)}."

    return Finding(path=tuple(path), text=text, decisive=True)


def _written(choices: Sequence[object]) -> str:
    return _joined([json.dumps(choice, ensure_ascii=False) for choice in choices])


def _listed(names: Iterable[str]) -> str:
    return _joined([repr(cut(name, 40)) for name in names])


def _joined(texts: Sequence[str], room: int = 90) -> str:
    """
    List texts as far as there is room, and say how many are left.
    """
    shown = ""
    for done, text in enumerate(texts):
        if done and len(shown) + len(text) > room:
            return f"{shown} and {len(texts) - done} more"
        shown += (", " if done else "") + cut(text, room)

    return shown


def most_telling(forms: Sequence[list[Finding]], path: Path) -> list[Finding]:
    """
    Choose what to say where a value fits none of several forms.

    The form that the value came closest to was meant: one that it went into, or whose
    kind it has. A form whose mark says that another one is meant was not. Where the
    value is of no form's kind, all the kinds are named.
    """
    forms = [f for f in forms if not any(x.elsewhere for x in f)] or forms
    inside = [f for f in forms if any(len(x.path) > len(path) for x in f)]
    meant = inside or [f for f in forms if any(x.decisive for x in f)]
    if meant:
        return min(meant, key=len)

    return [finding for form in forms for finding in form]


def settle(
    findings: Sequence[Finding],
    *,
    schema: Schema,
    data: object,
    sensitive: bool,
    unread: int = 0,
) -> list[Problem]:
    """
    Put findings into words, one problem for each place and rule.

    Args:
        findings: What was found.
        schema: What the arguments have to fit.
        data: The arguments.
        sensitive: Whether the keys of free-form objects are masked.
        unread: How many more problems were found and not looked at.
    """
    at_path: dict[tuple[str | int, ...], list[Finding]] = {}
    for finding in findings:
        at_path.setdefault(finding.path, []).append(finding)
    problems: dict[Problem, None] = {}
    for done, (path, found) in enumerate(at_path.items()):
        if len(problems) >= MOST:
            unread += len(at_path) - done
            break
        place = _masked(path, schema, data) if sensitive else show_path(path)
        place = cut(place, 90)
        texts = [finding.text for finding in found if finding.text]
        if wrong := [finding for finding in found if finding.expected]:
            texts.append(_wrong_kind(wrong, schema, data))
        for text in texts:
            problems[place, cut(text, LONGEST - len(place))] = None
    if unread:
        problems["$", f"{unread} more problems were found."] = None

    return list(problems)


def _wrong_kind(findings: Sequence[Finding], schema: Schema, data: object) -> str:
    """
    Say which kinds a value may have, where it has another.
    """
    path = findings[0].path
    expected = list(dict.fromkeys(finding.expected for finding in findings))
    value = value_at(data, path)
    needs = f"needs {_alternatives(expected)}"
    if value is None and path:
        owners = _forms_of(schema, data, path[:-1])
        if not requires(owners, str(path[-1])) and path[-1] in named_in(owners):
            return f"{needs}, not null: leave it out."
    if isinstance(value, str):
        for mark, kind in (("[", "a list"), ("{", "an object")):
            if kind in expected and value.lstrip().startswith(mark):
                noun = kind.partition(" ")[2]
                return f"{needs}: this is a string, send the {noun} itself."
    if any(finding.decisive for finding in findings):
        return f"{needs}."

    return f"{needs}, got {kind_of(value)}."


def value_at(data: Any, path: Path) -> object:
    """
    Return what stands at *path*.
    """
    for step in path:
        data = data[step]

    return data


def _alternatives(kinds: Sequence[str]) -> str:
    *most, last = kinds

    return f"{', '.join(most)} or {last}" if most else last


def _masked(path: Path, schema: Schema, data: object) -> str:
    """
    Render a path without the keys that only the data know.
    """
    steps: list[str | int] = []
    for place, step in enumerate(path):
        here = _forms_of(schema, data, path[:place])
        named = not isinstance(step, str) or step in named_in(here) or not is_open(here)
        steps.append(step if named else "*")

    return show_path(steps)


def accepted_at(schema: Schema, data: object, path: Path) -> list[str]:
    """
    Return the members that the object at *path* may have.
    """
    return named_in(_forms_of(schema, data, path))


def _forms_of(schema: Schema, data: object, path: Path) -> list[Schema]:
    """
    Return the schemas that the object at *path* can be meant by.
    """
    return fitting(at(schema, data, path), value_at(data, path))


def choices_at(schema: Schema, data: object, path: Path) -> list[object]:
    """
    Return the values that are listed for the place *path*.
    """
    return [c for here in at(schema, data, path) for c in choices_in(here)]


def names_at(schema: Schema, data: object, path: Path) -> list[object]:
    """
    Return the names that are listed for the members of the object at *path*.
    """
    forms = [
        s["propertyNames"]
        for s in _forms_of(schema, data, path)
        if "propertyNames" in s
    ]

    listed = [c for form in speaking(schema, forms) for c in choices_in(form)]

    return [choice for choice in listed if isinstance(choice, str)]
