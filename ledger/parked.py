"""Remembers what a relay could not hand over for good, so that it goes on and people are told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.connect import Ledger
    from ledger.feed import Damaged
    from ledger.reads import Stored


@dataclass(frozen=True)
class Parked:
    """One event that was left: where it stands, and the code of what refused it."""

    stream: str
    version: int
    type: str
    code: str
    at: datetime


async def park(ledger: Ledger, relay: str, stored: Stored | Damaged, code: str) -> None:
    """Remember that an event was left; the first code stays."""
    await ledger.pool.execute(
        "insert into ledger.parked (relay, stream_id, version, code) values ($1, $2, $3, $4)"
        " on conflict do nothing",
        relay,
        stored.stream,
        stored.version,
        code,
    )


async def read_parked(ledger: Ledger, relay: str, limit: int = 100) -> list[Parked]:
    """List what a relay has left of streams that are still open, the latest first."""
    rows = await ledger.pool.fetch(
        "select p.stream_id, p.version, e.type, p.code, p.at from ledger.parked p"
        " join ledger.event e on e.stream_id = p.stream_id and e.version = p.version"
        " join ledger.stream s on s.stream_id = p.stream_id"
        " where p.relay = $1 and s.closed_at is null order by p.at desc limit $2",
        relay,
        limit,
    )
    return [Parked(r["stream_id"], r["version"], r["type"], r["code"], r["at"]) for r in rows]
