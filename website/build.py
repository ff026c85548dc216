"""
Build the documentation site from docs/ and the docstrings, without a network.

``python website/build.py FOLDER`` leaves the site in FOLDER; a warning ends it.
"""

from __future__ import annotations

import importlib
import inspect
import os
import pkgutil
import re
import shutil
import sys
import tempfile

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sphinx.cmd.build import main as sphinx
from sphinx.util.typing import stringify_annotation

import tooldecl


HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"

# The parts of the site, by folder of docs/; the pages are in the order of index.md.
PARTS = {
    "": "Start",
    "how-to": "How to",
    "reference": "Reference",
    "explanation": "Explanation",
    "decisions": "Decisions",
}
OPTIONAL = "decisions"  # what a reader who is short of room may leave out

LINK = re.compile(r"\]\(([\w/-]+\.md)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """
    One page of docs/.

    Attributes:
        place: Where it is in docs/, as ``how-to/run-a-loop.md``.
        title: Its first heading.
        lead: Its first line, mostly what its reader will be able to do.
        text: All of it.
    """

    place: str
    title: str
    lead: str
    text: str


def read(place: str) -> Page:
    """
    Read one page.
    """
    text = (DOCS / place).read_text(encoding="utf-8")
    head, *rest = [line for line in text.splitlines() if line]
    lead = next(line for line in rest if not line.startswith("#"))

    return Page(place=place, title=head.removeprefix("# "), lead=lead, text=text)


def pages() -> dict[str, list[Page]]:
    """
    List the pages of each part, in the order in which index.md names them.
    """
    named = ["index.md", *LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))]
    there = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
    places = list(dict.fromkeys([*named, *there]))

    return {
        part: [read(p) for p in places if p.rpartition("/")[0] == part]
        for part in PARTS
    }


def modules() -> list[str]:
    """
    List the public modules that offer names, the facade first.
    """
    found = ["tooldecl"]
    for name in ("tooldecl", "tooldecl.integrations"):
        package = importlib.import_module(name)
        found += [
            f"{name}.{module.name}"
            for module in pkgutil.iter_modules(package.__path__)
            if not module.name.startswith("_")
        ]

    return [
        name for name in found if name not in {"tooldecl.cli", "tooldecl.integrations"}
    ]


def toctree(caption: str, entries: list[str]) -> str:
    """
    Write a list of pages for the side of the site.
    """
    options = [f":caption: {caption}", ":hidden:"]

    return "\n".join(["", "```{toctree}", *options, "", *entries, "```", ""])


def reference(name: str) -> str:
    """
    Write the page of a public module: what it is, and each name that it offers.
    """
    module = importlib.import_module(name)
    lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :no-members:"]
    for offered in module.__all__:
        lines += ["", *described(f"{name}.{offered}", getattr(module, offered))]

    return "\n".join([*lines, ""])


def described(name: str, value: object) -> list[str]:
    """
    Write what makes autodoc describe a public name; types are shown as they are written.
    """
    if inspect.isclass(value):
        kind = "autoexception" if issubclass(value, BaseException) else "autoclass"
        options = ["   :undoc-members:"] if issubclass(value, Enum) else []
        options += ["   :show-inheritance:"] if value.__bases__ != (object,) else []
        return [f".. {kind}:: {name}", *options]
    if value is tooldecl.tool:
        return [f".. autodecorator:: {name}(**options)"]
    if inspect.isroutine(value):
        return [f".. autofunction:: {name}"]
    if value is tooldecl.UNSET:
        return [f".. autodata:: {name}", "   :no-value:"]
    written = re.sub(r"[\w.]+\.(\w+)", r"\1", stringify_annotation(value))

    home, _, short = name.rpartition(".")

    return [
        f".. py:type:: {short}",
        f"   :module: {home}",
        f"   :canonical: {written}",
    ]


def stage(folder: Path) -> None:
    """
    Copy the pages to *folder*, with what only the site needs beside them.
    """
    shutil.copytree(DOCS, folder)
    contents = ""
    for part, listed in pages().items():
        entries = [page.place for page in listed if page.place != "index.md"]
        contents += toctree(PARTS[part], entries)
        if part == "reference":
            entries = [f"reference/api/{name}.rst" for name in modules()]
            contents += toctree("Modules", entries)
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write(contents)
    (folder / "reference" / "api").mkdir()
    for name in modules():
        path = folder / "reference" / "api" / f"{name}.rst"
        path.write_text(reference(name), encoding="utf-8")


def llms() -> str:
    """
    Write the table of contents for language models; https://llmstxt.org has the form.
    """
    home, *_ = pages()[""]
    lines = [f"# {home.title}", "", f"> {tooldecl.__doc__.strip().splitlines()[0]}"]
    for part, listed in pages().items():
        lines += ["", f"## {'Optional' if part == OPTIONAL else PARTS[part]}", ""]
        lines += [f"- [{page.title}]({page.place}): {page.lead}" for page in listed]

    return "\n".join([*lines, ""])


def llms_full() -> str:
    """
    Put all pages in one text, but for the optional ones.
    """
    return "\n".join(
        f"<!-- {page.place} -->\n\n{page.text}"
        for part, listed in pages().items()
        if part != OPTIONAL
        for page in listed
    )


def build(out: Path) -> int:
    """
    Build the site in *out*, and return the code to end with.
    """
    os.environ["TOOLDECL_DOCS"] = str(DOCS)
    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        source, doctrees = Path(made) / "source", Path(made) / "doctrees"
        stage(source)
        options = ("-W", "--keep-going", "-q", "-c", str(HERE), "-d", str(doctrees))
        code = sphinx([*options, str(source), str(out)])
    if code == 0:
        (out / "llms.txt").write_text(llms(), encoding="utf-8")
        (out / "llms-full.txt").write_text(llms_full(), encoding="utf-8")

    return code


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]).resolve()))
