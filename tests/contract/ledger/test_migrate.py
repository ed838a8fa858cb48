"""Bringing a database to this build's schema: cheap where it is there, once where it is not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import uuid
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from domain.errors import LegatoError
from ledger.connect import open_ledger
from ledger.feed import read_mark
from ledger.migrate import migrate, revision_of, revisions
from tests.support.ledger import connected, opened
from tests.support.stack import ROOT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.ledger import Server

OLD_APPEND = """select ledger.append(
  array[$1], array[null::bigint], array[false], array[1], array[$2], array['t'],
  array[1::smallint], array['c'], array[''::bytea], array[''::bytea], array[0::smallint],
  array['default'], array[''::bytea], array[''::bytea], array[''::bytea], array[false])"""
AT_FIRST = """create table schema_revision (version_num varchar(32) primary key);
insert into schema_revision values ('0001_ledger')"""
OLD_MARK = """insert into ledger.hand_over
  select 'temporal', order_key, pos from ledger.event order by pos offset 2 limit 1"""
_MIGRATES = """
import asyncio, sys
from ledger.migrate import migrate
asyncio.run(migrate(sys.argv[1]))
print(",".join(name for name in ("alembic", "sqlalchemy") if name in sys.modules))
"""


@pytest.fixture
async def fresh(postgres: Server) -> AsyncIterator[str]:
    """The address of a new database without any table."""
    name = f"fresh{uuid.uuid4().hex[:8]}"
    async with connected(postgres.empty) as connection:
        await connection.execute(f"create database {name}")
    yield urlsplit(postgres.empty)._replace(path=f"/{name}").geturl()
    async with connected(postgres.empty) as connection:
        await connection.execute(f"drop database {name} with (force)")


def loaded_by_migrating(url: str) -> str:
    """What a process of its own has loaded for it, of what takes long to load."""
    ran = subprocess.run(
        [sys.executable, "-c", _MIGRATES, url],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return ran.stdout.strip()


def test_a_database_that_is_up_to_date_costs_no_migration_library(url: str) -> None:
    assert loaded_by_migrating(url) == ""


async def test_an_empty_database_is_brought_to_the_newest_revision(fresh: str) -> None:
    assert await revision_of(fresh) == ""

    await asyncio.gather(*(migrate(fresh) for _ in range(3)))

    assert await revision_of(fresh) == revisions()[-1]
    async with opened(fresh) as ledger:
        assert await ledger.pool.fetchval("select count(*) from ledger.event") == 0


async def test_a_schema_of_a_later_build_is_left_alone_and_named(fresh: str) -> None:
    await migrate(fresh)
    async with connected(fresh) as connection:
        await connection.execute("update schema_revision set version_num = '9999_later'")

    with pytest.raises(LegatoError) as refusal:
        await migrate(fresh)

    assert refusal.value.code == "ledger_newer"
    assert "9999_later" in refusal.value.message
    assert await revision_of(fresh) == "9999_later"


async def test_a_database_without_tables_is_told_with_the_command_that_makes_them(
    fresh: str,
) -> None:
    with pytest.raises(LegatoError) as refusal:
        await open_ledger(fresh)

    assert refusal.value.code == "ledger_not_migrated"
    assert "`legato up`" in refusal.value.next


async def test_a_database_that_is_not_there_is_unreachable_to_migrate_too() -> None:
    with pytest.raises(LegatoError) as refusal:
        await migrate("postgresql://nobody@127.0.0.1:1/nothing")

    assert refusal.value.code == "ledger_unreachable"
    assert "DATABASE_URL" in refusal.value.next


async def test_a_ledger_without_a_feed_gets_numbers_and_its_relays_mark_becomes_one(
    fresh: str,
) -> None:
    first = (ROOT / "ledger/migrations/sql/0001_ledger.sql").read_text(encoding="utf-8")
    async with connected(fresh) as connection:
        await connection.execute(first)
        await connection.execute(AT_FIRST)
        for n in range(5):
            await connection.execute(OLD_APPEND, f"incoming/s{n % 2}", f"e{n}")
        await connection.execute(OLD_MARK)

    await migrate(fresh)

    async with opened(fresh) as ledger:
        rows = await ledger.pool.fetch("select * from ledger.feed order by global_seq")
        assert await read_mark(ledger, "temporal") == 3
    assert [(r["global_seq"], r["stream_id"], r["version"]) for r in rows] == [
        (n + 1, f"incoming/s{n % 2}", n // 2 + 1) for n in range(5)
    ]
