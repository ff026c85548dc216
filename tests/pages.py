"""
Read the pages of the documentation: their fences, tables, headings and links.
"""

from __future__ import annotations

import re
import textwrap

from dataclasses import dataclass
from pathlib import Path

from source import ROOT, is_found


PAGES = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]

# Packages that are optional, and the session of nox that runs what needs them.
BRINGS = {
    "agents": "openai_agents",
    "celery": "celery",
    "distributed": "dask",
    "fastmcp": "openai_agents",
    "google.genai": "models",
    "langchain": "langchain",
    "loky": "loky",
    "mcp": "mcp",
    "opentelemetry.sdk": "otel",
    "pydantic_ai": "pydantic_ai",
    "ray": "ray",
}

# What a section says above its blocks, where they need such a package; above the first
# section, the page says it for all.
_NEEDS = re.compile(r"^<!-- needs ([\w.]+) -->$")
_FENCE = re.compile(r"^( *)(`{3,})(.*)$")


def label(page: Path) -> str:
    """
    Name a page as the tests print it.
    """
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """
    One fenced block.

    Attributes:
        info: What stands behind the opening marks, usually a language.
        line: Line of the first line inside.
        text: What is inside, without the indentation of the fence.
        needs: The package without which it does not run, as its section or page says.
    """

    info: str
    line: int
    text: str
    needs: str = ""


def fences(page: Path) -> list[Fence]:
    """
    List the fenced blocks of *page* in order.
    """
    found: list[Fence] = []
    opened: tuple[str, str, int] | None = None
    inside: list[str] = []
    needs = always = ""
    in_section = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        match = _FENCE.match(line)
        if opened is None and match:
            opened = (match[2], match[3].strip(), number + 1)
            inside = []
        elif opened and match and match[2] == opened[0] and not match[3].strip():
            text = textwrap.dedent("\n".join(inside))
            found.append(Fence(info=opened[1], line=opened[2], text=text, needs=needs))
            opened = None
        elif opened is None:
            if line.startswith("## "):
                needs, in_section = always, True
            elif named := _NEEDS.match(line):
                needs = named[1]
                always = always if in_section else needs
        else:
            inside.append(line)
    if opened:
        raise AssertionError(f"{label(page)}:{opened[2] - 1} opens a block for good.")

    return found


def is_there(fence: Fence) -> bool:
    """
    Tell whether the package is there that a block needs.
    """
    return not fence.needs or is_found(fence.needs)


def needs_of(page: Path) -> list[str]:
    """
    List the packages that *page* or sections of it need.
    """
    return sorted({fence.needs for fence in fences(page) if fence.needs})


def prose(page: Path) -> list[tuple[int, str]]:
    """
    List the lines of *page* outside of its fences, with their numbers.
    """
    lines = []
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if _FENCE.match(line):
            inside = not inside
        elif not inside:
            lines.append((number, line))

    return lines


def tables(page: Path) -> list[list[list[str]]]:
    """
    List the tables of *page*, each as its rows of cells, the heading row included.
    """
    found: list[list[list[str]]] = []
    before = ""
    for _, line in prose(page):
        if line.startswith("|"):
            cells = [c.strip() for c in re.split(r"(?<!\\)\|", line.strip("|"))]
            if not before.startswith("|"):
                found.append([])
            if not all(set(cell) <= set(":- ") for cell in cells):
                found[-1].append([cell.replace("\\|", "|") for cell in cells])
        before = line

    return found


def table(page: Path, first: str, *, headed: bool = False) -> list[list[str]]:
    """
    Return the rows of the table whose first column is called *first*, below its heading.

    Where it is to be *headed*, the heading is the first of them.
    """
    for rows in tables(page):
        if rows[0][0] == first:
            return rows if headed else rows[1:]
    raise AssertionError(f"{label(page)} has no table of {first!r}.")


def sections(page: Path) -> dict[str, list[Fence]]:
    """
    Map each third-level heading in backticks to the fences below it.
    """
    heads = [
        (number, line.removeprefix("### ").strip("`"))
        for number, line in prose(page)
        if line.startswith("#")
    ]
    found: dict[str, list[Fence]] = {}
    for fence in fences(page):
        above = [head for number, head in heads if number < fence.line]
        found.setdefault(above[-1], []).append(fence)

    return found
