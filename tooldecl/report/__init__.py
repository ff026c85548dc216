"""
See what happened: a hook that keeps it, and one HTML file that shows it.

The matching page is docs/how-to/see-what-happened.md.
"""

from __future__ import annotations

from ._journal import Journal, Recorder, read_journal
from ._render import render, write_report


__all__ = ["Journal", "Recorder", "read_journal", "render", "write_report"]
