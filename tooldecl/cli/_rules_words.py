"""
Rules about what a model chooses a tool by: its name and its description.
"""

from __future__ import annotations

from collections.abc import Iterator

from ._subjects import Subject


def one_word(tool: Subject) -> Iterator[str]:
    """
    Find a description that says no more than the name.
    """
    if len(tool.meta.description.split()) < 2:
        yield (
            f"the description is one word, {tool.meta.description!r}: say what the tool "
            "does, and when to use it"
        )


def same(tool: Subject) -> Iterator[str]:
    """
    Find a description that tells two tools not apart.
    """
    for other in tool.before:
        if _folded(other.description) == _folded(tool.meta.description):
            yield f"the description is that of {other.name!r}: a model has to guess"
            return


def near_name(tool: Subject) -> Iterator[str]:
    """
    Find a name that a model may take for another.
    """
    for other in tool.before:
        if _stem(other.name) == _stem(tool.meta.name):
            yield f"the name is almost {other.name!r}: a model may take one for the other"
            return


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


def _stem(name: str) -> str:
    return name.casefold().replace("_", "").replace("-", "").removesuffix("s")
