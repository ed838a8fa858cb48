"""Reads a batch of the feed as the projector takes it: checked for version, decoded if needed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import orjson

from domain.errors import bug
from domain.projections.project import DECODED, KNOWN, check_known
from domain.projections.tables import Sequenced
from ledger.blobs import blob_id, unpack
from ledger.encode import plain_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import asyncpg

    from ledger.projections.source import Source

EVENT = """e.type, e.schema_version, e.recorded_at, e.envelope, e.codec,
  case when e.type = any($3) then e.body end as body, b.size, b.data"""
_BLOB = "left join ledger.blob b on e.codec = 2 and e.type = any($3) and b.blob_id = e.body"
_BATCH = f"""select f.global_seq, f.stream_id, f.version, {EVENT}
  from ledger.feed f
  left join ledger.event e on e.stream_id = f.stream_id and e.version = f.version
  {_BLOB}
  where f.global_seq > $1 and f.global_seq <= $2 order by f.global_seq"""

_WANTED = sorted(DECODED)
_NEVER = datetime.fromtimestamp(0, UTC)
"""When an event was recorded that is not there: nobody reads it."""

_WORKED = b'"worked_ms"'
_NUL = b"\\u0000"
"""How canonical JSON writes the character, whether or not a backslash stands before it."""


async def read_batch(source: Source, after: int, until: int) -> list[asyncpg.Record]:
    """Read the feed's rows after a number up to another, in order, each with its event."""
    return await source.fetch(_BATCH, after, until, _WANTED)


def events_of(rows: Iterable[asyncpg.Record], after: int) -> list[Sequenced]:
    """Turn a batch's rows into events.

    Raises `feed_broken` where a number is missing, and `event_too_new`.
    """
    events: list[Sequenced] = []
    for seq, *row in rows:
        after += 1
        if seq != after:
            raise bug("feed_broken", f"number {after} of the feed is missing", global_seq=after)
        events.append(event_of(row))
    return events


def event_of(row: Sequence[Any]) -> Sequenced:
    """Turn stream, version and the columns of `EVENT` into an event; raises `event_too_new`.

    One that is not there, or whose body is damaged, says so.
    """
    stream, version, kind, schema, at, envelope, codec, body, size, data = row
    of, _, name = stream.partition("/")
    if kind is None:
        return Sequenced(of, name, version, "", _NEVER, {}, "event_missing")
    if KNOWN.get(kind) != schema:
        check_known(stream, version, kind, schema)
    worked = worked_in(envelope)
    if body is None:
        return Sequenced(of, name, version, kind, at, {}, worked=worked)
    try:
        decoded = decoded_body((codec, body, size, data))
    except ValueError:
        return Sequenced(of, name, version, kind, at, {}, "body_damaged")
    return Sequenced(of, name, version, kind, at, decoded, worked=worked)


def worked_in(envelope: bytes) -> float:
    """Tell for how many seconds the execution had lived; 0 where that cannot be read."""
    if _WORKED not in envelope:
        return 0.0
    try:
        return int(orjson.loads(envelope)["worked_ms"]) / 1000
    except (ValueError, TypeError, LookupError):
        return 0.0


def decoded_body(stored: tuple[int, bytes, int | None, bytes | None]) -> dict[str, Any]:
    """Decode a body: its codec, its bytes, its blob's size and bytes; raises ValueError."""
    codec, body, size, data = stored
    if codec:
        blob = None if data is None or size is None else unpack(data, size)
        if blob is not None and blob_id(blob) != body:
            message = "it is not what was hashed"
            raise ValueError(message)
        body = plain_body(codec, body, blob)
    found: object = orjson.loads(body)
    if not isinstance(found, dict):
        message = "it is no object"
        raise ValueError(message)  # noqa: TRY004 - one error for all damage
    fields = cast("dict[str, Any]", found)
    return _storable(fields) if _NUL in body else fields


def _storable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Put U+FFFD for the one character that no text column holds."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, list):
        return [_storable(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _storable(one) for key, one in cast("dict[str, object]", value).items()}
    return value
