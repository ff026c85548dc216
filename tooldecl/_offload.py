"""
Keep a text that is too long for the model, and give the model its head and a reference.
"""

from __future__ import annotations

import asyncio
import logging
import threading

from collections.abc import Callable

from ._answers import Answers
from ._calls import ToolResult
from ._cut import Fitted, head_of
from ._isolation import LoopWaiter, NoThreadError, start_thread
from ._stores import ResultStore
from ._wording import is_encodable
from .exceptions import ResultTooLargeError


logger = logging.getLogger("tooldecl")


def _mark(size: int, reference: str) -> str:
    return f"[text cut, {size} chars in all, kept as {reference}]"


def least_limit(store: ResultStore, limit: int) -> int:
    """
    Return the least limit that the mark of a text beyond *limit* and a character fit in.
    """
    longest: object = getattr(store, "longest_reference", 1)
    reference = "x" * (longest if isinstance(longest, int) else 1)

    return len(_mark(limit + 1, reference)) + 1


def is_too_long(result: ToolResult | None, limit: int | None) -> bool:
    """
    Whether the text of a result is beyond its limit.
    """
    if result is None or limit is None:
        return False

    return result.ok and len(result.content) > limit


def kept(result: ToolResult, answers: Answers, store: ResultStore | None) -> ToolResult:
    """
    Return *result*, which is too long for the model, with its whole text in the store.
    """
    if answers.limit is None or store is None:
        raise AssertionError("unreachable")
    try:
        cut = offload(
            result.content,
            tool=result.name,
            call_id=result.call_id,
            limit=answers.limit,
            store=store,
        )
    except ResultTooLargeError as error:
        return answers.overflowed(result, error)

    return result.replace(
        content=cut.content, truncated=True, original_size=cut.original_size
    )


def offload(
    content: str, *, tool: str, call_id: str, limit: int, store: ResultStore
) -> Fitted:
    """
    Keep *content*, which is longer than *limit*, and return what the model gets.

    Raises:
        ResultTooLargeError: The store failed, or the limit has no room for its mark.
    """
    size = len(content)
    failure = ResultTooLargeError(tool=tool, limit=limit, size=size)
    try:
        reference = _checked(store.put(call_id, content))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # a store of the host's own may raise anything
        logger.warning(
            "The store kept nothing of the result of %r.", tool, exc_info=error
        )
        raise failure from None
    mark = _mark(size, reference)
    head = head_of(content, limit - len(mark))
    if not head:
        logger.warning(
            "The result of %r is kept as %s, but its limit of %d has no room for that.",
            tool,
            reference,
            limit,
        )
        raise failure

    return Fitted(content=f"{head}{mark}", truncated=True, original_size=size)


def _checked(reference: object) -> str:
    """
    Return what a store gave, if it can stand in a text.
    """
    if (
        not isinstance(reference, str)
        or not reference.isprintable()
        or not reference.strip()
        or not is_encodable(reference)
    ):
        raise TypeError("A store's put() returns a reference: a text on one line.")

    return reference


async def away(function: Callable[[], None]) -> None:
    """
    Run *function* on a thread, so that what it waits for does not hold the running loop.
    """
    waiter = LoopWaiter(asyncio.get_running_loop())
    raised: list[BaseException] = []

    def run() -> None:
        try:
            function()
        except BaseException as error:  # it is raised where it is waited for
            raised.append(error)
        waiter.wake()

    try:
        start_thread(threading.Thread(target=run, name="tooldecl-store", daemon=True))
    except NoThreadError:
        function()
        return
    await waiter.wait(None)
    if raised:
        raise raised[0]
