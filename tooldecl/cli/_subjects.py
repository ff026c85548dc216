"""
What is known about one tool, for the rules of `tooldecl check`.
"""

from __future__ import annotations

import logging

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter, getattr_static
from types import CodeType
from typing import final

from .. import UNSET, ToolClient, ToolMeta
from ._outline import Schema, member, members


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """
    One parameter that a model is offered.

    Attributes:
        name: The name that the model is shown.
        node: What the schema says of it.
        default: Its default in Python; `Parameter.empty` where it has none.
    """

    name: str
    node: Schema
    default: object


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """
    One tool of a client, and what stands around it.

    Attributes:
        meta: What was declared.
        definition: What a model is shown, as MCP has it.
        schema: The schema of the arguments in that.
        parameters: What it takes, by name; the defaults only of what was read from a
            function.
        documented: Parameters that its docstring describes.
        code: The code of its function, or None.
        returns: The hint of what is returned; `Parameter.empty` where there is none.
        timeout: The timeout in force, or None.
        isolation: Where its body runs; None is its caller's thread or loop.
        not_strict: Why OpenAI's strict mode has no form of it, or "".
        before: The tools that stand before it.
        all: All tools of the client.
    """

    meta: ToolMeta
    definition: Schema
    schema: Schema
    parameters: tuple[Taken, ...]
    documented: frozenset[str]
    code: CodeType | None
    returns: object
    timeout: float | None
    isolation: str | None
    not_strict: str
    before: tuple[ToolMeta, ...]
    all: tuple[ToolMeta, ...]


def subjects_of(client: ToolClient) -> list[Subject]:
    """
    Return every tool of a client, with what the rules want to know.
    """
    shown = client.definitions(format="mcp")
    reasons = _reasons(client)
    metas = list(client.table.values())

    return [
        _subject(client, metas, place, one, reasons) for place, one in enumerate(shown)
    ]


def _subject(
    client: ToolClient,
    metas: Sequence[ToolMeta],
    place: int,
    definition: Schema,
    reasons: Mapping[str, str],
) -> Subject:
    meta = metas[place]
    schema = member(definition, "inputSchema")
    read = client.table.entry(meta.name).declared.read
    offered = [] if read is None else [p for p in read.parameters() if not p.injected]
    defaults = [p.default for p in offered] or [Parameter.empty] * len(members(schema))
    engine = client.engine

    return Subject(
        meta=meta,
        definition=definition,
        schema=schema,
        parameters=tuple(
            Taken(name=name, node=node, default=default)
            for (name, node), default in zip(
                members(schema).items(), defaults, strict=True
            )
        ),
        documented=frozenset() if read is None else frozenset(read.doc.parameters),
        code=None if read is None else _code_of(read.inside),
        returns=Parameter.empty if read is None else read.returns(),
        timeout=engine.timeout if meta.timeout is UNSET else meta.timeout,
        isolation=_isolation(meta, engine.default_isolation),
        not_strict=reasons.get(meta.name, ""),
        before=tuple(metas[:place]),
        all=tuple(metas),
    )


def _isolation(meta: ToolMeta, of_engine: str | None) -> str | None:
    if meta.isolation is not UNSET:
        return meta.isolation

    return None if meta.is_async and of_engine == "thread" else of_engine


def _code_of(function: object) -> CodeType | None:
    for one in (function, getattr_static(type(function), "__call__", None)):
        code = getattr(one, "__code__", None)
        if isinstance(code, CodeType):
            return code

    return None


class _Listener(logging.Handler):
    """
    Keeps what the library says about schemas that have no strict form.
    """

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.reasons: dict[str, str] = {}

    def emit(self, record: logging.LogRecord) -> None:
        match record.args:
            case (str() as name, reason):
                self.reasons[name] = str(reason)
            case _:
                pass


def _reasons(client: ToolClient) -> dict[str, str]:
    """
    Ask for the strict definitions, and hear which of them are none, and why.
    """
    logger, listener = logging.getLogger("tooldecl"), _Listener()
    before = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.INFO)
    try:
        client.definitions(format="openai-strict")
    finally:
        logger.setLevel(before)
        logger.removeHandler(listener)

    return listener.reasons
