"""A TCP proxy that a test makes slow, deaf, or cut connections: what a network does to us."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_LINGER = struct.pack("ii", 1, 0)
"""Closing then sends a reset instead of an orderly end."""


@dataclass
class Proxy:
    """Passes bytes both ways on a loopback port.

    `latency` is in seconds each way. While `deaf`, bytes are taken and kept, new
    connections too: the other side sees silence. `cut_after` counts down the bytes that
    still come back from the server before its connection is reset.
    """

    far: Callable[[], Awaitable[Streams]]
    port: int = 0
    latency: float = 0.0
    hearing: asyncio.Event = field(default_factory=asyncio.Event)
    cut_after: int | None = None
    pairs: list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = field(
        default_factory=list[tuple[asyncio.StreamWriter, asyncio.StreamWriter]]
    )
    passing: set[asyncio.Task[None]] = field(default_factory=set["asyncio.Task[None]"])

    def deafen(self) -> None:
        """Pass nothing more until `hear`."""
        self.hearing.clear()

    def hear(self) -> None:
        """Pass what was kept, and all that comes."""
        self.hearing.set()

    def reset(self) -> None:
        """Reset every connection that stands."""
        for pair in self.pairs:
            for writer in pair:
                _reset(writer)
        self.pairs.clear()

    def half_close(self) -> None:
        """End what the server sends, while the client may go on sending."""
        for near, _ in self.pairs:
            with suppress(OSError, RuntimeError):
                near.write_eof()

    async def accept(self, reader: asyncio.StreamReader, near: asyncio.StreamWriter) -> None:
        """Take one connection and pass its bytes until it ends."""
        task = asyncio.current_task()
        if task is not None:
            self.passing.add(task)
            task.add_done_callback(self.passing.discard)
        await self.hearing.wait()
        try:
            answers, far = await self.far()
        except OSError:
            _reset(near)
            return
        pair = (near, far)
        self.pairs.append(pair)
        await asyncio.gather(
            self._pass(reader, far, back=False), self._pass(answers, near, back=True)
        )
        if pair in self.pairs:
            self.pairs.remove(pair)

    async def _pass(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, back: bool
    ) -> None:
        with suppress(OSError, RuntimeError):
            while data := await source.read(65536):
                await asyncio.sleep(self.latency)
                await self.hearing.wait()
                if back and self._cuts(len(data)):
                    self.reset()
                    return
                target.write(data)
                await target.drain()
            target.write_eof()

    def _cuts(self, size: int) -> bool:
        if self.cut_after is None:
            return False
        self.cut_after -= size
        if self.cut_after > 0:
            return False
        self.cut_after = None
        return True


def _reset(writer: asyncio.StreamWriter) -> None:
    raw = writer.get_extra_info("socket")
    if raw is not None and raw.family != socket.AF_UNIX:
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
    writer.transport.abort()


@asynccontextmanager
async def proxy(far: Callable[[], Awaitable[Streams]]) -> AsyncGenerator[Proxy]:
    """Run a proxy that hears until a test tells it otherwise."""
    made = Proxy(far)
    made.hear()
    server = await asyncio.start_server(made.accept, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    try:
        yield made
    finally:
        server.close()
        made.reset()
        for task in list(made.passing):
            task.cancel()


def to_address(address: str) -> Callable[[], Awaitable[Streams]]:
    """Lead to a server at host:port."""
    host, _, port = address.rpartition(":")
    return lambda: asyncio.open_connection(host, int(port))


def to_database(url: str) -> Callable[[], Awaitable[Streams]]:
    """Lead to the socket that a database's address names."""
    query = parse_qs(urlsplit(url).query)
    path = f"{query['host'][0]}/.s.PGSQL.{query.get('port', ['5432'])[0]}"
    return lambda: asyncio.open_unix_connection(path)


def through(url: str, made: Proxy) -> str:
    """Write a database's address so that it leads through a proxy."""
    parts = urlsplit(url)
    login = parts.netloc.rpartition("@")[0]
    return urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{made.port}", query=""))
