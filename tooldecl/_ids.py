"""
Ids that nobody else has.
"""

from __future__ import annotations

import itertools
import os
import secrets


class _Source:
    """
    Counts under a random prefix; a forked child counts under one of its own.
    """

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        self.prefix = secrets.token_hex(6)
        self.count = itertools.count(1)


_SOURCE = _Source()
os.register_at_fork(after_in_child=_SOURCE.renew)


def new_id(kind: str) -> str:
    """
    Return an id that begins with *kind* and that no other call or process has.
    """
    return f"{kind}_{_SOURCE.prefix}{next(_SOURCE.count)}"
