"""
A megabyte of arguments, and results of five.
"""

from __future__ import annotations

import json

from collections.abc import Iterator
from contextlib import contextmanager

import bench_tools as tools

from measuring import Probe, Row, Sample, Sampler, worked
from pydantic import TypeAdapter
from pydantic_core import to_json
from typing_extensions import TypedDict

from tooldecl import JSONLimits, ToolClient
from tooldecl._strictjson import loads_strict


class Text(TypedDict):
    """
    One text.
    """

    text: str


class Items(TypedDict):
    """
    A list.
    """

    items: list[object]


@contextmanager
def ready(quick: bool) -> Iterator[Sampler]:
    """
    Prepare the texts.
    """
    part = 10 if quick else 1
    limits = JSONLimits(max_chars=2_000_000)
    text = json.dumps({"text": "lorem ipsum, " * (77_000 // part)})
    items = json.dumps({"items": tools.LARGE[: 15_500 // part]})
    size, large = 5_000_000 // part, tools.LARGE
    text_check, items_check = TypeAdapter(Text), TypeAdapter(Items)

    def bare(given: str, check: TypeAdapter[object]) -> object:
        loads_strict(given, limits)
        return check.validate_json(given, strict=True, extra="forbid")

    declared = [tools.length, tools.entries, tools.text_of, tools.rows]
    with ToolClient(declared, json_limits=limits) as client:
        wanted = json.dumps({"size": size})
        runs = {
            "bare text": lambda: bare(text, text_check),
            "text": lambda: client.invoke("length", text).unwrap(),
            "bare items": lambda: bare(items, items_check),
            "items": lambda: client.invoke("entries", items).unwrap(),
            "bare long": lambda: tools.long_text(size).encode(),
            "long": lambda: client.invoke("text_of", wanted).unwrap(),
            "bare rows": lambda: to_json(large).decode(),
            "rows": lambda: client.invoke("rows").unwrap(),
        }

        def sample() -> Sample:
            return {
                name: min(worked(run) for _ in range(3)) for name, run in runs.items()
            }

        yield sample


GATE = "strict reader + validate_json"

PROBE = Probe(
    name="payload",
    ready=ready,
    every=5,
    rows=(
        Row(
            title="1 MB argument, one text",
            value="text",
            unit="ms cpu",
            floor="bare text",
            what=GATE,
        ),
        Row(
            title="1 MB argument, a list of objects",
            value="items",
            unit="ms cpu",
            floor="bare items",
            what=GATE,
        ),
        Row(
            title="5 MB result, one text",
            value="long",
            unit="ms cpu",
            floor="bare long",
            what="the text, made and encoded once",
        ),
        Row(
            title="5 MB result, a list of objects",
            value="rows",
            unit="ms cpu",
            floor="bare rows",
            what="pydantic_core.to_json",
        ),
    ),
)
