"""What was recorded stays: triggers stop whoever owns it, roles whoever appends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

from ledger.horizon import read_lag
from ledger.sequence import catch_up
from tests.support import facts
from tests.support.ledger import begin_run, connected, on_connection, put

if TYPE_CHECKING:
    from ledger.connect import Ledger

RECORDED = ("event", "feed", "checkpoint", "blob")
CHANGES = (
    "update ledger.{table} set {column} = {column}",
    "delete from ledger.{table}",
    "truncate ledger.{table}",
)
COLUMN = {"event": "hash", "feed": "hash", "checkpoint": "root", "blob": "data"}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("table", RECORDED)
async def test_not_even_the_owner_changes_what_was_recorded(
    url: str, table: str, change: str
) -> None:
    """Whether or not a row is there: the statement is refused."""
    async with connected(url) as connection:
        with pytest.raises(asyncpg.PostgresError, match="what was recorded stays"):
            await connection.execute(change.format(table=table, column=COLUMN[table]))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("table", RECORDED)
async def test_the_product_has_not_even_the_right_to_ask(
    ledger: Ledger, table: str, change: str
) -> None:
    """Its connections have given up the owner's rights."""
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await ledger.pool.execute(change.format(table=table, column=COLUMN[table]))


@pytest.mark.parametrize("sql", [
    "delete from ledger.stream", "update ledger.stream set kind = kind",
    "delete from ledger.feed_head", "update ledger.feed_head set epoch = 7",
    "select ledger.begin_epoch()", "alter table ledger.event disable trigger all",
    "set session_replication_role = replica", "drop table ledger.event",
])  # fmt: skip
async def test_the_product_may_not_take_a_way_around(ledger: Ledger, sql: str) -> None:
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await ledger.pool.execute(sql)


async def test_a_reader_reads_everything_but_the_secrets(url: str, ledger: Ledger) -> None:
    await begin_run(ledger, "r1")
    async with connected(url) as connection:
        await connection.execute("set role ledger_read")
        assert await connection.fetchval("select count(*) from ledger.event") == 3
        for sql in (
            "select * from ledger.subject_key",
            "insert into ledger.checkpoint default values",
        ):
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute(sql)


async def test_the_age_of_the_horizon_is_that_of_the_oldest_open_writer(
    url: str, ledger: Ledger
) -> None:
    """It is told where numbers are missing, and for how long."""
    async with connected(url) as other, other.transaction():
        await put(on_connection(ledger, other), "incoming/a", facts.message("m1"))
        await put(ledger, "incoming/b", facts.message("m2"))
        assert not await catch_up(ledger, within=0.2)
        held = await read_lag(ledger)
    assert await catch_up(ledger)

    assert held.horizon_age > held.behind > 0.1
    assert (await read_lag(ledger)).behind == 0
