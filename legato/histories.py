"""Reads what the results of activities say in a Temporal history: versions and head hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.runs.steps import Written
from legato.payloads import CONVERTER

if TYPE_CHECKING:
    from temporalio.api.history.v1 import HistoryEvent


@dataclass(frozen=True)
class Reported:
    """What every activity's result has in common."""

    written: Written = Written()


def reported(event: HistoryEvent) -> Written | None:
    """Give what the result in an event says of the run's stream; None for any other event."""
    if not event.HasField("activity_task_completed_event_attributes"):
        return None
    payloads = event.activity_task_completed_event_attributes.result.payloads
    if not payloads:
        return None
    (value,) = CONVERTER.payload_converter.from_payloads(payloads, [Reported])
    return value.written if isinstance(value, Reported) else None
