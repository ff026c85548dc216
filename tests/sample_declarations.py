"""
Tools that can be imported again, for pickling, reloading and taking them as a module.
"""

from __future__ import annotations

import functools

from dataclasses import dataclass
from typing import Any

from tooldecl import ToolSpec, tool
from tooldecl._refs import ref_to as imported_function  # noqa: F401 (not a tool)


@tool
def add(x: int, y: int = 2) -> int:
    """
    Add two integers.
    """
    return x + y


@tool(name="fetch_page", timeout=5, tags=["web"])
async def fetch(url: str) -> str:
    """
    Fetch a page.
    """
    return url


@dataclass
class Shop:
    """
    A shop whose tools work on its own stock.
    """

    stock: int

    @tool
    def count(self, extra: int = 0) -> int:
        """
        Count the stock.
        """
        return self.stock + extra

    @tool
    @staticmethod
    def double(x: int) -> int:
        """
        Double a number.
        """
        return 2 * x

    @staticmethod
    @tool
    def triple(x: int) -> int:
        """
        Triple a number.
        """
        return 3 * x

    @tool
    @classmethod
    def named(cls, x: int) -> str:
        """
        Say the name of the class.
        """
        return cls.__name__ * x

    @classmethod
    @tool
    def called(cls, x: int) -> str:
        """
        Say the name of the class too.
        """
        return cls.__name__ * x

    @tool
    async def later(self, x: int) -> int:
        """
        Count the stock, later.
        """
        return self.stock * x


def _handle(arguments: dict[str, Any]) -> int:
    return len(arguments)


counted = ToolSpec(
    name="counted",
    description="Count the arguments.",
    input_schema={"type": "object", "properties": {"a": {"type": "integer"}}},
    handler=_handle,
)

add_five = tool(name="add_five")(functools.partial(add, 5))
