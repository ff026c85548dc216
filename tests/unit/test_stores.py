"""
Stores of results: what is put comes back as it was, for everybody who shares the place.
"""

from __future__ import annotations

import multiprocessing
import re
import sqlite3
import stat
import sys
import threading

from pathlib import Path

import pytest

from engine_tools import HANGS_AFTER
from tooldecl import FileResultStore, SqliteResultStore
from tooldecl.exceptions import DeclarationError, UnknownReferenceError


TEXTS = [
    "plain",
    "",
    "line\nline\r\nline\r",
    "\x00 and \ufeff and \u2028",
    "äöü 漢字 👩‍👩‍👧",
    "half \ud800 character",
    "x" * 3_000_000,
]
STORES = [
    lambda where: FileResultStore(where / "out"),
    lambda where: SqliteResultStore(where / "deep" / "results.db"),
]


@pytest.fixture(params=STORES, ids=["file", "sqlite"])
def store(request, tmp_path):
    """
    Run the test with every store, each in a place that is not there yet.
    """
    return request.param(tmp_path)


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_a_text_comes_back_as_it_was(store, text):
    """
    R115: all of it, to the last character, whatever it holds.
    """
    assert text == store.get(store.put("call_1", text))


def test_nothing_is_made_before_it_is_needed(store, tmp_path):
    """
    A client that never has a long result leaves no empty directory behind.
    """
    with pytest.raises(UnknownReferenceError):
        store.get("call_1-0123456789ab")

    assert [] == list(tmp_path.iterdir())


def test_each_text_has_a_reference_of_its_own(store):
    """
    The same call may be made again, and its ids are the model's to choose.
    """
    references = {store.put("c", str(n)) for n in range(50)}

    assert 50 == len(references)


@pytest.mark.parametrize(
    "call_id",
    ["c1", "", "../../etc/passwd", "a/b\\c", "\x00", "é" * 90, "x\ny", "\ud800", "-rf"],
)
def test_a_reference_is_one_short_safe_word(store, call_id):
    """
    It stands in a text for the model and is part of a path: no id gets out of either.
    """
    reference = store.put(call_id, "text")

    assert re.fullmatch(r"[A-Za-z0-9_-]{1,29}", reference)
    assert len(reference) <= store.longest_reference
    assert "text" == store.get(reference)


ODD = [
    "call_1-0123456789ab",
    "",
    "../secret",
    "..%2fsecret",
    "a/b",
    "a" * 30,
    "secret\x00",
    "secret.txt",
    "secret\n",
    "%",
    None,
    5,
    b"secret",
]


@pytest.mark.parametrize("reference", ODD)
def test_what_was_never_given_is_not_found(store, tmp_path, reference):
    """
    A model may make one up; no path of the host is read because of it.
    """
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    store.put("c", "text")
    with pytest.raises(UnknownReferenceError) as caught:
        store.get(reference)

    assert (reference, f"There is no stored result {reference!r}.", True) == (
        caught.value.reference,
        str(caught.value),
        isinstance(caught.value, KeyError),
    )


def test_a_long_reference_is_not_shown_whole():
    """
    The error's text may go to a model.
    """
    assert len(str(UnknownReferenceError(reference="x" * 10_000))) < 120


@pytest.mark.parametrize("path", ["", None, 5, b"out", "a\0b"])
@pytest.mark.parametrize("kind", [FileResultStore, SqliteResultStore])
def test_what_is_no_path_is_refused(kind, path):
    """
    VAL-07: when the store is made, not when the first result is lost.
    """
    with pytest.raises(DeclarationError) as caught:
        kind(path)

    assert str(caught.value).endswith(
        f" takes a path, as a text that is not empty or a pathlib.Path, got {path!r}."
    )


def test_a_database_in_memory_is_refused():
    """
    It would be another one for every call, and each result lost.
    """
    with pytest.raises(DeclarationError) as caught:
        SqliteResultStore(":memory:")

    assert "SqliteResultStore(path) takes a file, got ':memory:'." == str(caught.value)


def test_a_store_stays_where_it_was_made(store, tmp_path, monkeypatch):
    """
    A host may change its working directory; a relative path is read once.
    """
    monkeypatch.chdir(tmp_path)
    stores = [FileResultStore("here"), SqliteResultStore(Path("here.db"))]
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "there")
    for made in stores:
        assert "text" == made.get(made.put("c", "text"))

    assert {"here", "here.db", "there"} == {p.name for p in tmp_path.iterdir()}


def test_stores_are_shown_by_their_place(tmp_path):
    """
    A host that logs its client's store sees where to look.
    """
    assert [f"FileResultStore('{tmp_path}')", f"SqliteResultStore('{tmp_path}/x')"] == [
        repr(FileResultStore(tmp_path)),
        repr(SqliteResultStore(tmp_path / "x")),
    ]


def test_files_are_for_their_owner_and_nothing_else_is_left(tmp_path):
    """
    Results may be private, and a draft would look like one.
    """
    reference = FileResultStore(tmp_path).put("c", "text")
    [path] = tmp_path.iterdir()

    assert (f"{reference}.txt", 0o600) == (path.name, stat.S_IMODE(path.stat().st_mode))


def test_a_text_that_cannot_be_written_leaves_no_draft(tmp_path):
    """
    The directory's name is taken by a file: the fault is the caller's to hear of.
    """
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(FileExistsError):
        FileResultStore(tmp_path / "out").put("c", "text")

    assert ["out"] == [p.name for p in tmp_path.iterdir()]


def test_a_database_of_something_else_has_no_result(tmp_path):
    """
    Looking makes no table, and a missing one is no fault of the caller's.
    """
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE other (x)")
    connection.commit()
    connection.close()
    with pytest.raises(UnknownReferenceError):
        SqliteResultStore(path).get("c-0123456789ab")


def test_a_table_tells_whose_text_it_is(tmp_path):
    """
    The id is kept whole beside the text, for whoever looks through them.
    """
    SqliteResultStore(tmp_path / "x.db").put("call_1 with a long name", "text")
    connection = sqlite3.connect(tmp_path / "x.db")
    rows = connection.execute("SELECT call_id, text FROM results").fetchall()
    connection.close()

    assert [("call_1 with a long name", b"text")] == rows


def keep(store, together, number, results):
    """
    Put texts once everybody is there, and tell what became of them.
    """
    together.wait(HANGS_AFTER)
    texts = [f"{number}-{n}" for n in range(20)]
    references = [store.put("same", text) for text in texts]
    results.put(texts == [store.get(reference) for reference in references])
    results.put(references)


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_several_put_at_once_into_one_place(store, kind, monkeypatch):
    """
    The first of them makes the place: all begin together, and nothing is lost or mixed.
    """
    # A spawned process finds this module by its name.
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parents[2])])
    context = multiprocessing.get_context("spawn")
    together, results = context.Barrier(4), context.Queue()
    make = context.Process if kind == "processes" else threading.Thread
    parties = [make(target=keep, args=(store, together, n, results)) for n in range(4)]
    for party in parties:
        party.start()
    told = [results.get(timeout=2 * HANGS_AFTER) for _ in range(8)]
    for party in parties:
        party.join()
    references = [r for answer in told if isinstance(answer, list) for r in answer]

    assert (4, 80) == (told.count(True), len(set(references)))
    assert all(store.get(reference) for reference in references)


def test_a_reader_never_sees_half_a_file(tmp_path):
    """
    While texts are put, whatever stands under its name in the directory is whole.
    """
    store, seen, over = FileResultStore(tmp_path), [], threading.Event()
    size = 1_000_000

    def look():
        last = False
        while not last:
            last = over.is_set()
            seen.extend(p.stat().st_size for p in tmp_path.glob("*.txt"))

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(20):
        store.put("c", "x" * size)
    over.set()
    thread.join()

    assert {size} == set(seen)
