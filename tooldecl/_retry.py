"""
Whether a failed attempt is repeated, and after how long.

Pure: the clock and the randomness come in through arguments. The pipeline waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._calls import Fate
from ._errors import causes, classify, is_fatal, leaves, retry_after
from ._meta import Retry, ToolMeta
from .exceptions import RemoteError, ToolTimeoutError, WorkerDiedError


# A body that ended late, or may not have ended, has an effect that nobody saw.
_UNSEEN = (Fate.COMPLETED, Fate.ABANDONED)


def backoff(retry: Retry, attempt: int, rng: Callable[[], float]) -> float:
    """
    Return the seconds to wait after failed attempt number *attempt* (from 1).

    *rng* gives numbers from 0 to 1; the wait is spread evenly by ``jitter`` around
    ``delay * factor ** (attempt - 1)`` and never exceeds ``max_delay``.
    """
    if not retry.delay:
        return 0.0
    try:
        wait = retry.delay * retry.factor ** (attempt - 1)
    except OverflowError:
        wait = retry.max_delay
    wait = min(wait, retry.max_delay)
    if retry.jitter:
        wait *= 1 + retry.jitter * (2 * rng() - 1)

    return min(wait, retry.max_delay)


def next_wait(
    meta: ToolMeta,
    *,
    attempt: int,
    error: BaseException,
    fate: Fate,
    spent: float,
    rng: Callable[[], float],
) -> float | None:
    """
    Return the seconds to wait before the next attempt, or None when there is none.

    A server that asks for a longer wait (``Retry-After``) gets it, up to ``max_delay``;
    where it asks for more than that, there is no next attempt.

    Args:
        attempt: Number of the attempt that failed, from 1.
        error: What it raised, or a ToolTimeoutError.
        fate: What became of its body.
        spent: Seconds since the first attempt began.
        rng: Gives numbers from 0 to 1.
    """
    retry = meta.retry
    if retry is None or attempt >= retry.attempts:
        return None
    if not _may_repeat(meta, error, fate) or not is_retryable(retry, error):
        return None
    wait = backoff(retry, attempt, rng)
    asked = retry_after(error)
    if asked is not None:
        if asked > retry.max_delay:
            return None
        wait = max(wait, asked)
    if retry.within is not None and spent + wait >= retry.within:
        return None

    return wait


def _may_repeat(meta: ToolMeta, error: BaseException, fate: Fate) -> bool:
    """
    Whether another run cannot double what this one may still do, or has done unseen.
    """
    if meta.idempotent:
        return True
    if isinstance(error, ToolTimeoutError):
        return error.fate not in _UNSEEN
    if isinstance(error, WorkerDiedError):
        return False

    return fate is not Fate.ABANDONED


def is_retryable(retry: Retry, error: BaseException) -> bool:
    """
    Whether *error* is one that *retry* repeats a body for.

    Raises:
        BaseException: Whatever the author's predicate raises.
    """
    if isinstance(error, RemoteError):  # decided where the exception was
        if error.undecided is not None:
            raise RemoteError(type_names=[error.undecided])
        return error.retryable
    if not isinstance(error, Exception) or is_fatal(error):
        return False
    if retry.on is None:
        return classify(error) == "transient"
    on: Any = retry.on
    if isinstance(on, tuple):
        return _is_one_of(error, on) or all(_is_one_of(e, on) for e in leaves(error))

    return bool(on(error))


def _is_one_of(error: BaseException, types: Any) -> bool:
    """
    Whether *error*, or what it was raised from, is of one of *types*.
    """
    return any(isinstance(cause, types) for cause in causes(error))
