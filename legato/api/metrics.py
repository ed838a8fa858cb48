"""Serves the ledger's figures in Prometheus's text form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Gauge, generate_latest
from starlette.responses import Response

from domain.runs.inputs import InputKind
from domain.runs.run import Status
from ledger.connect import reaching
from ledger.gauges import read_gauges
from ledger.horizon import read_lag

if TYPE_CHECKING:
    from starlette.requests import Request

    from ledger.connect import Ledger
    from ledger.gauges import Gauges


async def metrics(request: Request) -> Response:
    """Answer with one look at the ledger; raises `ledger_unreachable`."""
    ledger: Ledger = request.app.state.ledger
    with reaching():
        found, lag = await read_gauges(ledger), await read_lag(ledger)
    registry = CollectorRegistry()
    _told(registry, found)
    _one(registry, "legato_ledger_horizon_seconds",
         "Seconds that the oldest writing transaction of the cluster has been open",
         lag.horizon_age)  # fmt: skip
    _one(registry, "legato_feed_lag_seconds",
         "Seconds ago the oldest event without a number was appended", lag.behind)  # fmt: skip
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)


def _told(registry: CollectorRegistry, found: Gauges) -> None:
    runs = Gauge("legato_runs", "Runs by status", ("status",), registry=registry)
    for status in Status:
        runs.labels(status.value).set(found.runs.get(status.value, 0))
    _one(registry, "legato_runs_stuck", "Open runs that cannot go on by themselves", found.stuck)
    count = Gauge("legato_questions", "Open questions to people", ("kind",), registry=registry)
    age = Gauge(
        "legato_question_oldest_seconds", "Age of the oldest open one", ("kind",), registry=registry
    )
    for kind in InputKind:
        number, oldest = found.questions.get(kind.value, (0, 0.0))
        count.labels(kind.value).set(number)
        age.labels(kind.value).set(oldest)
    _one(registry, "legato_feed_events", "Events that have their number in the feed", found.feed)
    behind = Gauge(
        "legato_behind_events", "Events a reader has to go", ("reader",), registry=registry
    )
    for reader, events in found.behind.items():
        behind.labels(reader).set(events)
    _one(registry, "legato_parked_events", "Events the relay went on without", found.parked)


def _one(registry: CollectorRegistry, name: str, what: str, value: float) -> None:
    Gauge(name, what, registry=registry).set(value)
