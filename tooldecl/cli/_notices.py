"""
What is said beside the results, on standard error.
"""

from __future__ import annotations

import logging

from collections.abc import Generator
from contextlib import contextmanager

from ._words import plain


_LOGGER = logging.getLogger("tooldecl")


def tell(text: str) -> None:
    """
    Say something, whatever is in it.
    """
    import click

    click.echo(plain(text, lines=True), err=True)


class _Teller(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        tell(self.format(record))


@contextmanager
def telling(level: int = logging.INFO) -> Generator[None, None, None]:
    """
    Say what the library logs meanwhile.
    """
    teller = _Teller(level)
    teller.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    before = _LOGGER.level
    _LOGGER.addHandler(teller)
    _LOGGER.setLevel(min(level, before) if before else level)
    try:
        yield
    finally:
        _LOGGER.setLevel(before)
        _LOGGER.removeHandler(teller)
