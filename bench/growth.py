"""
Print how the cost of a call grows; with ``--plots FOLDER`` also draw it.

    python bench/growth.py [--plots docs/explanation] [--json FILE]

A point is the median of interleaved rounds. Nothing here should bend upwards but what
the floor beside it bends too. The page is docs/explanation/performance.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias, final


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

import growing

from measuring import Sample, load


# Seconds per call, by size.
Curves: TypeAlias = dict[str, dict[int, float]]

ROUNDS = 7


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """
    A question: what a call costs against the size of something.
    """

    name: str
    title: str
    axis: str
    sizes: Sequence[int]
    measure: Callable[[int], Sample]


GROWTHS = (
    Growth(
        name="tools",
        title="One call, in a client of many tools",
        axis="tools in the client",
        sizes=(1, 10, 100, 1_000, 10_000),
        measure=growing.with_tools,
    ),
    Growth(
        name="arguments",
        title="One call, with large arguments",
        axis="characters of the JSON text",
        sizes=(100, 1_000, 10_000, 100_000, 1_000_000),
        measure=growing.with_arguments,
    ),
    Growth(
        name="batch",
        title="One call of a large batch of async calls",
        axis="calls in the batch",
        sizes=(1, 10, 100, 1_000, 10_000),
        measure=growing.in_batch,
    ),
    Growth(
        name="in-flight",
        title="One timed call, while others are in flight",
        axis="timed calls in flight",
        sizes=(0, 10, 100, 1_000),
        measure=growing.beside_others,
    ),
)


def curves_of(growth: Growth) -> Curves:
    """
    Measure every size in every round.
    """
    samples: dict[int, list[Sample]] = {size: [] for size in growth.sizes}
    for number in range(ROUNDS):
        print(f"\r\033[K{growth.name} {number + 1}", end="", file=sys.stderr)
        for size in growth.sizes:
            samples[size].append(growth.measure(size))
    print("\r\033[K", end="", file=sys.stderr)
    names = samples[growth.sizes[0]][0]

    return {
        name: {
            size: statistics.median(sample[name] for sample in taken)
            for size, taken in samples.items()
        }
        for name in names
    }


def show(growth: Growth, curves: Curves) -> str:
    """
    Return the figures as text.
    """
    names = list(curves)
    width = max(len(growth.axis), 12)
    lines = [f"{growth.title}, us", f"{growth.axis:>{width}}  " + "  ".join(names)]
    for size in growth.sizes:
        cells = [f"{curves[name][size] * 1e6:>{len(name)},.1f}" for name in names]
        lines.append(f"{size:>{width},}  " + "  ".join(cells))

    return "\n".join(lines)


def draw(growth: Growth, curves: Mapping[str, Mapping[int, float]], file: Path) -> None:
    """
    Draw the figures.
    """
    # Only this needs it, and only the sessions of the bench have it.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.2), dpi=110, layout="constrained")
    axes = figure.subplots()
    for name, points in curves.items():
        values = [seconds * 1e6 for seconds in points.values()]
        style = "--" if name.startswith("floor") else "-"
        axes.plot(list(points), values, style, marker="o", markersize=4, label=name)
    axes.set_xscale("symlog" if 0 in growth.sizes else "log")
    axes.set_yscale("log")
    axes.set_xlabel(growth.axis)
    axes.set_ylabel("microseconds per call")
    axes.set_title(growth.title, fontsize=11)
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(file, metadata={"Software": None})


def main() -> None:
    """
    Measure, print and draw.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw into it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write figures there")
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, {ROUNDS} rounds; load: {load()}")
    figures: dict[str, Curves] = {}
    for growth in GROWTHS:
        curves = figures[growth.name] = curves_of(growth)
        print(f"\n{show(growth, curves)}", flush=True)
        if given.plots:
            draw(growth, curves, given.plots / f"growth-{growth.name}.png")
    print(f"\nload: {load()}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
