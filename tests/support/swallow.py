"""A Unix socket in front of Postgres that can lose a reply after the server has acted."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

_PORT = 5432


@dataclass
class Swallow:
    """The connections through it. While `swallowing`, nothing the server says gets back.

    `spoke` is set once something was swallowed.
    """

    url: str
    swallowing: bool = False
    spoke: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    _clients: set[asyncio.StreamWriter] = field(default_factory=set[asyncio.StreamWriter])

    def cut(self) -> None:
        """Break every connection towards the client, as a dying network would."""
        for writer in self._clients:
            writer.transport.abort()

    async def forward(
        self, source: asyncio.StreamReader, to: asyncio.StreamWriter, *, reply: bool
    ) -> None:
        """Pass bytes on until one side ends."""
        with suppress(ConnectionError):
            while data := await source.read(65536):
                if reply and self.swallowing:
                    self.spoke.set()
                    continue
                to.write(data)
                await to.drain()
        to.close()

    async def serve(
        self, server: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Connect one client to the real socket."""
        self._clients.add(writer)
        there_reader, there_writer = await asyncio.open_unix_connection(server)
        await asyncio.gather(
            self.forward(reader, there_writer, reply=False),
            self.forward(there_reader, writer, reply=True),
        )
        self._clients.discard(writer)


@asynccontextmanager
async def swallow(url: str, folder: Path) -> AsyncGenerator[Swallow]:
    """Put a socket in `folder` before the server that `url` names by a socket of its own."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    name = f".s.PGSQL.{_PORT}"
    real = f"{query['host'][0]}/{name}"
    place = urlencode({"host": str(folder), "port": str(_PORT)}, safe="/")
    made = Swallow(urlunsplit(parts._replace(query=place)))

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        made.tasks.add(asyncio.create_task(made.serve(real, reader, writer)))

    listener = await asyncio.start_unix_server(accept, str(folder / name))
    try:
        yield made
    finally:
        listener.close()
        made.cut()
        await asyncio.gather(*made.tasks)
