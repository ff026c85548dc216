"""
One sync call on the caller's thread, and what unused options add to it.
"""

from __future__ import annotations

import json

from collections.abc import Iterator
from contextlib import contextmanager

import bench_tools as tools
import floors

from measuring import Probe, Row, Sampler, in_turn

from tooldecl import ToolClient


PLAIN = "the sync call with JSON text"


def watch(request):
    """
    A filter that does nothing.
    """
    result = yield request

    return result


@contextmanager
def ready(_quick: bool) -> Iterator[Sampler]:
    """
    Prepare the calls.
    """
    declared = [tools.plain, tools.retried]
    with ToolClient(declared) as client, ToolClient(declared, filters=[watch]) as other:
        decode, text, given = json.loads, tools.TEXT, tools.ARGUMENTS
        runs = {
            "floor": floors.gate(text, tools.read),
            "text": lambda: client.invoke("plain", text),
            "mapping": lambda: client.invoke("plain", given),
            "retry": lambda: client.invoke("retried", text),
            "filter": lambda: other.invoke("plain", text),
            "json": lambda: tools.read(**decode(text)),
        }
        yield lambda: in_turn(runs, calls=100)


PROBE = Probe(
    name="plain",
    ready=ready,
    rows=(
        Row(
            title="json.loads and the body, nothing checked",
            value="json",
            unit="us",
            floor="floor",
            what=floors.GATE,
        ),
        Row(
            title="sync call, JSON text",
            value="text",
            unit="us",
            floor="floor",
            what=floors.GATE,
            most=2.0,
        ),
        Row(
            title="sync call, mapping",
            value="mapping",
            unit="us",
            floor="floor",
            what=floors.GATE,
        ),
        Row(
            title="retry declared, not used",
            value="retry",
            unit="us",
            floor="text",
            what=PLAIN,
        ),
        Row(title="one filter", value="filter", unit="us", floor="text", what=PLAIN),
    ),
)
