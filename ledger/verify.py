"""Recomputes the whole ledger in Python and names the first bad place of every stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import asyncpg

    from ledger.connect import Ledger

    Connection = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]

PAGE = 200
_WHOLE = 3600.0
"""Seconds that the one query over all events may take; every other reads a page."""

_BEFORE_ALL = -(2**63)
_HEADS = """select *,
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint + ledger.key_offset() as next_key
  from ledger.stream where stream_id > $1 order by stream_id limit $2"""
_EVENTS = """select stream_id, version, event_id, order_key, pos, type, schema_version,
    correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit,
    same_digest, hash
  from ledger.event where stream_id = $1 and version > $2 order by version limit $3"""
_HEADLESS = """select stream_id, count(*) as events from ledger.event e
  where not exists (select from ledger.stream s where s.stream_id = e.stream_id)
  group by stream_id order by stream_id"""

RESTORE = (
    "stop writing (`legato down`), keep a copy of the database as it is, and restore it from "
    "the last backup for which `legato ledger verify` is green"
)


@dataclass(frozen=True)
class Problem:
    """The first bad place of one stream; what stands after it in the stream is not judged.

    `version` is that of the event; for a head row that of the stream's last event.
    """

    stream: str
    version: int
    what: str
    next: str


@dataclass(frozen=True)
class VerifyReport:
    """What a verification found; `checked` counts streams, events and blobs."""

    ok: bool
    checked: Mapping[str, int]
    problems: tuple[Problem, ...]


@dataclass
class _Pass:
    """One verification under way: the snapshot it reads, and what it has seen."""

    connection: Connection
    secret: bytes
    streams: int = 0
    events: int = 0
    blobs: set[bytes] = field(default_factory=set[bytes])
    problems: list[Problem] = field(default_factory=list[Problem])


async def verify(ledger: Ledger) -> VerifyReport:
    """Verify every stream of the ledger as it stands at one moment; writers are not held up.

    Raises only what the database raises where it cannot be read at all.
    """
    async with (
        ledger.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        at = _Pass(connection, ledger.secret)
        async for head in _heads(connection):
            await _check_stream(at, head)
        for row in await connection.fetch(_HEADLESS, timeout=_WHOLE):
            what = f"the head row is missing: {row['events']} events stand without one"
            at.problems.append(Problem(row["stream_id"], 0, what, RESTORE))
    checked = {"streams": at.streams, "events": at.events, "blobs": len(at.blobs)}
    return VerifyReport(not at.problems, checked, tuple(at.problems))


async def _heads(connection: Connection) -> AsyncIterator[asyncpg.Record]:
    last = ""
    while page := await connection.fetch(_HEADS, last, PAGE):
        for row in page:
            yield row
        last = page[-1]["stream_id"]


async def _events(connection: Connection, stream: str) -> AsyncIterator[asyncpg.Record]:
    last = _BEFORE_ALL
    while page := await connection.fetch(_EVENTS, stream, last, PAGE):
        for row in page:
            yield row
        last = page[-1]["version"]


async def _check_stream(at: _Pass, stored: asyncpg.Record) -> None:
    """Walk one stream from its first event to its head row, up to the first bad place."""
    stream = stored["stream_id"]
    head = Head()
    history = History(stream) if stream.startswith("run/") else None
    at.streams += 1
    version = 1
    try:
        async for row in _events(at.connection, stream):
            version = min(row["version"], head.version + 1)
            head = await _check_event(at, head, row, history)
            at.events += 1
        version = _last_version(head, stored)
        check_head(head, stored)
    except BadPlaceError as bad:
        at.problems.append(Problem(stream, version, str(bad), RESTORE))


def _last_version(head: Head, stored: asyncpg.Record) -> int:
    """Give the version at which the head row is judged; raises nothing: a gap is named there."""
    return head.version + 1 if stored["version"] > head.version else head.version


async def _check_event(at: _Pass, head: Head, row: asyncpg.Record, history: History | None) -> Head:
    if row["version"] > head.version + 1:
        raise BadPlaceError(f"the event is missing: the next one is {row['version']}")
    if row["version"] <= head.version:
        raise BadPlaceError("an event stands before the first")
    check_row(head, row)
    body = None
    for name in blob_names(row):
        is_body = row["codec"] == Codec.BLOB and name == row["body"]
        if is_body or name not in at.blobs:
            data = await _blob(at, name)
            body = data if is_body else body
    fact = check_body(row, body, at.secret)
    problem = history.tell(fact) if history is not None else None
    if problem is not None:
        raise BadPlaceError(f"an illegal step: {problem}")
    return advance(head, row, fact)


async def _blob(at: _Pass, name: bytes) -> bytes:
    """Read a blob and check that it holds the bytes of its name and size."""
    row = await at.connection.fetchrow(
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
    at.blobs.add(name)
    return data
