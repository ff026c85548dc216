"""
Declaring a thousand tools, with and without their schemas.
"""

from __future__ import annotations

import inspect

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_type_hints

from measuring import Probe, Row, Sample, Sampler, worked
from pydantic import TypeAdapter

from tooldecl import ToolClient, tool

from .sources import functions


@contextmanager
def ready(quick: bool) -> Iterator[Sampler]:
    """
    Nothing is prepared: every sample has functions of its own.
    """
    count = 200 if quick else 1_000

    def sample() -> Sample:
        own, bare = functions(count), functions(count)
        declared: list[Any] = []
        signatures = worked(lambda: [bare_promise(f) for f in bare])
        declaring = worked(lambda: declared.extend(tool(f) for f in own))
        schemas = worked(lambda: [bare_schema(f) for f in bare])
        building = worked(lambda: ToolClient(declared).definitions())
        scale = 1_000 / count

        return {
            "declare": declaring * scale,
            "signatures": signatures * scale,
            "with schemas": (declaring + building) * scale,
            "schemas": schemas * scale,
        }

    yield sample


def bare_promise(function: Callable[..., Any]) -> object:
    """
    Read what the function says of its parameters.
    """
    return inspect.signature(function), get_type_hints(function, include_extras=True)


def bare_schema(function: Callable[..., Any]) -> object:
    """
    Have pydantic make a validator and a schema of one function.
    """
    return TypeAdapter(function).json_schema()


PROBE = Probe(
    name="declare",
    ready=ready,
    every=3,
    rows=(
        Row(
            title="declaring 1,000 tools",
            value="declare",
            unit="ms cpu",
            floor="signatures",
            what="inspect.signature and typing.get_type_hints of 1,000 such functions",
            limit=60,
        ),
        Row(
            title="declaring 1,000 tools, with schemas",
            value="with schemas",
            unit="ms cpu",
            floor="schemas",
            what="pydantic's TypeAdapter(function).json_schema() of 1,000",
            limit=350,
        ),
    ),
)
