"""A database that could lose what it has confirmed is refused, with all that is wrong of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from ledger.connect import open_ledger
from tests.support.ledger import connected

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


async def _is(url: str, name: str, value: str) -> None:
    """Wait until every new session of the server sees a setting."""
    async with asyncio.timeout(30):
        while True:
            async with connected(url) as connection:
                if await connection.fetchval(f"show {name}") == value:
                    return
            await asyncio.sleep(0.02)


@pytest.fixture
async def weakened(url: str) -> AsyncIterator[str]:
    """A server without full_page_writes and fsync, and a database that confirms too early."""
    async with connected(url) as connection:
        for statement in (
            "alter system set fsync = off",
            "alter system set full_page_writes = off",
            "alter database empty set synchronous_commit = off",
            "select pg_reload_conf()",
        ):
            await connection.execute(statement)
    await _is(url, "fsync", "off")
    await _is(url, "full_page_writes", "off")
    yield url
    async with connected(url) as connection:
        for statement in (
            "alter system reset fsync",
            "alter system reset full_page_writes",
            "alter database empty reset synchronous_commit",
            "select pg_reload_conf()",
        ):
            await connection.execute(statement)
    await _is(url, "fsync", "on")
    await _is(url, "full_page_writes", "on")


async def test_a_database_that_could_lose_what_it_confirmed_is_refused_with_every_reason(
    weakened: str,
) -> None:
    with pytest.raises(LegatoError) as refusal:
        await open_ledger(weakened)

    assert refusal.value.code == "ledger_unsafe"
    assert refusal.value.details["problems"] == [
        "fsync is off",
        "full_page_writes is off",
        "synchronous_commit is off",
    ]
    assert "DATABASE_URL" in refusal.value.next
