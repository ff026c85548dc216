"""
The site is whole: every page, every public name, and nothing from anywhere else.
"""

from __future__ import annotations

import importlib
import os
import re

from html.parser import HTMLParser
from pathlib import Path

import pytest

from sphinx.util.inventory import InventoryFile

from pages import PAGES, label
from source import PUBLIC_MODULES, ROOT


SITE = Path(os.environ["WEBSITE"])
PLACES = [label(p).removeprefix("docs/") for p in PAGES if ROOT / "docs" in p.parents]
ADAPTERS = sorted(
    f"integrations.{path.stem}"
    for path in (ROOT / "tooldecl" / "integrations").glob("[!_]*")
)

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src"}


class Loaded(HTMLParser):
    """
    What a page makes a browser fetch.
    """

    def __init__(self, text):
        super().__init__()
        self.addresses = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        """
        Note what a tag fetches; a plain link fetches nothing.
        """
        given = dict(attrs)
        if tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.addresses.append(given["href"])
        elif given.get(LOADS.get(tag)):
            self.addresses.append(given[LOADS[tag]])


def lines_of(name):
    """
    List the lines of a text of the site.
    """
    return (SITE / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("place", PLACES)
def test_a_page_is_there_in_both_forms(place):
    """
    People read the one, and language models, which llms.txt sends there, the other.
    """
    page = SITE / place

    assert page.read_bytes() == (ROOT / "docs" / place).read_bytes()
    assert page.with_suffix(".html").is_file()


def test_llms_txt_lists_every_page_once():
    """
    A page that is not listed is not found by whoever reads only the list.
    """
    links = [
        re.match(r"- \[.+\]\(([^)]+)\): \S", line) for line in lines_of("llms.txt")
    ]

    assert sorted(PLACES) == sorted(link[1] for link in links if link)


def test_llms_txt_has_the_form():
    """
    Its readers expect one title, then one quoted line, then lists under headings.
    """
    first, _, second, *rest = lines_of("llms.txt")

    assert ("# tooldecl", "> ") == (first, second[:2])
    assert [] == [x for x in rest if x and not x.startswith(("## ", "- ["))]


def test_llms_full_txt_has_every_page_but_the_decisions():
    """
    It is the whole, as far as it is about using the library.
    """
    heads = re.findall(
        r"^<!-- (\S+\.md) -->$", "\n".join(lines_of("llms-full.txt")), re.MULTILINE
    )

    assert sorted(p for p in PLACES if not p.startswith("decisions/")) == sorted(heads)


@pytest.mark.parametrize("name", ["", *PUBLIC_MODULES, *ADAPTERS])
def test_every_public_name_is_in_the_reference(name):
    """
    What can be imported can be looked up.
    """
    module = importlib.import_module(f"tooldecl.{name}".rstrip("."))
    text = (SITE / "objects.inv").read_bytes()
    described = {
        key
        for kind, names in InventoryFile.loads(text, uri="").data.items()
        if kind.startswith("py:")
        for key in names
    }

    assert [] == [
        offered
        for offered in module.__all__
        if f"{module.__name__}.{offered}" not in described
    ]


def test_no_page_fetches_anything_from_elsewhere():
    """
    The site works without a network, and tells nobody who reads it.
    """
    fetched = {
        address
        for page in SITE.rglob("*.html")
        for address in Loaded(page.read_text(encoding="utf-8")).addresses
    }
    fetched |= {
        address
        for sheet in SITE.rglob("*.css")
        for address in re.findall(
            r"(?:url\(|@import )[\"']?([^\"'\s)]+)", sheet.read_text(encoding="utf-8")
        )
    }

    assert fetched
    assert [] == sorted(a for a in fetched if re.match(r"(https?:)?//", a))
