"""Connections that stay: one that was cut or lay too long is replaced, and nobody notices."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg

from ledger import connections

if TYPE_CHECKING:
    import pytest

    from ledger.connect import Ledger

BACKEND = "select pg_backend_pid()"


async def cut(url: str, backend: int) -> None:
    """End a connection from the server's side, and wait until ours has heard of it."""
    other = await asyncpg.connect(url)
    await other.execute("select pg_terminate_backend($1)", backend)
    async with asyncio.timeout(20):
        gone = "select not exists (select from pg_stat_activity where pid = $1)"
        while not await other.fetchval(gone, backend):  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.01)
    await other.fetchval("select 1")
    await other.close()


async def test_a_connection_stays_from_one_statement_to_the_next(ledger: Ledger) -> None:
    assert await ledger.pool.fetchval(BACKEND) == await ledger.pool.fetchval(BACKEND)


async def test_a_connection_that_was_cut_while_it_lay_idle_is_replaced(
    ledger: Ledger, url: str
) -> None:
    first = await ledger.pool.fetchval(BACKEND)
    await cut(url, first)

    assert await ledger.pool.fetchval(BACKEND) != first


async def test_a_connection_that_lay_too_long_is_replaced(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await ledger.pool.fetchval(BACKEND)
    monkeypatch.setattr(connections, "STALE", -1.0)

    assert await ledger.pool.fetchval(BACKEND) != first


async def test_a_connection_that_is_cut_in_use_is_not_used_again(ledger: Ledger, url: str) -> None:
    async with ledger.pool.acquire() as held:
        await cut(url, await held.fetchval(BACKEND))

    assert await ledger.pool.fetchval("select 1") == 1
