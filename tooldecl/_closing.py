"""
Close the objects of a JSON Schema: they take what they name, and nothing else.

An object that says something about ``additionalProperties`` is left as it says. Where
several schemas speak about one object together (``allOf``, a reference beside
``properties``), none of them may be closed alone: the whole of them is, by
``unevaluatedProperties``.
"""

from __future__ import annotations

from typing import Any

from ._subschemas import Schema, follow, is_array, is_object, subschemas, walk


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
