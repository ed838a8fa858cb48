"""A fact to the bytes of its row and back: envelope, body, codec, digests."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

import orjson
import zstandard

from domain import events
from domain.codec import canonical

ZSTD_ABOVE = 1024
BLOB_ABOVE = 8192
KEY_ID = "default"
_BLOCK = 64


class Codec(IntEnum):
    """How a body is stored: as it is, compressed, or as the name of a blob."""

    PLAIN = 0
    ZSTD = 1
    BLOB = 2


@dataclass(frozen=True)
class Author:
    """Who causes an append, set by the server and never from a body.

    `actor` is `person:<name>`, `agent:<run>`, `system` or `temporal-operator`; `via` the
    door; `causation` what made it happen (an activity, a submission); `correlation` the run.
    `worked` is for how many milliseconds the execution that appends has lived, 0 for none.
    """

    actor: str
    principal: str
    via: str
    causation: str = ""
    correlation: str = ""
    worked: int = 0


class Row(NamedTuple):
    """One event as it is about to be stored; `blob` is what must be stored before it."""

    event_id: str
    type: str
    schema_version: int
    correlation: str
    envelope: bytes
    body: bytes
    codec: Codec
    blobs: bytes
    commit: bytes
    same: bytes
    closes: bool
    blob: bytes | None


def _stored(body: bytes) -> tuple[Codec, bytes, bytes | None]:
    if len(body) > BLOB_ABOVE:
        return Codec.BLOB, sha256(body).digest(), body
    if len(body) > ZSTD_ABOVE:
        return Codec.ZSTD, zstandard.ZstdCompressor(level=3).compress(body), None
    return Codec.PLAIN, body, None


def same_digest(secret: bytes, fact: events.Fact) -> bytes:
    """Digest a fact's content under a key, for judging whether a command was repeated."""
    return _same_digest(secret, fact.type, events.encode(fact))


def _same_digest(secret: bytes, type_name: str, body: bytes) -> bytes:
    """Take the HMAC-SHA256, by its definition: the library's way costs three times as much."""
    inner, outer = _pads(secret)
    return sha256(outer + sha256(inner + type_name.encode() + b"\0" + body).digest()).digest()


@lru_cache(maxsize=8)
def _pads(secret: bytes) -> tuple[bytes, bytes]:
    key = (secret if len(secret) <= _BLOCK else sha256(secret).digest()).ljust(_BLOCK, b"\0")
    return bytes(each ^ 0x36 for each in key), bytes(each ^ 0x5C for each in key)


def row_of(fact: events.Fact, author: Author, occurred_at: str, secret: bytes, refs: bytes) -> Row:
    """Encode one fact; `refs` are names (32 bytes each) of blobs that its body mentions."""
    event_id = events.event_id(fact)
    envelope: dict[str, str | int] = {
        "event_id": event_id,
        "type": fact.type,
        "schema_version": fact.version,
        "actor": author.actor,
        "principal_id": author.principal,
        "via": author.via,
        "causation_id": author.causation,
        "correlation_id": author.correlation,
        "occurred_at": occurred_at,
    }
    if author.worked:
        envelope["worked_ms"] = author.worked
    body = events.encode(fact)
    codec, stored, blob = _stored(body)
    return Row(
        event_id=event_id,
        type=fact.type,
        schema_version=fact.version,
        correlation=author.correlation,
        envelope=_flat(envelope),
        body=stored,
        codec=codec,
        blobs=(stored if blob is not None else b"") + refs,
        commit=sha256(stored).digest(),
        same=_same_digest(secret, fact.type, body),
        closes=fact.closes,
        blob=blob,
    )


def _flat(envelope: dict[str, str | int]) -> bytes:
    """Encode an envelope: it holds nothing in which the two encoders could differ."""
    try:
        return orjson.dumps(envelope, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return canonical(envelope)


def plain_body(codec: int, body: bytes, blob: bytes | None) -> bytes:
    """Give a stored body's canonical JSON back; raises ValueError where it is damaged."""
    match Codec(codec):
        case Codec.PLAIN:
            return body
        case Codec.ZSTD:
            try:
                return zstandard.ZstdDecompressor().decompress(body, max_output_size=1 << 20)
            except zstandard.ZstdError as exc:
                raise ValueError(str(exc)) from None
        case Codec.BLOB:
            if blob is None:
                message = f"the body's blob {body.hex()} is not stored"
                raise ValueError(message)
            return blob
