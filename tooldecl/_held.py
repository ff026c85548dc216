"""
A call that waits for a decision, or for a result from elsewhere.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, final

from ._decisions import Decision
from ._records import record


Kind: TypeAlias = Literal["approval", "external"]


@final
@record(frozen=True, slots=True, kw_only=True)
class Held:
    """
    A call that waits, and all that is needed to take it up again.

    Attributes:
        kind: What it waits for.
        asked: Its arguments as they came to this stage.
        arguments: The same after all edits by those who have approved it.
        place: Which approval it waits for.
        limit: Seconds to wait, or None.
        approved: Which approvals these arguments have already.
    """

    kind: Kind
    asked: dict[str, Any]
    arguments: dict[str, Any]
    place: int
    limit: float | None
    approved: tuple[int, ...] = ()


@final
@record(frozen=True, slots=True, kw_only=True)
class Resumed:
    """
    A call that is taken up again, and what it waited for.

    Attributes:
        held: As it was held.
        decision: What was decided; None where a result has come from elsewhere.
        result: Makes that result.
    """

    held: Held
    decision: Decision | None = None
    result: Any = None
