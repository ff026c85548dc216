"""
The tools of a small shop, to try the command line on.
"""

from __future__ import annotations

import asyncio
import time

from tooldecl import NotFound, Retry, tool


ORDERS = {7: "a lamp, on its way", 8: "two chairs, delivered"}


@tool
def find_order(number: int) -> str:
    """
    Find an order by its number.

    Args:
        number: The order's number, as on the bill.
    """
    if number not in ORDERS:
        raise NotFound(f"There is no order {number}.")

    return ORDERS[number]


@tool(timeout=0.5, retry=Retry(attempts=2, delay=0.1), idempotent=True)
async def count_stock(item: str) -> int:
    """
    Count how many of an item are in the warehouse.

    Args:
        item: What to count, in the singular.
    """
    await asyncio.sleep(0.05)

    return len(item)


@tool(timeout=0.3, isolation="process")
def plan_delivery(stops: int) -> str:
    """
    Plan a round through several stops; it takes its time.

    Args:
        stops: How many stops the round has.
    """
    time.sleep(stops)

    return f"a round of {stops} stops"
