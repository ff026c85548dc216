"""
Rules about what was declared and does not do what its words say.
"""

from __future__ import annotations

import dis
import inspect
import types
import typing

from collections.abc import AsyncIterable, Awaitable, Iterator
from inspect import Parameter

from ._outline import types_of
from ._subjects import Subject


_AWAITS = {"GET_AWAITABLE", "GET_ANEXT", "SEND"}


def unstoppable(tool: Subject) -> Iterator[str]:
    """
    Find a timeout that answers in time and stops nothing.
    """
    if _is_abandoned(tool):
        yield (
            f"the timeout of {tool.timeout:g} s is on a body in a thread, which cannot "
            "be stopped and will be abandoned: it may take effect after its answer. "
            "isolation='process' stops it"
        )


def retry_after_timeout(tool: Subject) -> Iterator[str]:
    """
    Find a retry that the first timeout ends.
    """
    retry = tool.meta.retry
    if (
        retry
        and retry.attempts > 1
        and not tool.meta.idempotent
        and _is_abandoned(tool)
    ):
        yield (
            "the retry does nothing after a timeout: the body may still be running, and "
            "the tool is not declared idempotent"
        )


def _is_abandoned(tool: Subject) -> bool:
    """
    Whether the timeout leaves a body behind that goes on.
    """
    if tool.timeout is None or tool.meta.external or tool.meta.is_async:
        return False

    return tool.isolation in (None, "thread")


def approval_in_line(tool: Subject) -> Iterator[str]:
    """
    Find a person whom other calls wait for.
    """
    if tool.meta.sensitive and tool.meta.serial:
        serial = tool.meta.serial
        who = "its batch" if serial is True else f"the group {serial!r}"
        yield (
            f"while somebody decides about it, the other calls of {who} wait; Suspend() "
            "decides later without holding them up"
        )


def never_awaits(tool: Subject) -> Iterator[str]:
    """
    Find an async body that blocks its loop, where its timeout is only noticed late.
    """
    if tool.code is None or tool.timeout is None or tool.isolation is not None:
        return
    if not tool.code.co_flags & inspect.CO_COROUTINE or tool.meta.external:
        return
    if not any(step.opname in _AWAITS for step in dis.get_instructions(tool.code)):
        yield (
            f"the timeout of {tool.timeout:g} s is on an async body that never awaits: "
            "it holds its loop until it ends. Make it a plain def, or declare an "
            "isolation"
        )


def nothing_to_repair(tool: Subject) -> Iterator[str]:
    """
    Find ``coerce="repair"`` on a tool that takes no list and no object.
    """
    if tool.meta.coerce != "repair":
        return
    taken = (types_of(p.node, tool.schema) for p in tool.parameters)
    if all(types and not types & {"array", "object"} for types in taken):
        yield "coerce='repair' does nothing: no parameter takes a list or an object"


def returns_no_json(tool: Subject) -> Iterator[str]:
    """
    Find a return type of which nothing can be sent.
    """
    hint = _result_of(tool.returns)
    if hint in (Parameter.empty, None, types.NoneType, typing.Any, object):
        return
    if "outputSchema" not in tool.definition:
        name = getattr(hint, "__name__", str(hint))
        yield (
            f"it returns {name}, which has no JSON form that can be described: a result "
            "of that type is unencodable"
        )


def _result_of(hint: object) -> object:
    """
    Return what comes out of an awaitable; of a stream nothing is known as a whole.
    """
    origin = typing.get_origin(hint) or hint
    if not isinstance(origin, type):
        return hint
    if issubclass(origin, (Iterator, AsyncIterable)):
        return Parameter.empty
    if issubclass(origin, Awaitable):
        return (typing.get_args(hint) or (Parameter.empty,))[-1]

    return hint
