"""Checks of streams: recomputes each in Python, from its first event to its head row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg

from domain.runs.legal import History
from ledger.blobs import blob_id, unpack
from ledger.encode import Codec
from ledger.verify_event import (
    BadPlaceError,
    Head,
    advance,
    blob_names,
    check_body,
    check_head,
    check_row,
)
from ledger.verify_report import WHOLE, Pass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


HEADS, EVENTS = 200, 1000
"""Rows that are read at a time."""

_HEADS = """select *,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ledger.key_offset() as next_key
  from ledger.stream where stream_id > $1 order by stream_id limit $2"""
_EVENTS = """select stream_id, version, event_id, order_key, pos, type, schema_version,
    correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit,
    same_digest, hash
  from ledger.event where (stream_id, version) > ($1, $2) and stream_id <= $3
  order by stream_id, version limit $4"""
_HEADLESS = """select stream_id, count(*) as events from ledger.event e
  where not exists (select from ledger.stream s where s.stream_id = e.stream_id)
  group by stream_id order by stream_id"""


async def check_streams(at: Pass) -> None:
    """Walk every stream, and name the first bad place of each."""
    at.checked.update(streams=0, events=0, blobs=0)
    seen, last = _Seen(at), ""
    while heads := await at.connection.fetch(_HEADS, last, HEADS):
        events = _Events(at, last, heads[-1]["stream_id"])
        for head in heads:
            await _check_stream(seen, head, events)
        last = heads[-1]["stream_id"]
    for row in await at.connection.fetch(_HEADLESS, timeout=WHOLE):
        at.tell(
            row["stream_id"],
            0,
            f"the head row is missing: {row['events']} events stand without one",
        )
    at.checked["blobs"] = len(seen.blobs)


@dataclass(frozen=True)
class _Seen:
    """A walk over the streams, and the blobs it has found good."""

    at: Pass
    blobs: set[bytes] = field(default_factory=set[bytes])


@dataclass
class _Events:
    """The events of the streams after one up to another, in order, read some at a time."""

    source: Pass
    after: str
    until: str
    version: int = 2**63 - 1
    page: Sequence[asyncpg.Record] = ()
    at: int = 0
    is_last: bool = False

    async def of(self, stream: str) -> AsyncIterator[asyncpg.Record]:
        """Give a stream's events; the streams are asked for in their order, each once."""
        while (row := await self._here()) is not None and _key(row) <= stream.encode():
            self.at += 1
            if row["stream_id"] == stream:
                yield row

    async def _here(self) -> asyncpg.Record | None:
        if self.at == len(self.page) and not self.is_last:
            given = (self.after, self.version, self.until, EVENTS)
            self.page, self.at = await self.source.connection.fetch(_EVENTS, *given), 0
            self.is_last = len(self.page) < EVENTS
            if self.page:
                self.after, self.version = self.page[-1]["stream_id"], self.page[-1]["version"]
        return self.page[self.at] if self.at < len(self.page) else None


def _key(row: asyncpg.Record) -> bytes:
    """Give a row's stream as the database sorts it: by its bytes."""
    name: str = row["stream_id"]
    return name.encode()


async def _check_stream(seen: _Seen, stored: asyncpg.Record, events: _Events) -> None:
    """Walk one stream from its first event to its head row, up to the first bad place."""
    stream = stored["stream_id"]
    head = Head()
    history = History(stream) if stream.startswith("run/") else None
    seen.at.checked["streams"] += 1
    version = 1
    try:
        async for row in events.of(stream):
            version = min(row["version"], head.version + 1)
            head = await _check_event(seen, head, row, history)
            seen.at.checked["events"] += 1
        version = _last_version(head, stored)
        check_head(head, stored)
    except BadPlaceError as bad:
        seen.at.tell(stream, version, str(bad))


def _last_version(head: Head, stored: asyncpg.Record) -> int:
    """Give the version at which the head row is judged; raises nothing: a gap is named there."""
    return head.version + 1 if stored["version"] > head.version else head.version


async def _check_event(
    seen: _Seen, head: Head, row: asyncpg.Record, history: History | None
) -> Head:
    if row["version"] > head.version + 1:
        raise BadPlaceError(f"the event is missing: the next one is {row['version']}")
    if row["version"] <= head.version:
        raise BadPlaceError("an event stands before the first")
    check_row(head, row)
    body = None
    for name in blob_names(row):
        is_body = row["codec"] == Codec.BLOB and name == row["body"]
        if is_body or name not in seen.blobs:
            data = await _blob(seen, name)
            body = data if is_body else body
    fact = check_body(row, body, seen.at.secret)
    problem = history.tell(fact) if history is not None else None
    if problem is not None:
        raise BadPlaceError(f"an illegal step: {problem}")
    return advance(head, row, fact)


async def _blob(seen: _Seen, name: bytes) -> bytes:
    """Read a blob and check that it holds the bytes of its name and size."""
    row = await seen.at.connection.fetchrow(
        "select size, data from ledger.blob where blob_id = $1", name
    )
    if row is None:
        raise BadPlaceError(f"blob {name.hex()} is referred to and not stored")
    try:
        data = unpack(row["data"], row["size"])
    except (ValueError, MemoryError):
        raise BadPlaceError(f"blob {name.hex()} cannot be unpacked") from None
    if blob_id(data) != name or len(data) != row["size"]:
        raise BadPlaceError(f"blob {name.hex()} does not hold the bytes of its name and size")
    seen.blobs.add(name)
    return data
