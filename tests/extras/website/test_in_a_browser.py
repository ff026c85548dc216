"""
The site as a browser shows it, straight from the disk.
"""

from __future__ import annotations

import os

from pathlib import Path

import pytest

from browser import Browser, colours


SITE = Path(os.environ["WEBSITE"])

PAGES = pytest.mark.parametrize(
    "page", ["index", "tutorial", "reference/api/tooldecl", "explanation/performance"]
)

# Sphinx fills the list of hits after the page was loaded.
FIRST_HIT = """
new Promise((resolve) => {
  const look = () => {
    const hit = document.querySelector("#search-results li a");
    hit ? resolve(hit.getAttribute("href")) : setTimeout(look, 20);
  };
  look();
})
"""


@pytest.fixture(scope="module")
def browser():
    """
    Start one browser for all pages.
    """
    found = Browser(os.environ["WEBSITE_BROWSER"])
    yield found
    found.close()


@PAGES
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_is_shown_without_a_complaint(browser, page, dark):
    """
    It has the scheme that its reader has chosen, and everything it needs is on the disk.
    """
    browser.open(SITE / f"{page}.html", dark=dark)
    seen = colours(browser.screenshot())
    [(ground, _)] = seen.most_common(1)

    assert [] == browser.complaints
    assert [] == [a for a in browser.requests if not a.startswith(("file:", "data:"))]
    assert dark == (sum(ground) < 200)
    assert len(seen) > 20


def test_the_search_finds_a_page(browser):
    """
    It works where the pages are, without a server.
    """
    browser.open(SITE / "search.html")
    address = (SITE / "search.html").as_uri() + "?q=abandoned"
    browser.ask("Page.navigate", url=address)
    browser.wait_for("Page.loadEventFired")

    hit = browser.value(FIRST_HIT).partition("#")[0].partition("?")[0]

    assert (SITE / hit).is_file()
