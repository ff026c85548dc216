"""
A real SDK with exporters in memory, for each test its own.
"""

from __future__ import annotations

import pytest

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tooldecl.integrations.opentelemetry import OpenTelemetryHook


class Telemetry:
    """
    What was exported, and the providers that hooks and bodies use.
    """

    def __init__(self):
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader])
        self.tracer = self.tracers.get_tracer("test")

    def hook(self, **options):
        """
        Make a hook that exports to here.
        """
        providers = {"tracer_provider": self.tracers, "meter_provider": self.meters}
        return OpenTelemetryHook(**providers, **options)

    @property
    def spans(self):
        """
        The spans that have ended, in that order.
        """
        return self._exporter.get_finished_spans()

    def span(self, name):
        """
        Return the one span of a name.
        """
        [span] = [span for span in self.spans if span.name == name]
        return span

    def points(self):
        """
        Return what was measured, by metric.
        """
        data = self._reader.get_metrics_data()
        return {
            metric.name: (metric.unit, list(metric.data.data_points))
            for resource in (data.resource_metrics if data else [])
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def shutdown(self):
        """
        End what the SDK has started.
        """
        self.tracers.shutdown()
        self.meters.shutdown()


@pytest.fixture
def telemetry(monkeypatch):
    """
    Export to memory, with nothing set from outside.
    """
    name = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
    monkeypatch.delenv(name, raising=False)
    made = Telemetry()
    yield made
    made.shutdown()
