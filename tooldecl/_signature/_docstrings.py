"""
Split a docstring into the text for the model and the texts of the parameters.

Google, numpy and Sphinx style are told apart section by section. The parameter sections
go to the parameters; everything else (returns, raises, notes, examples) stays in the
text, word for word. The matching page is docs/how-to/declare-a-tool.md.
"""

from __future__ import annotations

import inspect
import re

from collections.abc import Mapping
from typing import final

from .._records import record


GOOGLE_HEADER = re.compile(
    r"(args|arguments|parameters|params|keyword args|keyword arguments|"
    r"other parameters)\s*:",
    re.IGNORECASE,
)
GOOGLE_ITEM = re.compile(r"\*{0,2}(\w+)\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*:\s*(.*)")
ANY_HEADER = re.compile(r"[A-Za-z][\w ]*:\s*")
BLOCK_HEADER = re.compile(r"[A-Za-z][\w ]*::?\s*")
NUMPY_HEADERS = ("Parameters", "Other Parameters", "Keyword Arguments")
NUMPY_ITEM = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
SPHINX_FIELD = re.compile(
    r":(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)"
)
GAP = re.compile(r"\n{3,}")
SPHINX_TYPE = re.compile(r":type\s+\*{0,2}\w+\s*:")


@final
@record(frozen=True, slots=True, kw_only=True)
class Docstring:
    """
    What a docstring says.

    Attributes:
        text: All of it but the parameter sections.
        parameters: One line for each parameter it describes.
    """

    text: str
    parameters: Mapping[str, str]


def read_docstring(doc: str | None) -> Docstring:
    """
    Read a docstring of any of the three styles; None and blank ones are empty.
    """
    lines = inspect.cleandoc(doc or "").splitlines()
    kept: list[str] = []
    found: dict[str, list[str]] = {}
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if line[-1:] != ":" and line[:1] != ":" and line not in NUMPY_HEADERS:
            kept.append(lines[at])  # no section and no example begins like this
            at += 1
            continue
        end, items = _section_at(lines, at)
        found.update(items)
        if end == at:
            end = _end_of_text(lines, at)
            kept += lines[at:end]
        at = end

    return Docstring(
        text=GAP.sub("\n\n", "\n".join(kept)).strip(),
        parameters={name: " ".join(" ".join(t).split()) for name, t in found.items()},
    )


def _section_at(lines: list[str], at: int) -> tuple[int, dict[str, list[str]]]:
    """
    Return the line after the parameter section that begins at *at*, and its texts.

    Where none begins, that line is *at* itself.
    """
    line = lines[at].strip()
    if SPHINX_TYPE.match(line):
        return _end_of_block(lines, at), {}
    if match := SPHINX_FIELD.fullmatch(line):
        end = _end_of_block(lines, at)
        return end, {match[1]: [match[2], *lines[at + 1 : end]]}
    if line in NUMPY_HEADERS and _is_rule(lines, at + 1):
        return _numpy(lines, at)
    if GOOGLE_HEADER.fullmatch(line):
        end = _end_of_block(lines, at) if at else _end_of_first_block(lines)
        items = _google(lines[at + 1 : end])
        return (end, items) if items else (at, {})

    return at, {}


def _google(block: list[str]) -> dict[str, list[str]]:
    items: dict[str, list[str]] = {}
    texts: list[str] = []
    column: int | None = None
    for line in filter(str.strip, block):
        indent = _indent(line)
        column = indent if column is None else column
        match = GOOGLE_ITEM.fullmatch(line.strip()) if indent <= column else None
        if match:
            texts = items[match[1]] = [match[2]]
        else:
            texts.append(line)

    return items


def _numpy(lines: list[str], at: int) -> tuple[int, dict[str, list[str]]]:
    items: dict[str, list[str]] = {}
    texts: list[str] = []
    column = _indent(lines[at])
    end = at + 2
    while end < len(lines):
        line = lines[end]
        if line.strip() and _indent(line) <= column:
            match = NUMPY_ITEM.fullmatch(line.strip())
            if match is None or _is_rule(lines, end + 1):
                break
            texts = []
            for name in match[1].split(","):
                items[name.strip(" *")] = texts
        else:
            texts.append(line)
        end += 1

    return end, items


def _end_of_block(lines: list[str], at: int) -> int:
    """
    Return the line after *at* and all that is indented below it.
    """
    column = _indent(lines[at])
    end = at + 1
    while end < len(lines) and (not lines[end].strip() or _indent(lines[end]) > column):
        end += 1

    return end


def _end_of_text(lines: list[str], at: int) -> int:
    """
    Return the line after a line of text; what an example holds is part of the text.
    """
    whole = at and BLOCK_HEADER.fullmatch(lines[at].strip())

    return _end_of_block(lines, at) if whole else at + 1


def _end_of_first_block(lines: list[str]) -> int:
    """
    Return the line after the block of a header that the docstring begins with.

    The first line does not count for the indentation, so its items may have lost theirs.
    Then the block ends at the next header, or where a new paragraph is no item.
    """
    begun = next((line for line in lines[1:] if line.strip()), "")
    if _indent(begun):
        return _end_of_block(lines, 0)
    for at in range(1, len(lines)):
        line = lines[at]
        new = not lines[at - 1].strip() and line.strip() and not _indent(line)
        if ANY_HEADER.fullmatch(line) or (new and not GOOGLE_ITEM.fullmatch(line)):
            return at

    return len(lines)


def _is_rule(lines: list[str], at: int) -> bool:
    return at < len(lines) and set(lines[at].strip()) == {"-"}


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
