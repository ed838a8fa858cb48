"""A provider that answers each request with bytes as they are given: no server checks them."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


@dataclass
class RawProvider:
    """Where it listens, what it answers next and then always, and each request as it came."""

    otherwise: bytes = b""
    port: int = 0
    queue: deque[bytes] = field(default_factory=deque[bytes])
    requests: list[bytes] = field(default_factory=list[bytes])


@asynccontextmanager
async def raw_provider(otherwise: bytes = b"") -> AsyncGenerator[RawProvider]:
    """Serve until the block ends; each answer ends its connection, whatever it says."""
    state = RawProvider(otherwise)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            state.requests.append(head + body)
            writer.write(state.queue.popleft() if state.queue else state.otherwise)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    state.port = server.sockets[0].getsockname()[1]
    try:
        yield state
    finally:
        server.close()
