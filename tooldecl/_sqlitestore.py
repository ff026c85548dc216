"""
Keep texts in one SQLite file.

The matching page is docs/how-to/limit-results.md.
"""

from __future__ import annotations

import sqlite3

from contextlib import closing
from pathlib import Path
from typing import ClassVar, final

from ._stores import LONGEST_REFERENCE, checked_path, is_reference, new_reference
from .exceptions import DeclarationError, UnknownReferenceError


__all__ = ["SqliteResultStore"]

# Who finds the file locked waits so many seconds for it.
LOCK_SECONDS = 30.0

_TABLE = (
    "CREATE TABLE IF NOT EXISTS results "
    "(reference TEXT PRIMARY KEY, call_id TEXT NOT NULL, text BLOB NOT NULL)"
)


@final
class SqliteResultStore:
    """
    Keeps texts in a table ``results`` of one file; threads and processes may share it.

    The file is made when it is first needed. Each call opens it for itself, so nothing
    is kept open, and nothing has to be closed. Nothing is ever deleted.

    Args:
        path: The file; a database in memory would be another one for each call.

    Raises:
        DeclarationError: *path* names no file.
    """

    longest_reference: ClassVar[int] = LONGEST_REFERENCE

    def __init__(self, path: str | Path) -> None:
        if path == ":memory:":
            raise DeclarationError(
                "SqliteResultStore(path) takes a file, got ':memory:'."
            )
        self._path = checked_path(path, "SqliteResultStore(path)")

    def put(self, call_id: str, text: str) -> str:
        """
        Insert *text*.
        """
        self._path.parent.mkdir(parents=True, exist_ok=True)
        data = text.encode("utf-8", "surrogatepass")
        name = call_id.encode("utf-8", "replace").decode()
        with closing(self._connect()) as connection:
            # The lock to write comes first: a reader that wants it later may not wait.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(_TABLE)
            row = (reference := new_reference(call_id), name, data)
            connection.execute("INSERT INTO results VALUES (?, ?, ?)", row)
            connection.execute("COMMIT")

        return reference

    def get(self, reference: str) -> str:
        """
        Select the text of a reference.

        Raises:
            UnknownReferenceError: There is none.
        """
        row: tuple[bytes] | None = None
        if is_reference(reference) and self._path.exists():
            row = self._row(reference)
        if row is None:
            raise UnknownReferenceError(reference=reference)

        return row[0].decode("utf-8", "surrogatepass")

    def _row(self, reference: str) -> tuple[bytes] | None:
        with closing(self._connect()) as connection:
            query = "SELECT name FROM sqlite_master WHERE name = 'results'"
            if connection.execute(query).fetchone() is None:
                return None
            query = "SELECT text FROM results WHERE reference = ?"
            row: tuple[bytes] | None = connection.execute(
                query, (reference,)
            ).fetchone()

        return row

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=LOCK_SECONDS, isolation_level=None)

    def __repr__(self) -> str:
        return f"SqliteResultStore({str(self._path)!r})"
