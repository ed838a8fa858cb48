"""What operators see of activities: one span, some counts, and the names on every log line."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, is_dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
    set_span_in_context,
)
from prometheus_client import Counter, Histogram
from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import ActivityInboundInterceptor, ExecuteActivityInput, Interceptor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.context import Context
    from opentelemetry.trace import Span
    from prometheus_client import CollectorRegistry

SHOWN = ("run_id", "item", "turn", "step", "attempt")
"""The fields of an activity's input that are its place: ids and numbers, never content."""

_BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300)


@dataclass(frozen=True)
class Counts:
    """What is counted. Labels take their values from closed lists and names of tools."""

    activities: Counter
    seconds: Histogram
    calls: Counter
    tokens: Counter
    servers: Counter


def counts(registry: CollectorRegistry) -> Counts:
    """Make the counts and put them into a registry."""
    return Counts(
        activities=Counter(
            "legato_activities", "Attempts of activities, by how they ended",
            ("activity", "outcome"), registry=registry,
        ),
        seconds=Histogram(
            "legato_activity_seconds", "Seconds that attempts of activities took",
            ("activity",), registry=registry, buckets=_BUCKETS,
        ),
        calls=Counter(
            "legato_tool_calls", "Tool calls run as activities, by their outcome",
            ("tool", "outcome"), registry=registry,
        ),
        tokens=Counter(
            "legato_model_tokens", "Tokens of responses, where the provider told", registry=registry
        ),
        servers=Counter(
            "legato_server_names_ignored", "Calls that named a server beside a tool's name",
            registry=registry,
        ),
    )  # fmt: skip


@dataclass(frozen=True)
class Observed(Interceptor):
    """Observes a worker's activities."""

    tracer: Tracer
    counts: Counts

    def intercept_activity(self, next: ActivityInboundInterceptor) -> ActivityInboundInterceptor:  # noqa: A002 - the SDK's name
        """Wrap the next interceptor."""
        return _Observed(next, self.tracer, self.counts)


class _Observed(ActivityInboundInterceptor):
    def __init__(self, inner: ActivityInboundInterceptor, tracer: Tracer, counts: Counts) -> None:
        super().__init__(inner)
        self._tracer, self._counts = tracer, counts

    async def execute_activity(self, input: ExecuteActivityInput) -> Any:  # noqa: A002, ANN401 - the SDK's names and types
        """Run the activity within a span of its run's trace; texts of errors go nowhere."""
        info = activity.info()
        place = place_of(input.args[0] if input.args else None)
        began = time.monotonic()
        outcome = "cancelled"
        with (
            structlog.contextvars.bound_contextvars(**place),
            self._tracer.start_as_current_span(
                info.activity_type,
                context=trace_of(str(place.get("run_id", ""))),
                attributes=_attributes(info, place),
                record_exception=False,
                set_status_on_exception=False,
            ) as span,
        ):
            try:
                result = await self.next.execute_activity(input)
            except Exception as exc:
                outcome = "error"
                code = exc.type if isinstance(exc, ApplicationError) else type(exc).__name__
                span.set_attribute("legato.code", code or "")
                span.set_status(Status(StatusCode.ERROR))
                raise
            else:
                outcome = _told(span, result)
                self._count(place, result)
                return result
            finally:
                kind = info.activity_type
                self._counts.activities.labels(kind, outcome).inc()
                self._counts.seconds.labels(kind).observe(time.monotonic() - began)

    def _count(self, place: Mapping[str, object], result: object) -> None:
        self._counts.tokens.inc(max(0, getattr(result, "tokens", 0)))
        self._counts.servers.inc(getattr(result, "servers_named", 0))
        if "tool" in place and getattr(result, "outcome", "") == "settled":
            tag = str(getattr(result, "tag", ""))
            self._counts.calls.labels(str(place["tool"]), tag).inc()


def place_of(given: object) -> dict[str, object]:
    """Read where an activity's input belongs; of a call its tool's name too."""
    if not is_dataclass(given):
        return {}
    names = {field.name for field in fields(given)}
    place: dict[str, object] = {name: getattr(given, name) for name in SHOWN if name in names}
    if "call" in names:
        call: Any = getattr(given, "call")  # noqa: B009 - not every input has one
        place |= {"turn": call.turn, "step": call.step, "tool": call.name}
    return place


def trace_of(run_id: str) -> Context | None:
    """Give the trace that all spans of a run belong to; None for no run's."""
    try:
        number = UUID(run_id).int
    except ValueError:
        return None
    parent = int.from_bytes(sha256(run_id.encode()).digest()[:8]) or 1
    context = SpanContext(number, parent, is_remote=True, trace_flags=TraceFlags(1))
    return set_span_in_context(NonRecordingSpan(context))


def _attributes(info: activity.Info, place: Mapping[str, object]) -> dict[str, str | int]:
    named = {f"legato.{name}": value for name, value in place.items()}
    told: dict[str, str | int] = {
        name: value for name, value in named.items() if isinstance(value, str | int)
    }
    return told | {
        "temporal.workflow_id": info.workflow_id or "",
        "temporal.run_id": info.workflow_run_id or "",
        "temporal.attempt": info.attempt,
    }


def _told(span: Span, result: object) -> str:
    """Put a result's short words on the span; gives its outcome."""
    for name in ("outcome", "code", "tag", "status", "tokens"):
        value: object = getattr(result, name, None)
        if isinstance(value, str | int) and value:
            span.set_attribute(f"legato.{name}", value)
    return str(getattr(result, "outcome", "") or getattr(result, "status", "") or "ok")
