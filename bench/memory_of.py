"""
Print how many bytes one of something keeps; the argument says of what.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time

from collections.abc import Callable
from pathlib import Path


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from pydantic import TypeAdapter
from rows.sources import functions

from tooldecl import ToolClient, tool


MANY, FEW = 1_000, 200


def resident() -> int:
    """
    Return the bytes of memory that this process has.
    """
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])

    return pages * os.sysconf("SC_PAGE_SIZE")


def adapters(count: int) -> Callable[[], object]:
    """
    Have pydantic make the validator and the schema of functions.
    """
    given = functions(count)

    def make() -> object:
        made = [TypeAdapter(function) for function in given]
        for adapter in made:
            adapter.json_schema()
            adapter.validate_json('{"path": "a"}')

        return made

    return make


def declared(count: int) -> Callable[[], object]:
    """
    Declare functions.
    """
    given = functions(count)

    return lambda: [tool(function) for function in given]


def client(count: int) -> Callable[[], object]:
    """
    Make a client of tools, offer each and call each once.
    """
    given = functions(count)

    def make() -> object:
        made = ToolClient([tool(function) for function in given])
        made.definitions()
        for name in made.table:
            made.invoke(name, '{"path": "a"}').unwrap()

        return made

    return make


def threads(count: int) -> Callable[[], object]:
    """
    Let daemon threads sleep.
    """

    def make() -> object:
        made = [
            threading.Thread(target=time.sleep, args=[60], daemon=True)
            for _ in range(count)
        ]
        for thread in made:
            thread.start()

        return made

    return make


def given_up(count: int) -> Callable[[], object]:
    """
    Give up bodies that sleep.
    """

    @tool(timeout=0.001)
    def hang() -> None:
        """Sleep."""
        time.sleep(60)

    def make() -> object:
        made = ToolClient([hang])
        for _ in range(count):
            made.invoke("hang")

        return made

    return make


SUBJECTS: dict[str, tuple[Callable[[int], Callable[[], object]], int]] = {
    "functions": (lambda count: lambda: functions(count), MANY),
    "adapters": (adapters, MANY),
    "declared": (declared, MANY),
    "client": (client, MANY),
    "threads": (threads, FEW),
    "given up": (given_up, FEW),
}


def main() -> None:
    """
    Make a few, which brings in what is shared, then many, and print what those keep.
    """
    make, count = SUBJECTS[sys.argv[1]]
    few, ready = make(10)(), make(count)
    before = resident()
    many = ready()
    print((resident() - before) / count)
    del few, many, ready
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
