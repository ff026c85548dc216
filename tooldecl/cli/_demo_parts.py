"""
The real parts that the demo's tools work on: a database, a service, and pages of text.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import sqlite3
import threading

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, final

from ..telemetry import AttemptFailed, CallFinished, CallStarted, Event


HANGING_ORDER = 1004

_ORDERS = [
    (1001, "desk lamp", "delivered", 49.9),
    (1002, "oak shelf", "shipped", 120.0),
    (1003, "desk lamp", "shipped", 49.9),
    (1004, "wall clock", "shipped", 35.5),
    (1005, "oak shelf", "open", 120.0),
]
_STOCK = [("lamp", 7), ("shelf", 0), ("clock", 12)]


@final
class Database:
    """
    An SQLite file with the orders and the stock of a shop.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self.opened() as connection, connection:
            connection.executescript(
                "CREATE TABLE orders (number INTEGER PRIMARY KEY, item, state, price);"
                "CREATE TABLE stock (item PRIMARY KEY, pieces INTEGER);"
                "CREATE TABLE refunds (number INTEGER, amount);"
            )
            connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", _ORDERS)
            connection.executemany("INSERT INTO stock VALUES (?, ?)", _STOCK)

    @contextlib.contextmanager
    def opened(self) -> Generator[sqlite3.Connection, None, None]:
        """
        Open a connection that fails at once where the file is locked.
        """
        with contextlib.closing(self.connection()) as connection:
            yield connection

    def connection(self) -> sqlite3.Connection:
        """
        Return such a connection, to be closed by any thread.
        """
        connection = sqlite3.connect(self._path, timeout=0, check_same_thread=False)
        connection.row_factory = sqlite3.Row

        return connection


@final
class OtherWriter:
    """
    Another program, which has the database locked whenever `count_stock` is called.

    It is a hook, so that the lock goes with a failed attempt and not with time: the
    demo shows the same attempts on a slow machine as on a fast one.

    Attributes:
        patience: The failed attempt after which it lets go; None is none of them.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock: sqlite3.Connection | None = None
        self.patience: int | None = 2

    def __call__(self, event: Event) -> None:
        if getattr(event, "name", None) != "count_stock":
            return
        match event:
            case CallStarted():
                self.close()
                self._lock = self._database.connection()
                self._lock.execute("BEGIN EXCLUSIVE")
            case AttemptFailed(attempt=self.patience) | CallFinished():
                self.close()
            case _:
                pass

    def close(self) -> None:
        """
        Let go of the database.
        """
        if self._lock is not None:
            self._lock.close()
            self._lock = None


@final
class Carrier:
    """
    An HTTP service on the loopback interface that never answers about one order.
    """

    def __init__(self) -> None:
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        # A daemon, as its handlers are: one of them hangs when the demo is over.
        threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        ).start()

    def ask(self, order: int) -> dict[str, Any] | None:
        """
        Ask about an order, for as long as it takes; None when it is not known.
        """
        host, port = self._address
        connection = HTTPConnection(host, port)
        with contextlib.closing(connection):
            connection.request("GET", f"/orders/{order}")
            return _read(connection.getresponse().read())

    async def aask(self, order: int) -> dict[str, Any] | None:
        """
        Ask about an order from async code; as `ask`.
        """
        reader, writer = await asyncio.open_connection(*self._address)
        with contextlib.closing(writer):
            writer.write(f"GET /orders/{order} HTTP/1.0\r\n\r\n".encode())
            response = await reader.read()

        return _read(response.partition(b"\r\n\r\n")[2])

    @property
    def _address(self) -> tuple[str, int]:
        return "127.0.0.1", self._server.server_port

    def close(self) -> None:
        """
        Stop, and hang up on whoever still waits; nothing is waited for.
        """
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        closing = self._closing

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                order = int(self.path.rpartition("/")[2])
                if order == HANGING_ORDER:
                    closing.wait()
                    return
                body = json.dumps(_PARCELS.get(order)).encode()
                self.send_response_only(200)  # and write nothing to stderr
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler


_PARCELS = {
    1001: {"place": "delivered", "arrives": "2031-05-02"},
    1002: {"place": "Hamburg", "arrives": "2031-05-06"},
    1003: {"place": "Lyon", "arrives": "2031-05-07"},
    1005: {"place": "warehouse", "arrives": "2031-05-09"},
}


def _read(body: bytes) -> dict[str, Any] | None:
    answer: dict[str, Any] | None = json.loads(body)

    return answer


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """
    A line of a page that has words that were looked for.
    """

    page: str
    line: int
    text: str


@final
class Pages:
    """
    The documentation of tooldecl: the copy in the package, or the one of a checkout.

    Attributes:
        names: The names of the pages.
    """

    def __init__(self) -> None:
        package = files("tooldecl")
        folder: Traversable = package.joinpath("_docs")
        if not folder.is_dir():
            checkout = Path(str(package)).parent
            folder = checkout / "docs"
            if not (checkout / "pyproject.toml").is_file():
                raise FileNotFoundError("This copy of tooldecl has no documentation.")
        self._pages = {
            name: page.read_text(encoding="utf-8").splitlines()
            for name, page in sorted(_pages_below(folder, ""))
        }
        self.names = tuple(self._pages)

    def search(self, words: str, limit: int) -> list[Hit]:
        """
        Return the lines with most of *words*, at most *limit* of them.
        """
        wanted = {word.casefold() for word in re.findall(r"\w+", words)}
        found = [
            (len(wanted & set(re.findall(r"\w+", text.casefold()))), name, line, text)
            for name, lines in self._pages.items()
            for line, text in enumerate(lines, 1)
        ]
        best = sorted((hit for hit in found if hit[0]), key=lambda hit: -hit[0])

        return [
            Hit(page=name, line=line, text=text.strip())
            for _, name, line, text in best[:limit]
        ]


def _pages_below(folder: Traversable, prefix: str) -> Iterator[tuple[str, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _pages_below(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".md"):
            yield f"{prefix}{entry.name}", entry
