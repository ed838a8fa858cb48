"""Reading the feed: events by their number, and the marks of those who follow it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from ledger.reads import COLUMNS, FROM, Stored, stored_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import asyncpg

    from ledger.connect import Ledger

_DAMAGE = frozenset({"blob_damaged", "body_damaged", "event_damaged"})
_SINCE = f"""select f.global_seq, {COLUMNS} {FROM}
  join ledger.feed f on f.stream_id = e.stream_id and f.version = e.version
  where f.global_seq > $1 and f.global_seq <= $2 and e.type = any($3)
  order by f.global_seq limit $4"""


@dataclass(frozen=True)
class Numbered:
    """One event and its number in the feed, dense over all streams from 1 on."""

    global_seq: int
    stored: Stored


@dataclass(frozen=True)
class Damaged:
    """One event that nobody can read any more, its number, and the code of what is wrong."""

    global_seq: int
    stream: str
    version: int
    type: str
    code: str


@dataclass(frozen=True)
class FeedHead:
    """Where the feed stands: the last number (0 where there is none), epoch and root."""

    global_seq: int
    epoch: int
    root: bytes


async def read_feed_head(ledger: Ledger) -> FeedHead:
    """Read where the feed stands."""
    row = await ledger.pool.fetchrow("select global_seq, epoch, root from ledger.feed_head")
    return FeedHead(0, 0, b"") if row is None else FeedHead(*row.values())


async def read_feed(
    ledger: Ledger, after: int, types: Iterable[str], *, until: int, limit: int = 500
) -> list[Numbered | Damaged]:
    """Read events of some types with a number above `after` and up to `until`, in order.

    `until` is a head that was read before: a reader may pass all that it did not want up
    to there. Numbers are given once and stay. An event that is damaged is given as one that
    is, and what stands behind it is read; one of another build raises `event_unknown`,
    since its own workers can read it.
    """
    rows = await ledger.pool.fetch(_SINCE, after, until, list(types), limit)
    return [_numbered(row) for row in rows]


def _numbered(row: asyncpg.Record) -> Numbered | Damaged:
    try:
        return Numbered(row["global_seq"], stored_of(row))
    except LegatoError as exc:
        if exc.code not in _DAMAGE:
            raise
        place = (row["global_seq"], row["stream_id"], row["version"], row["type"])
        return Damaged(*place, exc.code)


async def read_mark(ledger: Ledger, relay: str) -> int:
    """Read how far a relay has come: a number of the feed, 0 at first."""
    found = await ledger.pool.fetchval(
        "select global_seq from ledger.hand_over where relay = $1", relay
    )
    return int(found or 0)


async def write_mark(ledger: Ledger, relay: str, mark: int) -> None:
    """Record how far a relay has come; it never goes back."""
    await ledger.pool.execute(
        "insert into ledger.hand_over (relay, global_seq) values ($1, $2)"
        " on conflict (relay) do update set global_seq = $2 where hand_over.global_seq < $2",
        relay,
        mark,
    )
