"""
A report as a browser shows it: to eyes, to a keyboard, to a screen reader, on paper.
"""

from __future__ import annotations

import os

import pytest

from browser import Browser, colours
from happenings import HOSTILE, every_kind, many
from tooldecl.report import Recorder, write_report


@pytest.fixture(scope="module")
def browser():
    """
    Start one browser for all pages.
    """
    found = Browser(os.environ["REPORT_BROWSER"])
    yield found
    found.close()


def events(kind):
    """
    Tell of nothing, of everything that can happen, or of a number of calls.
    """
    return {"every kind": every_kind(), "none": iter(())}.get(kind) or many(int(kind))


PAGES = ["every kind", "none", "1", "12", "500"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """
    Write a report of each kind, with contents.
    """
    folder, made = tmp_path_factory.mktemp("reports"), {}
    for kind in PAGES:
        kept = Recorder(contents=True)
        for event in events(kind):
            kept(event)
        path = folder / f"{kind.replace(' ', '-')}.html"
        made[kind] = write_report(path, kept, title=f"A run: {kind}")

    return made


@pytest.fixture(params=PAGES)
def page(request, pages):
    """
    Name a report of each kind.
    """
    return pages[request.param]


SCHEMES = pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])


@SCHEMES
def test_a_page_loads_nothing_and_complains_of_nothing(browser, page, dark):
    """
    A report is opened where there is no network, and what its own policy refuses would
    be told here.
    """
    browser.open(page, dark=dark)

    assert ([page.as_uri()], []) == (browser.requests, browser.complaints)


@SCHEMES
@pytest.mark.parametrize("width", [360, 800, 1400])
def test_a_page_shows_something_in_its_scheme(browser, pages, dark, width):
    """
    A blank page has no errors either; and a dark one that is white blinds its reader.
    """
    browser.open(pages["every kind"], dark=dark, width=width)
    seen = colours(browser.screenshot())
    [(ground, _)] = seen.most_common(1)

    assert dark == (sum(ground) < 200)
    assert len(seen) > 20


def test_the_bars_of_the_two_schemes_are_seen(browser, pages):
    """
    The forms are drawn in colours of the style sheet: a rule that is not found leaves
    them black.
    """
    for dark in (False, True):
        browser.open(pages["every kind"], dark=dark)
        fills = browser.value(
            """[...document.querySelectorAll(".lanes rect")]
            .map(x => getComputedStyle(x).fill)"""
        )
        assert len(fills) > 5
        assert "rgb(0, 0, 0)" not in fills


@pytest.mark.parametrize("width", [320, 800])
def test_a_narrow_window_needs_no_scrolling_aside(browser, page, width):
    """
    Only the table may be wider than the window, in a frame of its own.
    """
    browser.open(page, width=width)

    assert browser.value("document.documentElement.scrollWidth") <= width


CONTRAST = """
(() => {
  const parse = (s) => s.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255)
      .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const poor = [];
  for (const e of document.querySelectorAll("body *")) {
    const style = getComputedStyle(e);
    const texts = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
    if (texts && e.getClientRects().length && !["title", "desc"].includes(e.localName)) {
      const ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
      const found = ratio(parse(ink), ground(e));
      if (found < 4.5) poor.push([e.localName, e.textContent.slice(0, 30), found]);
    }
    if (["rect", "line"].includes(e.localName) && !e.closest("defs")) {
      const paint = style.fill.startsWith("rgb") && e.localName === "rect"
        ? style.fill : style.stroke;
      const found = ratio(parse(paint), ground(e));
      if (found < 3) poor.push([e.localName, e.getAttribute("class"), found]);
    }
  }
  return poor;
})()
"""


@SCHEMES
def test_everything_stands_out_from_its_ground(browser, pages, dark):
    """
    Text at 4.5 to 1 and forms at 3 to 1, as WCAG asks, in both schemes.
    """
    for kind in ("every kind", "12"):
        browser.open(pages[kind], dark=dark)
        browser.value("document.querySelectorAll('details').forEach(d => d.open = 1)")
        assert [] == browser.value(CONTRAST)


FOCUSED = """
(() => {
  const e = document.activeElement;
  const style = getComputedStyle(e);
  return [e.localName, e.className || e.textContent, e.getAttribute("href"),
    style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 1];
})()
"""


def test_a_keyboard_reaches_every_row(browser, pages):
    """
    In the order in which they stand, and always to be seen: first the way past them all.
    """
    browser.open(pages["12"])
    reached = []
    for _ in range(26):
        browser.press("Tab")
        reached.append(browser.value(FOCUSED))
    names = [name for name, *_ in reached]

    assert ["a", "a", "a"] == names[:3]
    assert "#calls" == reached[0][2]
    assert [f"#call-{n}" for n in range(1, 13)] == [r[2] for r in reached[1:13]]
    assert ["div", *["summary"] * 12] == names[13:]
    assert [True] * 26 == [shown for *_, shown in reached]


def test_a_row_leads_to_its_facts_and_they_open(browser, pages):
    """
    Enter on a row goes to the same call in the table; the next stop is its details.
    """
    browser.open(pages["12"])
    for _ in range(4):
        browser.press("Tab")
    browser.press("Enter")

    assert "#call-3" == browser.value("location.hash")
    browser.press("Tab")
    browser.press("Enter")
    opened = (
        "[...document.querySelectorAll('tr')].map(r => !!r.querySelector('[open]'))"
    )

    assert [3] == [n for n, is_open in enumerate(browser.value(opened)) if is_open]


def test_the_way_past_the_rows_leads_to_the_table(browser, pages):
    """
    Nobody tabs through 500 rows.
    """
    browser.open(pages["500"])
    browser.press("Tab")
    browser.press("Enter")
    browser.press("Tab")

    assert "region" == browser.value("document.activeElement.getAttribute('role')")


STRUCTURE = """
(() => {
  const wrong = [];
  const all = (s) => [...document.querySelectorAll(s)];
  const ids = all("[id]").map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id is given twice");
  for (const e of all("[aria-labelledby]"))
    if (!document.getElementById(e.getAttribute("aria-labelledby")))
      wrong.push("labelled by nothing");
  for (const a of all("a[href^='#']"))
    if (!document.getElementById(a.getAttribute("href").slice(1)))
      wrong.push("a link to nothing: " + a.getAttribute("href"));
  for (const svg of all("svg:not(.mark)")) {
    const told = (n) => svg.querySelector(":scope > " + n)?.textContent.trim();
    const hidden = svg.closest("[aria-hidden=true]");
    if (!hidden && (svg.getAttribute("role") !== "img" || !told("title") || !told("desc")))
      wrong.push("a picture without a name or a description");
  }
  for (const table of all("table")) {
    const heads = [...table.tHead.rows[0].cells];
    if (heads.some((h) => h.localName !== "th" || h.scope !== "col" || !h.innerText))
      wrong.push("a column without a head");
    if (!table.caption?.innerText) wrong.push("a table without a caption");
    for (const row of table.tBodies[0].rows) {
      if (row.cells.length !== heads.length) wrong.push("a cell without a head");
      if (row.cells[0].localName !== "th" || row.cells[0].scope !== "row")
        wrong.push("a row without a head");
    }
  }
  let level = 0;
  for (const h of all("h1,h2,h3")) {
    if (+h.localName[1] > level + 1) wrong.push("a level of headings is left out");
    level = +h.localName[1];
  }
  if (all("h1").length !== 1) wrong.push("not one main heading");
  for (const landmark of ["header", "main", "footer"])
    if (all("body > " + landmark).length !== 1) wrong.push("no one " + landmark);
  if (!document.documentElement.lang) wrong.push("no language");
  if (!document.title) wrong.push("no title");
  return wrong;
})()
"""


def test_what_a_screen_reader_goes_by_is_there(browser, page):
    """
    Landmarks, headings, heads of columns and rows, and a description of each picture.
    """
    browser.open(page)

    assert [] == browser.value(STRUCTURE)


def test_a_screen_reader_is_told_each_call(browser, pages):
    """
    The tree that assistive programs read has each row as a link with its outcome, and
    each picture with what its bars say.
    """
    browser.open(pages["every kind"])
    tree = browser.ask("Accessibility.getFullAXTree")["nodes"]
    told = {}
    for node in tree:
        name = node.get("name", {}).get("value", "")
        told.setdefault(node.get("role", {}).get("value"), []).append(
            (name, node.get("description", {}).get("value", ""))
        )
    links = [name for name, _ in told["link"]]
    [picture] = [what for name, what in told["image"] if name.startswith("flaky")]

    assert {"banner", "main", "contentinfo", "table", "columnheader"} <= set(told)
    assert any(
        name.startswith("3 resize timeout; the body was given up") for name in links
    )
    assert "Attempt 1 failed, from 1.1 s to 1.3 s. Attempt 2 ran" in picture


def test_hostile_words_stay_words(browser, pages):
    """
    Names, ids, arguments and messages are whatever a model has written.
    """
    browser.open(pages["every kind"])
    shown = browser.value("document.body.textContent")

    assert HOSTILE[:40] in shown
    assert "undefined" == browser.value("typeof pwned")
    assert 0 == browser.value(
        "document.querySelectorAll('script,img,[onerror]').length"
    )
    assert "\u202e" not in shown


def test_the_policy_of_the_page_is_kept(browser, pages):
    """
    If something got past the escaping, the page would still run and load nothing.
    """
    browser.open(pages["1"])
    refused = browser.value(
        """new Promise((done) => {
          const refused = [];
          document.addEventListener("securitypolicyviolation", (e) => {
            refused.push(e.effectiveDirective);
            if (refused.length === 3) done(refused.sort());
          });
          const add = (name, facts) =>
            document.body.append(Object.assign(document.createElement(name), facts));
          add("script", {textContent: "pwned = 1"});
          add("img", {src: "http://127.0.0.1:9/x.png"});
          add("style", {textContent: "body { display: none }"});
        })"""
    )

    assert ["img-src", "script-src-elem", "style-src-elem"] == refused
    assert "undefined" == browser.value("typeof pwned")


def test_a_page_can_be_printed(browser, pages):
    """
    On white, with the details that a screen opens on demand.
    """
    browser.open(pages["12"], dark=True)
    browser.ask("Emulation.setEmulatedMedia", media="print")
    ground = browser.value("getComputedStyle(document.body).backgroundColor")
    height = browser.value(
        "document.querySelector('details dl').getBoundingClientRect().height"
    )
    browser.ask("Emulation.setEmulatedMedia", media="")
    printed = browser.ask("Page.printToPDF")["data"]

    assert "rgb(255, 255, 255)" == ground
    assert height > 0
    assert len(printed) > 10_000
