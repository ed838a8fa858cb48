"""A gate between a worker and its database, which a test shuts and opens."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

SOCKET = ".s.PGSQL.5432"


@dataclass
class Gate:
    """Passes bytes to a database's socket while it is open; `url` leads through it."""

    url: str
    behind: str
    at: str
    writers: list[asyncio.StreamWriter] = field(default_factory=list[asyncio.StreamWriter])
    server: asyncio.Server | None = None

    async def open(self) -> None:
        """Take connections."""
        self.server = await asyncio.start_unix_server(self._pass, self.at)

    async def shut(self) -> None:
        """Refuse new connections and break those that stand."""
        if self.server is not None:
            self.server.close()
        for writer in self.writers:
            writer.close()
        self.writers.clear()
        await asyncio.sleep(0)

    async def _pass(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            far, out = await asyncio.open_unix_connection(self.behind)
            self.writers += (back, out)
            await asyncio.gather(_copy(near, out), _copy(far, back), return_exceptions=True)


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            target.write(data)
            await target.drain()
    finally:
        target.close()


@asynccontextmanager
async def gate_before(database_url: str, folder: Path) -> AsyncGenerator[Gate]:
    """Put an open gate before the database of an address; the socket is in `folder`."""
    parts = urlsplit(database_url)
    (behind,) = parse_qs(parts.query)["host"]
    url = urlunsplit(parts._replace(query=f"host={quote(str(folder))}"))
    gate = Gate(url, f"{behind}/{SOCKET}", str(folder / SOCKET))
    await gate.open()
    try:
        yield gate
    finally:
        await gate.shut()
