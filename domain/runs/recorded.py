"""A fact together with what the ledger knows of its recording."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from domain.events import Fact

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Recorded:
    """One event of a stream: `at` is when it was recorded (UTC), `actor` who caused it.

    `worked` is for how many seconds the execution that recorded it had lived by then, 0
    where it was none.
    """

    version: int
    event_id: str
    at: datetime
    actor: str
    fact: Fact
    worked: float = 0.0


def facts_of(events: Iterable[Recorded]) -> list[Fact]:
    """Give the bare facts, in order."""
    return [event.fact for event in events]


def stamp(at: datetime | None) -> str:
    """Write a time as ISO 8601 to the millisecond; "" where there is none."""
    return "" if at is None else at.isoformat(timespec="milliseconds")


def short(text: str, most: int = 100) -> str:
    """Put a text on one line of at most so many characters."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: most - 3].rstrip() + "..."
