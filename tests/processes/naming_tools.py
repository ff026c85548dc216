"""
Tools of every shape that a worker can find by name, and some that it cannot.
"""

from __future__ import annotations

import functools
import threading

from dataclasses import dataclass

from processes.process_tools import apart
from tooldecl import ToolSpec, prefixed, tool


@dataclass
class Shop:
    """
    A shop; its stock crosses with it.
    """

    stock: int

    @apart()
    def count(self, extra: int = 0) -> int:
        """
        Count the stock.
        """
        return self.stock + extra

    @apart()
    @staticmethod
    def double(x: int) -> int:
        """
        Double a number.
        """
        return 2 * x

    @apart()
    @classmethod
    def name(cls) -> str:
        """
        Name the class.
        """
        return cls.__name__


class OtherShop(Shop):
    """
    A shop of another kind.
    """


@dataclass
class Adder:
    """
    A tool that is an object.
    """

    amount: int

    @apart(name="add_amount")
    def __call__(self, x: int) -> int:
        """
        Add the amount.
        """
        return x + self.amount


@dataclass
class AsyncAdder:
    """
    A tool that is an object, and async.
    """

    amount: int

    @apart(name="aadd_amount")
    async def __call__(self, x: int) -> int:
        """
        Add the amount.
        """
        return x + self.amount


@apart()
def scale(x: int, by: int) -> int:
    """
    Scale a number.
    """
    return x * by


@apart()
def scale_again(x: int, by: int) -> int:
    """
    Scale a number.
    """
    return x * by


def filled_in():
    """
    Return a tool that is no function of a module.
    """
    return apart(name="filled")(functools.partial(handle, {"x": 1}))


def handle(arguments: dict[str, int]) -> int:
    """
    Handle a call whose schema is foreign.
    """
    return arguments["x"] + 1


def counted(function):
    """
    Count the calls, as well-behaved decorators do.
    """

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return [1, function(*args, **kwargs)]

    return wrapper


@apart(name="wrapped")
@counted
def under_a_decorator(x: int) -> list[int]:
    """
    Give a number back.
    """
    return x  # type: ignore[return-value]


@apart(name="other_name")
def renamed(x: int) -> int:
    """
    Give a number back.
    """
    return x


@tool
def plain(x: int) -> int:
    """
    Give a number back, wherever the engine puts it.
    """
    return x


class Locked:
    """
    A holder of what does not cross.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()

    @apart()
    def work(self) -> str:
        """
        Work.
        """
        return "worked"


def closure():
    """
    Return a tool that has no name of its own.
    """

    @apart()
    def inner() -> int:
        """
        Give a number.
        """
        return 1

    return inner


def local_method():
    """
    Return a tool of an object whose class has no name of its own.
    """

    class Local:
        @apart()
        def work(self) -> int:
            """
            Give a number.
            """
            return 1

    return Local().work


SPEC = ToolSpec(
    name="foreign",
    description="Handle.",
    input_schema={
        "type": "object",
        "properties": {"x": {"type": "integer"}},
        "required": ["x"],
    },
    handler=handle,
)
LAMBDA = apart(name="short", description="Short.")(lambda: 1)

NAMED = {
    "count": (lambda: Shop(40).count, {"extra": 2}, 42),
    "double": (lambda: Shop.double, {"x": 4}, 8),
    "name": (lambda: OtherShop.name, {}, "OtherShop"),
    "add_amount": (lambda: Adder(2).__call__, {"x": 1}, 3),
    "aadd_amount": (lambda: AsyncAdder(2).__call__, {"x": 1}, 3),
    "scale": (lambda: functools.partial(scale, by=3), {"x": 2}, 6),
    "scale_again": (
        lambda: functools.partial(functools.partial(scale_again, by=3), 5),
        {},
        15,
    ),
    "foreign": (lambda: SPEC, {"x": 1}, 2),
    "wrapped": (lambda: under_a_decorator, {"x": 1}, [1, 1]),
    "other_name": (lambda: renamed, {"x": 1}, 1),
    "plain": (lambda: plain, {"x": 1}, 1),
    "shop_count": (lambda: prefixed("shop", [Shop(1).count]), {}, 1),
    "shop_foreign": (lambda: prefixed("shop", [SPEC]), {"x": 1}, 2),
}
