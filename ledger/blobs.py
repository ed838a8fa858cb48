"""Content-addressed bytes: what is too large for an event's row."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import zstandard

from domain.errors import bug

if TYPE_CHECKING:
    from ledger.connect import Ledger


def blob_id(data: bytes) -> bytes:
    """Name bytes by their SHA-256 (32 bytes)."""
    return hashlib.sha256(data).digest()


def pack(data: bytes) -> bytes:
    """Compress bytes for storage."""
    return zstandard.ZstdCompressor(level=3).compress(data)


def unpack(data: bytes, size: int) -> bytes:
    """Give stored bytes back; raises ValueError where they are damaged."""
    try:
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except zstandard.ZstdError as exc:
        raise ValueError(str(exc)) from None


async def put_blob(ledger: Ledger, data: bytes) -> bytes:
    """Store bytes and give their name; storing the same bytes again changes nothing."""
    name = blob_id(data)
    await ledger.pool.execute(
        "insert into ledger.blob (blob_id, size, data) values ($1, $2, $3) on conflict do nothing",
        name,
        len(data),
        pack(data),
    )
    return name


async def get_blob(ledger: Ledger, name: bytes) -> bytes:
    """Read bytes by name; raises `blob_missing` or `blob_damaged`."""
    row = await ledger.pool.fetchrow("select size, data from ledger.blob where blob_id = $1", name)
    if row is None:
        raise bug("blob_missing", f"blob {name.hex()} is referred to and not stored")
    try:
        data = unpack(row["data"], row["size"])
    except ValueError:
        data = b""
    if blob_id(data) != name:
        raise bug("blob_damaged", f"blob {name.hex()} does not hold the bytes of its name")
    return data
