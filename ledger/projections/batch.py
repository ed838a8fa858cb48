"""Reads a batch of the feed as the projector takes it: checked for version, decoded if needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import orjson

from domain.errors import bug
from domain.projections.project import DECODED, KNOWN, check_known
from domain.projections.tables import Sequenced
from ledger.blobs import blob_id, unpack
from ledger.encode import plain_body

if TYPE_CHECKING:
    from collections.abc import Iterable

    import asyncpg

    from ledger.projections.source import Source

_EVENT = """e.type, e.schema_version, e.recorded_at, e.codec,
  case when e.type = any($3) then e.body end as body, b.size, b.data"""
_BLOB = "left join ledger.blob b on e.codec = 2 and e.type = any($3) and b.blob_id = e.body"
_BATCH = f"""select f.global_seq, f.stream_id, f.version, {_EVENT}
  from ledger.feed f
  left join ledger.event e on e.stream_id = f.stream_id and e.version = f.version
  {_BLOB}
  where f.global_seq > $1 and f.global_seq <= $2 order by f.global_seq"""

_WANTED = sorted(DECODED)
_NUL = b"\\u0000"
"""How canonical JSON writes the character, whether or not a backslash stands before it."""


async def read_batch(source: Source, after: int, until: int) -> list[asyncpg.Record]:
    """Read the feed's rows after a number up to another, in order, each with its event."""
    return await source.fetch(_BATCH, after, until, _WANTED)


def events_of(rows: Iterable[asyncpg.Record], after: int) -> list[Sequenced]:
    """Turn a batch's rows into events.

    Raises `feed_broken` where a number is missing or has no event, `event_too_new`, and
    `body_damaged`.
    """
    events: list[Sequenced] = []
    for row in rows:
        after += 1
        seq, stream, version, kind, schema, at, codec, body, size, data = row
        if seq != after or kind is None:
            raise bug("feed_broken", f"number {after} of the feed has no event", global_seq=after)
        if KNOWN.get(kind) != schema:
            check_known(stream, version, kind, schema)
        decoded = {} if body is None else decoded_body(stream, version, (codec, body, size, data))
        of, _, name = stream.partition("/")
        events.append(Sequenced(of, name, version, kind, at, decoded))
    return events


def decoded_body(
    stream: str, version: int, stored: tuple[int, bytes, int | None, bytes | None]
) -> dict[str, Any]:
    """Decode a body: its codec, its bytes, its blob's size and bytes; raises `body_damaged`."""
    codec, body, size, data = stored
    try:
        if codec:
            blob = None if data is None or size is None else unpack(data, size)
            if blob is not None and blob_id(blob) != body:
                raise ValueError("it is not what was hashed")  # noqa: TRY301 - told below
            body = plain_body(codec, body, blob)
        found: dict[str, Any] = orjson.loads(body)
    except ValueError as exc:
        where = f"the body of event {version} of {stream} cannot be read"
        raise bug("body_damaged", where, error=type(exc).__name__) from None
    return _storable(found) if _NUL in body else found


def _storable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Put U+FFFD for the one character that no text column holds."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd")
    if isinstance(value, list):
        return [_storable(one) for one in cast("list[object]", value)]
    if isinstance(value, dict):
        return {key: _storable(one) for key, one in cast("dict[str, object]", value).items()}
    return value
