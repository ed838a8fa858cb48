"""Where a worker's spans and counts go: an OTLP endpoint and a Prometheus port, where named."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry.trace import NoOpTracer
from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
from temporalio.runtime import (
    LogForwardingConfig,
    LoggingConfig,
    PrometheusConfig,
    Runtime,
    TelemetryConfig,
)

from domain.errors import LegatoError
from workers.observe import Observed, counts

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from opentelemetry.trace import Tracer

    from legato.settings import Settings

FLUSHING = 2000
"""Milliseconds that the last spans are given to leave."""


def sdk_runtime(address: str) -> Runtime:
    """Make the SDK's runtime: its log goes into ours, its metrics to an address, "" for none."""
    forwarded = LogForwardingConfig(logging.getLogger("temporal"))
    return Runtime(
        telemetry=TelemetryConfig(
            logging=LoggingConfig(LoggingConfig.default.filter, forwarding=forwarded),
            metrics=PrometheusConfig(bind_address=address) if address else None,
        )
    )


@contextmanager
def telemetry(settings: Settings) -> Generator[Observed]:
    """Observe activities; without an endpoint or a port nothing leaves the process.

    Raises `metrics_port_taken`.
    """
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    stop = _serving(settings.metrics_address, registry)
    with _tracing(settings.traces_endpoint) as tracer:
        try:
            yield Observed(tracer, counts(registry))
        finally:
            stop()


def _serving(address: str, registry: CollectorRegistry) -> Callable[[], None]:
    if not address:
        return lambda: None
    host, _, port = address.rpartition(":")
    try:
        server, thread = start_http_server(int(port), addr=host.strip("[]"), registry=registry)
    except OSError as exc:
        raise LegatoError(
            "metrics_port_taken",
            f"metrics cannot be served at {address}",
            cause=exc.strerror or type(exc).__name__,
            next="give each worker a LEGATO_METRICS_ADDRESS of its own, or unset it",
        ) from None

    def stop() -> None:
        server.shutdown()
        thread.join(2)

    return stop


@contextmanager
def _tracing(endpoint: str) -> Generator[Tracer]:
    if not endpoint:
        yield NoOpTracer()
        return
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - half a second, seldom needed
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - the same
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - the same
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - the same

    provider = TracerProvider(resource=Resource.create({"service.name": "legato-worker"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
    try:
        yield provider.get_tracer("legato")
    finally:
        provider.force_flush(FLUSHING)
        provider.shutdown()
