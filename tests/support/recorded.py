"""Facts as they are recorded: numbered, one second after another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from domain.events import event_id
from domain.runs.recorded import Recorded

if TYPE_CHECKING:
    from domain.events import Fact

BEGINNING = datetime(2030, 1, 1, tzinfo=UTC)


def recorded(*facts: Fact, every: float = 1.0) -> list[Recorded]:
    """Record facts in order, so many seconds apart."""
    return [
        Recorded(
            version=n,
            event_id=event_id(fact),
            at=BEGINNING + timedelta(seconds=every * (n - 1)),
            actor="system",
            fact=fact,
        )
        for n, fact in enumerate(facts, start=1)
    ]
