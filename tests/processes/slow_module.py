"""
A module that takes its time in a worker.
"""

from __future__ import annotations

import sys
import time

from processes.process_tools import apart


if sys.argv[0] == "-c":
    time.sleep(2)


@apart()
def work() -> str:
    """
    Work.
    """
    return "worked"
