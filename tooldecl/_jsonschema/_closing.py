"""
Close the objects of a JSON Schema: they take what they name, and nothing else.

An object that says something about ``additionalProperties`` is left as it says. Where
several schemas speak about one object together (``allOf``, a reference beside
``properties``), none of them may be closed alone: the whole of them is, by
``unevaluatedProperties``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._subschemas import (
    Schema,
    follow,
    is_array,
    is_object,
    may_match,
    subschemas,
    walk,
)


APPLIED = ("allOf", "anyOf", "oneOf", "then", "else", "dependentSchemas", "$ref")

# These ask what an object is like; closing them would change the answer.
QUESTIONS = ("not", "if", "contains")


def close_named(node: dict[str, Any]) -> None:
    """
    Close, in place, an object that names its members or their patterns.
    """
    if "properties" in node:
        node["additionalProperties"] = False
    elif "patternProperties" in node:
        node.setdefault("additionalProperties", False)


def close_objects(root: dict[str, Any]) -> None:
    """
    Close, in place, every object that says nothing about further members.
    """
    shared = _shared_targets(root)
    _visit(root, root, shared=shared, among_others=False, closing=True)


def never_given(root: Schema) -> str | None:
    """
    Return a member that a closed schema requires and takes from nobody, or None.

    Only what holds for every value is judged: a form among several (``anyOf``) that
    nothing fits does no harm.
    """
    certain = _in_place(root, root, ("allOf",))
    for name in (n for schema in certain for n in schema.get("required", ())):
        for closer in certain:
            if not _takes(root, closer, name):
                return str(name)

    return None


def _takes(root: Schema, closer: Schema, name: str) -> bool:
    """
    Tell whether one schema of an object may let a member through.
    """
    if closer.get("additionalProperties") is False:
        return _speaks_of(closer, name)
    if closer.get("unevaluatedProperties") is not False:
        return True
    others = ("allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
    spoken = _in_place(root, closer, others)

    return any(
        _speaks_of(schema, name)
        or schema.get("additionalProperties", False) is not False
        or schema.get("unevaluatedProperties", False) is not False
        for schema in spoken
    )


def _speaks_of(schema: Schema, name: str) -> bool:
    patterns = schema.get("patternProperties", {})

    return name in schema.get("properties", {}) or any(
        may_match(pattern, name) for pattern in patterns
    )


def _in_place(root: Schema, schema: Schema, keys: Sequence[str]) -> list[Schema]:
    """
    Return a schema and those that it applies to the same value through *keys*, or by
    reference.
    """
    found: list[Schema] = []
    waiting: list[object] = [schema]
    while waiting:
        one = waiting.pop()
        if not is_object(one) or any(one is known for known in found):
            continue
        found.append(one)
        for key in keys:
            held = one.get(key)
            if key == "dependentSchemas" and is_object(held):
                waiting += held.values()
            else:
                waiting += held if is_array(held) else [held]
        if "$ref" in one:
            waiting.append(follow(root, one["$ref"]))

    return found


def _shared_targets(root: dict[str, Any]) -> set[int]:
    """
    Collect what is referred to where it speaks about an object among others.
    """
    shared: set[int] = set()
    while True:
        before = len(shared)
        _visit(root, root, shared=shared, among_others=False, closing=False)
        if len(shared) == before:
            return shared


def _visit(
    root: dict[str, Any],
    node: dict[str, Any],
    *,
    shared: set[int],
    among_others: bool,
    closing: bool,
) -> None:
    """
    Collect shared targets, or close the objects, in *node* and below.
    """
    among_others = among_others or id(node) in shared
    inside_others = among_others or _speakers(node) > 1
    if "$ref" in node:
        target = follow(root, node["$ref"])
        if inside_others:
            shared.add(id(target))
        elif closing and id(target) in shared:
            node.setdefault("unevaluatedProperties", False)
    if closing and not among_others:
        _close(node)
    in_place = {id(inner) for key in APPLIED for inner in _inner(node.get(key))}
    asked = [node[key] for key in QUESTIONS if key in node]
    for question in asked:
        shared.update(
            id(follow(root, n["$ref"])) for n in walk(question) if "$ref" in n
        )
    for inner in list(subschemas(node)):
        if is_object(inner) and all(inner is not one for one in asked):
            _visit(
                root,
                inner,
                shared=shared,
                among_others=inside_others and id(inner) in in_place,
                closing=closing,
            )


def _close(node: dict[str, Any]) -> None:
    if "additionalProperties" in node or "unevaluatedProperties" in node:
        return
    if _speakers(node) > 1:
        node["unevaluatedProperties"] = False
    elif _names_members(node) or (_is_object(node) and not _speakers(node)):
        node["additionalProperties"] = False


def _speakers(node: Schema) -> int:
    """
    Count the parts of a schema that speak about the members of the same object.
    """
    count = int(_names_members(node)) + len(node.get("allOf", ()))

    return count + sum(key in node for key in APPLIED if key != "allOf")


def _names_members(node: Schema) -> bool:
    return bool(node.get("properties") or node.get("patternProperties"))


def _is_object(node: Schema) -> bool:
    names = node.get("type", ())

    return "properties" in node or "object" in ([names, *names])


def _inner(held: Any) -> list[Any]:
    if is_array(held):
        return held
    if is_object(held):
        return [held, *held.values()]

    return []
