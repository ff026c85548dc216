"""
Tell "not given" from ``None``.
"""

from __future__ import annotations

import enum

from typing import Final, Literal, TypeAlias


class Sentinel(enum.Enum):
    """
    The type of `UNSET`; an enum member, so that ``is`` narrows for type checkers.
    """

    UNSET = "UNSET"

    def __repr__(self) -> str:
        return self.name

    def __bool__(self) -> bool:
        return False


Unset: TypeAlias = Literal[Sentinel.UNSET]
UNSET: Final = Sentinel.UNSET
