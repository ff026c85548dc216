"""
Print what calls cost in other packages, beside the same calls of this one.

    python bench/run_peers.py ENVIRONMENTS [--only PEER] [--rounds N] [--json FILE]

ENVIRONMENTS has a virtual environment for each peer, with this package in it too:
`nox -s bench_peers` makes them. In every round each peer gets a fresh process, in which
its calls and ours take turns.
The page is docs/explanation/performance.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from measuring import Line, Row, Sample, load
from peers import NAMES
from table import as_data, show


ROUNDS = 7
SCRIPT = Path(__file__).resolve().with_name("peer.py")
OURS = "the same kind of call here, in the same process"
# How many times as long the calls of a peer have to take.
TARGETS: Mapping[tuple[str, str], float] = {
    ("pydantic_ai", "async"): 1 / 0.5,
    ("pydantic_ai", "async limited"): 1 / 0.42,
}
AHEAD = 10.0
# These do not validate what they pass on.
UNCHECKED = ("retrying", "pebble")


def main() -> None:
    """
    Measure, and print.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environments", type=Path)
    parser.add_argument("--only", choices=NAMES, help="one peer")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures there")
    given = parser.parse_args()
    names = [given.only] if given.only else list(NAMES)
    samples: dict[str, list[Sample]] = {name: [] for name in names}
    versions: dict[str, str] = {}
    before = load()
    for number in range(given.rounds):
        for name in names:
            print(f"\r\033[Kround {number + 1}: {name}", end="", file=sys.stderr)
            measured = ask(given.environments / name / "bin" / "python", name)
            samples[name].append(measured["sample"])
            versions |= measured["versions"]
    print("\r\033[K", end="", file=sys.stderr)
    lines = [line for name in names for line in lines_of(name, samples[name])]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    machine = f"{listed}; {given.rounds} rounds; load before: {before}, after: {load()}"
    print(show(lines, machine))
    if given.json:
        given.json.write_text(json.dumps(as_data(lines, machine), indent=1) + "\n")


def ask(python: Path, name: str) -> dict[str, Any]:
    """
    Return what a fresh process of the peer's environment measured.
    """
    done = subprocess.run(
        [python, SCRIPT, name], check=True, stdout=subprocess.PIPE, text=True
    )
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])

    return measured


def lines_of(name: str, samples: list[Sample]) -> Iterator[Line]:
    """
    Put each kind of call beside ours.
    """
    for kind in samples[0]:
        if kind.startswith("ours: "):
            continue
        own = own_kind(kind)
        least = TARGETS.get((name, kind))
        if own == "sync" and name not in UNCHECKED:
            least = AHEAD
        yield Line(row(name, kind, own, least), name, samples)
        if kind == "sync" and name != "smolagents":
            yield Line(row(name, kind, "sync awaited", None), name, samples)


def own_kind(kind: str) -> str:
    """
    Return the kind of ours that a call is compared with.
    """
    name, _, rest = kind.partition(", ")
    if name in ("tenacity", "stamina"):
        return "retry" if rest == "sync" else "async"

    return name


def row(peer: str, kind: str, own: str, least: float | None) -> Row:
    """
    Return the row: the floor is ours.
    """
    beside = ", ours awaited too" if own == "sync awaited" else ""

    return Row(
        title=f"{peer}: {kind}{beside}",
        value=kind,
        unit="us",
        floor=f"ours: {own}",
        what=OURS,
        least=least,
    )


if __name__ == "__main__":
    main()
