"""The ledger's connections: each stays with the ledger from one statement to the next."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import asyncpg

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    Pool: TypeAlias = asyncpg.Pool[asyncpg.Record]
    Connection: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]

STALE = 240.0
"""Seconds after which an idle connection is not trusted: something between may have cut it."""


def _is_gone(connection: Connection) -> bool:
    """Tell whether a connection is closed; the pool takes one that was cut back by itself."""
    try:
        return connection.is_closed()
    except asyncpg.InterfaceError:
        return True


class Connections:
    """A pool that is not asked for each statement, which costs as much as the statement.

    A connection is given back to the pool when it failed, when somebody waits for one, and
    at the end; in between it lies here, the last used on top.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._idle: list[tuple[Connection, float]] = []
        self._doubtful: list[Connection] = []
        self._waiting = 0

    async def fetch(self, query: str, *args: object) -> list[asyncpg.Record]:
        """Run a statement and give its rows."""
        connection = self._at_hand() or await self._asked_for()
        try:
            rows = await connection.fetch(query, *args)
        except BaseException:
            await self._pool.release(connection)  # it settles what was left undone
            raise
        if not self._kept(connection):
            await self._pool.release(connection)
        return rows

    async def fetchrow(self, query: str, *args: object) -> asyncpg.Record | None:
        """Run a statement and give its first row."""
        async with self.acquire() as connection:
            return await connection.fetchrow(query, *args)

    async def fetchval(self, query: str, *args: object) -> Any:  # noqa: ANN401 - the column's type
        """Run a statement and give the first column of its first row."""
        async with self.acquire() as connection:
            return await connection.fetchval(query, *args)

    async def execute(self, query: str, *args: object) -> None:
        """Run a statement; without values it may be several."""
        async with self.acquire() as connection:
            await connection.execute(query, *args)

    @asynccontextmanager
    async def acquire(self) -> AsyncGenerator[Connection]:
        """Have a connection for oneself."""
        connection = self._at_hand() or await self._asked_for()
        try:
            yield connection
        except BaseException:
            await self._pool.release(connection)
            raise
        if not self._kept(connection):
            await self._pool.release(connection)

    def _at_hand(self) -> Connection | None:
        """Take the connection that was used last, if it can be trusted."""
        if not self._idle:
            return None
        connection, since = self._idle.pop()
        if _is_gone(connection) or time.monotonic() - since > STALE:
            self._doubtful.append(connection)
            return None
        return connection

    def _kept(self, connection: Connection) -> bool:
        """Lay a connection by; False where it has to go back to the pool."""
        if self._waiting or _is_gone(connection) or self._pool.is_closing():
            return False
        self._idle.append((connection, time.monotonic()))
        return True

    async def _asked_for(self) -> Connection:
        """Have one from the pool, which makes up for those that are doubtful."""
        while self._doubtful:
            connection = self._doubtful.pop()
            if not _is_gone(connection):
                connection.terminate()
            await self._pool.release(connection)
        self._waiting += 1
        try:
            return await self._pool.acquire()
        finally:
            self._waiting -= 1

    async def close(self) -> None:
        """Close all connections, once those in use are done; safe to call twice."""
        idle = [*(connection for connection, _ in self._idle), *self._doubtful]
        self._idle, self._doubtful = [], []
        await asyncio.gather(*(self._pool.release(connection) for connection in idle))
        await self._pool.close()

    def terminate(self) -> None:
        """Close all connections now."""
        self._idle, self._doubtful = [], []
        self._pool.terminate()
