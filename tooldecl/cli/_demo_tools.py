"""
The demo's tools: five that a model may call, and some that show how a call can end.
"""

from __future__ import annotations

import sqlite3
import threading

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import final

from .. import NotFound, Retry, ToolContext, tool
from ._demo_parts import Carrier, Database, Hit, Pages


PATIENCE = 0.5  # seconds that the carrier gets
ATTEMPTS = 3

_NO_ORDER = "No order has this number."


@final
class Entries:
    """
    Counts how often the body of each tool was entered; safe from any thread.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def enter(self, name: str) -> None:
        """
        Count one entry.
        """
        with self._lock:
            self._counts[name] += 1

    def counts(self) -> dict[str, int]:
        """
        Return the entries until now, by name.
        """
        with self._lock:
            return dict(self._counts)

    def total(self) -> int:
        """
        Return the entries of all bodies together.
        """
        return sum(self.counts().values())


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """
    What the shop knows about an order.
    """

    item: str
    state: str
    price: float


@final
class ShopTools:
    """
    The tools over the shop's database, its carrier, and the pages of tooldecl.
    """

    def __init__(
        self, database: Database, carrier: Carrier, pages: Pages, entries: Entries
    ) -> None:
        self._database = database
        self._carrier = carrier
        self._pages = pages
        self._entries = entries

    @tool
    def look_up_order(self, order: int) -> Order:
        """
        Look up an order in the shop's database: its item, its state and its price.

        Args:
            order: Number of the order.
        """
        self._entries.enter("look_up_order")
        with self._database.opened() as connection:
            row = connection.execute(
                "SELECT item, state, price FROM orders WHERE number = ?", (order,)
            ).fetchone()
        if row is None:
            raise NotFound(_NO_ORDER)

        return Order(item=row["item"], state=row["state"], price=row["price"])

    @tool(retry=Retry(attempts=ATTEMPTS, delay=0.02, jitter=0))
    def count_stock(self, item: str) -> int:
        """
        Count how many pieces of an item are in stock.

        Args:
            item: Name of the item.
        """
        self._entries.enter("count_stock")
        singular = item.strip().lower().removesuffix("s")
        with self._database.opened() as connection:
            row = connection.execute(
                "SELECT pieces FROM stock WHERE item = ?", (singular,)
            ).fetchone()
        if row is None:
            raise NotFound("The shop does not have this item.")
        pieces: int = row["pieces"]

        return pieces

    @tool(timeout=PATIENCE)
    def track_parcel(self, order: int) -> str:
        """
        Ask the carrier where the parcel of an order is.

        Args:
            order: Number of the order.
        """
        self._entries.enter("track_parcel")
        parcel = self._carrier.ask(order)
        if parcel is None:
            raise NotFound(_NO_ORDER)
        place: str = parcel["place"]

        return place

    @tool(timeout=PATIENCE)
    async def arrival_date(self, order: int, context: ToolContext) -> date:
        """
        Ask the carrier on which day an order arrives.

        Args:
            order: Number of the order.
        """
        self._entries.enter("arrival_date")
        context.progress(0, 1, "asking the carrier")
        parcel = await self._carrier.aask(order)
        if parcel is None:
            raise NotFound(_NO_ORDER)

        return date.fromisoformat(parcel["arrives"])

    @tool(result_limit=2_000, on_overflow="truncate")
    def search_docs(self, words: str) -> list[Hit]:
        """
        Search the documentation of tooldecl for words.

        Args:
            words: Words to search for.
        """
        self._entries.enter("search_docs")
        hits = self._pages.search(words, 3)
        if not hits:
            raise NotFound("No page has any of these words.")

        return hits

    @tool
    def sales_report(self, year: int) -> int:
        """
        Count the sales of a year, in a table that nobody has made.

        Args:
            year: The year.
        """
        self._entries.enter("sales_report")
        with self._database.opened() as connection:
            query = "SELECT count(*) FROM sales WHERE year = ?"
            sales: int = connection.execute(query, (year,)).fetchone()[0]

        return sales

    @tool(result_limit=100)
    def export_orders(self) -> list[list[object]]:
        """
        Return every order there is, which is more than a model shall read.
        """
        self._entries.enter("export_orders")
        with self._database.opened() as connection:
            return [list(row) for row in connection.execute("SELECT * FROM orders")]

    @tool(sensitive=True)
    def refund(self, order: int, amount: float) -> str:
        """
        Pay back an amount for an order, which somebody has to approve.

        Args:
            order: Number of the order.
            amount: The amount.
        """
        self._entries.enter("refund")
        with self._database.opened() as connection, connection:
            connection.execute("INSERT INTO refunds VALUES (?, ?)", (order, amount))

        return f"refunded {amount:.2f}"

    @tool(external=True)
    def sign(self, order: int) -> bool:
        """
        Let the customer sign for an order, on a phone.

        Args:
            order: Number of the order.
        """
        raise NotImplementedError(order)

    @tool
    def latest_order(self) -> object:
        """
        Return the latest order as the database gives it, which has no JSON form.
        """
        self._entries.enter("latest_order")
        with self._database.opened() as connection:
            row: sqlite3.Row = connection.execute(
                "SELECT * FROM orders ORDER BY number DESC"
            ).fetchone()

        return row

    def for_the_model(self) -> list[object]:
        """
        List the tools that a model is shown.
        """
        return [
            self.look_up_order,
            self.count_stock,
            self.track_parcel,
            self.arrival_date,
            self.search_docs,
        ]

    def that_wait(self) -> list[object]:
        """
        List the tools that wait for somebody.
        """
        return [self.refund, self.sign]

    def that_go_wrong(self) -> list[object]:
        """
        List the tools whose results cannot be sent.
        """
        return [self.sales_report, self.export_orders, self.latest_order]


@tool(name="search_docs")
def search_the_web(words: str) -> list[str]:
    """
    Search the web: a second tool under a name that is taken.

    Args:
        words: Words to search for.
    """
    return [words]
