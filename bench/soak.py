"""
Thousands of bodies that hang, die or end late: what is late, what is lost, what is left.

    python bench/soak.py [--quick]

It prints tables, and ends with a line that says whether anything is left running; the
exit code is 1 if something is. The page is docs/explanation/soak.md.
"""

from __future__ import annotations

import faulthandler
import os
import platform
import resource
import sys
import time

from pathlib import Path


# With PYTHONSAFEPATH the folder of a script is not searched.
sys.path.insert(0, str(Path(__file__).resolve().parent))

from soak_batches import large
from soak_calls import QUICK, Sizes
from soak_census import Machine, left_over, marked, show, take_census
from soak_hanging import hanging, lateness
from soak_kills import MARKERS, kills, shooting


PARTS = (hanging, lateness, large, kills, shooting)


def main() -> int:
    """
    Run it; return the exit code.
    """
    is_quick = "--quick" in sys.argv[1:]
    sizes, machine = QUICK if is_quick else Sizes(), Machine()
    # A hang shows every thread, and ends the run.
    faulthandler.dump_traceback_later(60 if is_quick else 300, exit=True)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    print(
        f"Python {platform.python_version()}, {os.cpu_count()} processors, "
        f"{most} descriptors; {machine.look()}"
    )
    before, began = take_census(), time.monotonic()
    for number, part in enumerate(PARTS, 1):
        title, heads, rows = part(sizes)
        show(f"{number}. {title}; {machine.look()}", heads, rows)
    left = left_over(before)
    left += [f"process {pid}" for marker in MARKERS for pid in marked(marker)]
    faulthandler.cancel_dump_traceback_later()
    print(f"\n{time.monotonic() - began:.0f} s; {machine.look()}")
    print(f"LEFT RUNNING: {', '.join(left)}." if left else "Nothing is left running.")

    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
