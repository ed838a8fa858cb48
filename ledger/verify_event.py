"""Recomputes one event from its row: columns, commitment, link, body, digest, order."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from struct import Struct
from typing import TYPE_CHECKING, cast

import orjson

from domain.errors import LegatoError
from domain.events import Fact, decode, event_id
from ledger.encode import Codec, plain_body

if TYPE_CHECKING:
    import asyncpg

GENESIS = bytes(32)
NAME_BYTES = 32
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=UTC), timedelta(microseconds=1)
_SIZE, _PLACE, _CODEC = Struct(">I").pack, Struct(">qq").pack, Struct(">h").pack
_LINKED = (
    "version, recorded_at, envelope, codec, key_id, blobs, body_commit, same_digest, hash "
    "or the event before"
)


class BadPlaceError(Exception):
    """The first thing that does not hold at some place of a stream."""


@dataclass(frozen=True)
class Head:
    """A stream's head as its events give it, up to some version."""

    version: int = 0
    hash: bytes = GENESIS
    order_key: int = 0
    pos: int = 0
    closed_at: datetime | None = None


def link(prev: bytes, row: asyncpg.Record) -> bytes:
    """Compute one link of a stream's chain: the layout of `ledger.link`, byte for byte."""
    stream, key = row["stream_id"].encode(), row["key_id"].encode()
    envelope, blobs, commit = row["envelope"], row["blobs"], row["body_commit"]
    micros, same = (row["recorded_at"] - _EPOCH) // _MICROSECOND, row["same_digest"]
    parts = (
        *(b"ledger/1", prev),
        *(_SIZE(len(stream)), stream),
        _PLACE(row["version"], micros),
        *(_SIZE(len(envelope)), envelope),
        _CODEC(row["codec"]),
        *(_SIZE(len(key)), key),
        *(_SIZE(len(blobs)), blobs),
        *(_SIZE(len(commit)), commit),
        *(_SIZE(len(same)), same),
    )
    return hashlib.sha256(b"".join(parts)).digest()


@lru_cache(maxsize=8)
def _keyed(secret: bytes) -> hmac.HMAC:
    """Give what digests under a key, to be copied: it costs more to make than to use."""
    return hmac.new(secret, digestmod="sha256")


def _same(secret: bytes, type_name: str, body: bytes) -> bytes:
    """Compute a content's digest by the library's HMAC, on which appends do not rely."""
    keyed = _keyed(secret).copy()
    keyed.update(type_name.encode() + b"\0" + body)
    return keyed.digest()


def check_row(head: Head, row: asyncpg.Record) -> None:
    """Check all that a row says without its body; raises BadPlaceError."""
    _check_columns(row)
    if hashlib.sha256(row["body"]).digest() != row["body_commit"]:
        raise BadPlaceError("body_commit is not the digest of the stored body")
    if link(head.hash, row) != row["hash"]:
        raise BadPlaceError(f"the link does not hold: one of {_LINKED} was changed")
    if row["order_key"] < head.order_key or row["pos"] <= head.pos:
        raise BadPlaceError("order_key or pos goes back within the stream")


def _check_columns(row: asyncpg.Record) -> None:
    """Compare the columns that repeat the envelope with it."""
    try:
        read = orjson.loads(row["envelope"])
    except ValueError:
        read = None
    if not isinstance(read, dict):
        raise BadPlaceError("the envelope is not a JSON object")
    envelope = cast("dict[str, object]", read)
    for column in ("event_id", "type", "schema_version", "correlation_id"):
        if envelope.get(column) != row[column]:
            raise BadPlaceError(
                f"column {column} is {row[column]!r}, the envelope says {envelope.get(column)!r}"
            )


def blob_names(row: asyncpg.Record) -> list[bytes]:
    """List the blobs an event refers to, the one that holds its body first."""
    listed = row["blobs"]
    if len(listed) % NAME_BYTES:
        raise BadPlaceError("blobs is not a list of names of 32 bytes")
    names = [listed[n : n + NAME_BYTES] for n in range(0, len(listed), NAME_BYTES)]
    if row["codec"] == Codec.BLOB and names[:1] != [row["body"]]:
        raise BadPlaceError("the body's blob does not stand first in blobs")
    return names


def check_body(row: asyncpg.Record, blob: bytes | None, secret: bytes) -> Fact:
    """Decode a body, `blob` being the bytes of a body kept as one; raises BadPlaceError."""
    try:
        body = plain_body(row["codec"], row["body"], blob)
        fact = decode(row["type"], row["schema_version"], body)
    except LegatoError as exc:
        raise BadPlaceError(f"the body cannot be read: {exc.message}") from None
    except (ValueError, MemoryError) as exc:
        raise BadPlaceError(f"the body cannot be read: {exc}") from None
    if event_id(fact) != row["event_id"]:
        raise BadPlaceError(f"the body is of event {event_id(fact)}, not of {row['event_id']}")
    if _same(secret, row["type"], body) != row["same_digest"]:
        raise BadPlaceError("same_digest is not the digest of the body under the subject's key")
    return fact


def advance(head: Head, row: asyncpg.Record, fact: Fact) -> Head:
    """Give the head after one more event."""
    after = Head(row["version"], row["hash"], row["order_key"], row["pos"], head.closed_at)
    return replace(after, closed_at=row["recorded_at"]) if fact.closes else after


def check_head(head: Head, stored: asyncpg.Record) -> None:
    """Compare a stream's head row with what its events give; raises BadPlaceError.

    Its order key may lie above that of its last event, as assertions raise it too, but not
    at the cluster's next key (`next_key`) or above: that nothing here can have written.
    """
    kind = stored["stream_id"].partition("/")[0]
    wanted = {
        "version": head.version,
        "head_hash": head.hash,
        "closed_at": head.closed_at,
        "erased_at": None,
        "kind": kind,
    }
    wrong = [
        f"{name} is {_shown(stored[name])}, the events give {_shown(value)}"
        for name, value in wanted.items()
        if stored[name] != value
    ]
    key = stored["order_key"]
    if not head.order_key <= key < stored["next_key"]:
        wrong.append(f"order_key is {key}, not from {head.order_key} below {stored['next_key']}")
    if wrong:
        behind = stored["version"] > head.version
        cause = (
            "events are missing or the head row was changed"
            if behind
            else "the head row was changed"
        )
        raise BadPlaceError(f"{cause}: {'; '.join(wrong)}")


def _shown(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
