"""
Tools whose bodies use OpenTelemetry themselves, importable by worker processes.
"""

from __future__ import annotations

from opentelemetry import baggage, trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tooldecl import tool


# Each process has its own; in a worker only the body can look at it.
OWN = InMemorySpanExporter()
PROVIDER = TracerProvider()
PROVIDER.add_span_processor(SimpleSpanProcessor(OWN))


def ids(span):
    """
    Return the ids of a span as text.
    """
    at = span.get_span_context()
    return [trace.format_trace_id(at.trace_id), trace.format_span_id(at.span_id)]


@tool(isolation="process", timeout=30)
def apart() -> list[str]:
    """Tell the ids of the span that is current in a worker, and of the parent of our own."""
    OWN.clear()
    with PROVIDER.get_tracer("body").start_as_current_span("work"):
        pass
    [work] = OWN.get_finished_spans()

    return [
        *ids(trace.get_current_span()),
        trace.format_span_id(work.parent.span_id),
        str(baggage.get_baggage("who")),
    ]


@tool(isolation="process", timeout=30)
async def apart_async() -> list[str]:
    """Tell the ids of the span that is current in a worker."""
    return ids(trace.get_current_span())
