"""Reading the ledger: streams in order, heads, single events."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from domain.codec import Json, decode_object
from domain.errors import Kind, LegatoError
from domain.events import Fact, SlotTaken, decode
from domain.ids import slot_stream
from domain.runs.slots import fold_slot
from ledger.blobs import blob_id, unpack
from ledger.encode import plain_body

if TYPE_CHECKING:
    from collections.abc import Sequence

    import asyncpg

    from domain.runs.slots import Slot
    from ledger.connect import Ledger

COLUMNS = """e.stream_id, e.version, e.event_id, e.order_key, e.pos, e.type, e.schema_version,
  e.recorded_at, e.envelope, e.body, e.codec, e.hash, b.size as blob_size, b.data as blob_data"""
FROM = """from ledger.event e
  left join ledger.blob b on e.codec = 2 and b.blob_id = e.body"""
_STREAM = f"select {COLUMNS} {FROM} where e.stream_id = $1 and e.version > $2 order by e.version"
_TAKEN = f"""select {COLUMNS} {FROM} where e.stream_id = $1 and e.type = 'slot.taken'
  order by e.version desc limit 1"""
_LAST = f"select {COLUMNS} {FROM} where e.stream_id = $1 order by e.version desc limit 1"
_BOTH = f"""select {COLUMNS} {FROM} where e.stream_id = $1 and e.version > $2
  union all select {COLUMNS} {FROM} where e.stream_id = $3 and e.version > $4
  order by stream_id, version"""


@dataclass(frozen=True)
class Stored:
    """One event as it stands in the ledger."""

    stream: str
    version: int
    order_key: int
    pos: int
    recorded_at: datetime
    envelope: Mapping[str, Json]
    hash: bytes
    fact: Fact

    @property
    def worked(self) -> float:
        """For how many seconds the execution that recorded it had lived by then, 0 for none."""
        given = self.envelope.get("worked_ms", 0)
        return given / 1000 if isinstance(given, int) else 0.0


@dataclass(frozen=True)
class Head:
    """Where a stream stands; a stream that does not exist is at version 0."""

    version: int
    closed: bool


def _body(row: asyncpg.Record) -> bytes:
    """Give a row's plain body; raises `blob_damaged` or `body_damaged`."""
    place = f"{row['event_id']} of {row['stream_id']}"
    blob = None
    try:
        if row["blob_data"] is not None:
            blob = unpack(row["blob_data"], row["blob_size"])
            if blob_id(blob) != row["body"]:
                raise LegatoError(
                    "blob_damaged",
                    f"the body of {place} is not what was hashed",
                    kind=Kind.BUG,
                    next="restore a backup; `legato ledger verify` names all that is damaged",
                )
        return plain_body(row["codec"], row["body"], blob)
    except ValueError as exc:
        raise LegatoError(
            "body_damaged",
            f"the body of {place} cannot be read: {exc}",
            kind=Kind.BUG,
            next="restore a backup; `legato ledger verify` names all that is damaged",
        ) from None


def stored_of(row: asyncpg.Record) -> Stored:
    """Read a row; raises `blob_damaged`, `body_damaged`, `event_damaged` or `event_unknown`."""
    return Stored(
        stream=row["stream_id"],
        version=row["version"],
        order_key=row["order_key"],
        pos=row["pos"],
        recorded_at=row["recorded_at"],
        envelope=decode_object(row["envelope"]),
        hash=row["hash"],
        fact=decode(row["type"], row["schema_version"], _body(row)),
    )


async def read_stream(ledger: Ledger, stream: str, after: int = 0) -> list[Stored]:
    """Read a stream's events with a version above `after`, in order."""
    return [stored_of(row) for row in await ledger.pool.fetch(_STREAM, stream, after)]


async def read_last(ledger: Ledger, stream: str) -> Stored | None:
    """Read a stream's last event, None where there is none."""
    row = await ledger.pool.fetchrow(_LAST, stream)
    return None if row is None else stored_of(row)


async def read_both(
    ledger: Ledger, one: tuple[str, int], other: tuple[str, int]
) -> tuple[list[Stored], list[Stored]]:
    """Read two streams, each after a version, as they stand at one moment."""
    read = [stored_of(row) for row in await ledger.pool.fetch(_BOTH, *one, *other)]
    return [e for e in read if e.stream == one[0]], [e for e in read if e.stream == other[0]]


async def read_head(ledger: Ledger, stream: str) -> Head:
    """Read where a stream stands."""
    row = await ledger.pool.fetchrow(
        "select version, closed_at from ledger.stream where stream_id = $1", stream
    )
    return (
        Head(0, closed=False) if row is None else Head(row["version"], row["closed_at"] is not None)
    )


async def read_event(ledger: Ledger, stream: str, name: str) -> Stored | None:
    """Read one event by its id, or None."""
    row = await ledger.pool.fetchrow(
        f"select {COLUMNS} {FROM} where e.stream_id = $1 and e.event_id = $2",
        stream,
        name,
    )
    return None if row is None else stored_of(row)


async def read_events(ledger: Ledger, streams: Sequence[str], name: str) -> list[Stored]:
    """Read the event with one id in each of several streams.

    Streams without it are left out, and those where it cannot be read.
    """
    if not streams:
        return []
    rows = await ledger.pool.fetch(
        f"select {COLUMNS} {FROM} where e.stream_id = any($1) and e.event_id = $2"
        " order by e.stream_id",
        list(streams),
        name,
    )
    found: list[Stored] = []
    for row in rows:
        with suppress(LegatoError):
            found.append(stored_of(row))
    return found


async def read_slot(ledger: Ledger, slot: str) -> Slot:
    """Read who holds a slot and who waits in its line; the past of long ago is not read."""
    stream = slot_stream(slot)
    row = await ledger.pool.fetchrow(_TAKEN, stream)
    fact = None if row is None else stored_of(row).fact
    since = fact.since if isinstance(fact, SlotTaken) else 0
    stored = await read_stream(ledger, stream, max(0, since - 1))
    return fold_slot((one.version, one.fact) for one in stored)


async def list_streams(
    ledger: Ledger, kind: str, *, only_open: bool = False, limit: int = 1000
) -> list[str]:
    """List streams of a kind, the youngest first."""
    rows = await ledger.pool.fetch(
        "select stream_id from ledger.stream where kind = $1 and (closed_at is null or not $2)"
        " order by order_key desc, stream_id limit $3",
        kind,
        only_open,
        limit,
    )
    return [row["stream_id"] for row in rows]


async def find_streams(ledger: Ledger, prefix: str, limit: int = 10) -> list[str]:
    """List streams whose id begins with a prefix."""
    rows = await ledger.pool.fetch(
        "select stream_id from ledger.stream where starts_with(stream_id, $1)"
        " order by stream_id limit $2",
        prefix,
        limit,
    )
    return [row["stream_id"] for row in rows]


async def clock(ledger: Ledger) -> datetime:
    """Read the ledger's clock, by which expiry is judged."""
    now: datetime = await ledger.pool.fetchval("select ledger.clock()")
    return now


async def moment(ledger: Ledger) -> datetime:
    """Read the time at which an append that was made now would be recorded."""
    now: datetime = await ledger.pool.fetchval("select statement_timestamp()")
    return now
