"""
Hooks that take texts along into workers, as a host would write them.
"""

from __future__ import annotations

import contextvars
import os

from processes.process_tools import apart


NAME = contextvars.ContextVar("name", default="nobody")
ELSEWHERE = contextvars.ContextVar("elsewhere", default="nothing")


class CarryName:
    """
    Takes the name of whoever calls along.
    """

    def __call__(self, event):
        """
        Watch nothing.
        """

    def carry(self):
        """
        Take the name.
        """
        return {"name": NAME.get(), "host": str(os.getpid())}

    @staticmethod
    def restore(values):
        """
        Set it, in the worker.
        """
        NAME.set(values["name"])
        ELSEWHERE.set(str(os.getpid() != int(values["host"])))


class CarryTooMuch(CarryName):
    """
    Takes more along than there is room for.
    """

    def carry(self):
        """
        Take a great deal.
        """
        return {"name": "x" * 30_000}


class FailToCarry(CarryName):
    """
    Has nothing, and says so badly.
    """

    def carry(self):
        """
        Fail.
        """
        raise LookupError("nothing there")


class FailToRestore(CarryName):
    """
    Cannot restore what it took along.
    """

    @staticmethod
    def restore(values):
        """
        Fail, in the worker.
        """
        raise LookupError("not here")


@apart(timeout=30)
def who() -> list[str]:
    """
    Tell who called.
    """
    return [NAME.get(), ELSEWHERE.get()]


@apart(timeout=30)
async def who_async() -> list[str]:
    """
    Tell who called.
    """
    return [NAME.get(), ELSEWHERE.get()]
