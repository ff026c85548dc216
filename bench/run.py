"""
Print the table: what everything costs, beside its floor and its target, in one run.

    python bench/run.py [--only ROW] [--quick] [--rounds N] [--json FILE]

It is no test: whether a target is met is printed and changes no exit code.
The page is docs/explanation/performance.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys

from contextlib import ExitStack
from pathlib import Path


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring import Line, Probe, Served, load, serve
from rows import PROBES
from table import as_data, show


ROUNDS, QUICK = 15, 3
COMMAND = (sys.executable, str(Path(__file__).resolve()), "--serve")


def chosen(only: str | None) -> list[Probe]:
    """
    Return the probes with a row that fits *only*.
    """
    found = [p for p in PROBES if any(fits(Line(row, p.name), only) for row in p.rows)]
    if not found:
        names = ", ".join(probe.name for probe in PROBES)
        raise SystemExit(f"No row fits {only!r}. Probes are: {names}.")

    return found


def fits(line: Line, only: str | None) -> bool:
    """
    Tell whether the title of a line, or the name of its probe, contains *only*.
    """
    words = f"{line.probe}\n{line.row.title}"

    return only is None or only.casefold() in words.casefold()


def tell(what: str) -> None:
    """
    Show how far it is.
    """
    print(f"\r\033[K{what}", end="", file=sys.stderr, flush=True)


def main() -> None:
    """
    Measure, and print.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="ROW", help="rows whose name contains this")
    parser.add_argument("--quick", action="store_true", help="few and small samples")
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS} without this")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures there")
    parser.add_argument("--serve", metavar="PROBE", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(next(p for p in PROBES if p.name == given.serve), quick=given.quick)
        return
    rounds = given.rounds or (QUICK if given.quick else ROUNDS)
    machine = (
        f"Python {platform.python_version()}, {os.cpu_count()} processors, "
        f"{rounds} rounds; load before: {load()}"
    )

    flags = ["--quick"] if given.quick else []
    with ExitStack() as stack:
        served = [
            stack.enter_context(Served(probe, [*COMMAND, probe.name, *flags]))
            for probe in chosen(given.only)
        ]
        for number in range(rounds):
            for one in served:
                if number % one.probe.every == 0:
                    tell(f"round {number + 1} of {rounds}: {one.probe.name}")
                    one.take()
    tell("")
    lines = [line for one in served for line in one.lines if fits(line, given.only)]
    machine += f", after: {load()}"
    print(show(lines, machine))
    if given.json:
        given.json.write_text(json.dumps(as_data(lines, machine), indent=1) + "\n")


if __name__ == "__main__":
    main()
