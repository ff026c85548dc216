"""
Print how many processor instructions one call takes, which no busy machine can change.

    python bench/instructions.py [--only NAME] [--profile NAME]

Each subject runs under valgrind's callgrind in a process that does nothing else beyond
what a process without calls does; the difference is what the calls take. Nothing may
change meanwhile. With ``--profile`` the output is kept, for callgrind_annotate.
The page is docs/explanation/performance.md.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile

from collections.abc import Callable, Sequence
from pathlib import Path


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

CALLS = 400
WARM = 60
FLOOR = "floor: reader, validator, body"
NAMES = (
    "json.loads and the body",
    FLOOR,
    "strict reader alone",
    "sync call, JSON text",
    "sync call, mapping",
    "sync call, retry declared",
    "async call",
    "async call with a timeout",
)
_COLLECTED = re.compile(r"Collected\s*:\s*(\d+)")


def subjects() -> dict[str, Callable[[int], None]]:
    """
    Return what makes so many calls, by name.
    """
    import json

    import bench_tools as tools
    import floors

    from tooldecl import JSONLimits, ToolClient
    from tooldecl._strictjson import loads_strict

    kinds = [tools.plain, tools.retried, tools.awaited, tools.awaited_limited]
    client, text, limits = ToolClient(kinds), tools.TEXT, JSONLimits()
    floor = floors.gate(text, tools.read)

    def repeated(call: Callable[[], object]) -> Callable[[int], None]:
        def run(count: int) -> None:
            for _ in range(count):
                call()

        return run

    def awaited(name: str) -> Callable[[int], None]:
        async def main(count: int) -> None:
            for _ in range(count):
                await client.ainvoke(name, text)

        return lambda count: asyncio.run(main(count))

    runs = (
        repeated(lambda: tools.read(**json.loads(text))),
        repeated(floor),
        repeated(lambda: loads_strict(text, limits)),
        repeated(lambda: client.invoke("plain", text)),
        repeated(lambda: client.invoke("plain", tools.ARGUMENTS)),
        repeated(lambda: client.invoke("retried", text)),
        awaited("awaited"),
        awaited("awaited_limited"),
    )

    return dict(zip(NAMES, runs, strict=True))


def instructions(name: str, count: int, kept: Path | None = None) -> int:
    """
    Return the instructions of a process that makes *count* calls beyond the warm ones.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = kept or Path(folder) / "callgrind.out"
        grind = ("valgrind", "--tool=callgrind", f"--callgrind-out-file={out}")
        said = start(name, count, grind)
    found = _COLLECTED.search(said)
    if found is None:
        raise RuntimeError(said)

    return int(found[1])


def start(name: str, count: int, under: Sequence[str] = ()) -> str:
    """
    Start a process that makes the calls, and return what it says beside them.
    """
    command = [sys.executable, __file__, "--run", name, "--count", str(count)]
    # Bytecode is cached, or compiling would be counted.
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": ""}
    environment.pop("PYTHONMALLOC", None)
    done = subprocess.run(
        [*under, *command], check=True, capture_output=True, text=True, env=environment
    )

    return done.stderr


def be_counted(name: str, count: int) -> None:
    """
    Make the warm calls of every subject, and *count* more of one.
    """
    for each, run in subjects().items():
        run(WARM + count if each == name else WARM)


def count_all(names: Sequence[str]) -> None:
    """
    Print the table.
    """
    start(FLOOR, 0)  # this writes the bytecode
    base = instructions(FLOOR, 0)
    width = max(map(len, NAMES))
    print(f"{'one call':{width}}  instructions  of the floor")
    floor = (instructions(FLOOR, CALLS) - base) / CALLS
    for name in names:
        count = floor
        if name != FLOOR:
            count = (instructions(name, CALLS) - base) / CALLS
        print(f"{name:{width}}  {count:12,.0f}  {count / floor:11.2f}x", flush=True)


def main() -> None:
    """
    Print the table, or be one of the processes that are counted.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=NAMES, nargs="+", default=NAMES)
    parser.add_argument("--profile", choices=NAMES)
    parser.add_argument("--run", choices=NAMES, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=CALLS, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        be_counted(given.run, given.count)
    elif shutil.which("valgrind") is None:
        print("NOT COUNTED: valgrind is not installed, so there are no instructions.")
    elif given.profile:
        kept = Path("callgrind.out").resolve()
        instructions(given.profile, 10 * CALLS, kept)
        print(f"callgrind_annotate {kept.name}")
    else:
        count_all(given.only)


if __name__ == "__main__":
    main()
