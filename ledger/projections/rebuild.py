"""Makes the rows anew from the first event, compares, and puts the new ones in their place."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from domain.errors import refused
from ledger.projections.compare import Difference, Differences, compare_schemas
from ledger.projections.project import Projector, project_all, project_once, standing
from ledger.projections.tables import PROJECTOR, SCHEMA, TABLES

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ledger.connect import Ledger
    from ledger.projections.catch_up import Connection

BESIDE = "projection_rebuild"
"""The schema in which rows are made anew; nothing else is ever in it."""

_FILES = ("0004_projections.sql", "0009_damaged.sql", "0011_budget_rows.sql")
_LONG = 3600.0
_LOCK = "hashtext('legato.projection_rebuild')"
_TRIES = 5
_TABLES = ", ".join(f"{SCHEMA}.{table.name}" for table in TABLES)


@dataclass(frozen=True)
class Rebuilt:
    """What a rebuild came to.

    `events` were projected in `seconds`; the rows tell up to `global_seq`. `identical` says
    whether the rows that stood there, up to `compared_at`, were the very ones that the
    events give; None where there were none. `differing` names the first that were not,
    `differences` counts them: they were replaced.
    """

    events: int
    seconds: float
    global_seq: int
    compared_at: int
    identical: bool | None
    differences: int
    differing: tuple[Difference, ...]


async def rebuild(ledger: Ledger) -> Rebuilt:
    """Make all rows anew from the feed; lists go on meanwhile with the rows that stand.

    Tables that are missing are made. Raises `rebuild_running` where another process is at
    it, and what `project_once` raises: then the rows in use are left as they are.
    """
    async with _alone(ledger) as connection:
        await connection.execute(_schema())
        await _make_beside(connection)
        try:
            return await _rebuilt(ledger, connection)
        finally:
            await connection.execute(f"drop schema if exists {BESIDE} cascade")


def _schema() -> str:
    folder = files("ledger").joinpath("migrations", "sql")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in _FILES)


@asynccontextmanager
async def _alone(ledger: Ledger) -> AsyncGenerator[Connection]:
    """Be the only one that rebuilds, for as long as one connection lives."""
    async with ledger.pool.acquire() as connection:
        if not await connection.fetchval(f"select pg_try_advisory_lock({_LOCK})"):
            raise refused(
                "rebuild_running",
                "another process is making the rows anew",
                next="wait until it is done; lists go on meanwhile",
            )
        try:
            yield connection
        finally:
            await connection.execute(f"select pg_advisory_unlock({_LOCK})")


async def _make_beside(connection: Connection) -> None:
    made = [f"drop schema if exists {BESIDE} cascade", f"create schema {BESIDE}"]
    made += [
        f"create unlogged table {BESIDE}.{name} (like {SCHEMA}.{name} including indexes)"
        for name in (*(table.name for table in TABLES), "checkpoint")
    ]
    made.append(f"insert into {BESIDE}.checkpoint values ('{PROJECTOR}', 0)")
    await connection.execute("; ".join(made))


async def _rebuilt(ledger: Ledger, connection: Connection) -> Rebuilt:
    beside, began = Projector(BESIDE), time.monotonic()
    stands = await standing(ledger.pool)
    events = await project_all(ledger.pool, beside, min(stands.rows, stands.feed))
    seconds = time.monotonic() - began
    compared, found = await _compared(ledger, connection, beside)
    if found.count or stands.rows == 0 or stands.rows > stands.feed:
        began = time.monotonic()
        feed = (await standing(ledger.pool)).feed
        events += await project_all(ledger.pool, beside, feed)
        seconds += time.monotonic() - began
        await _replace(connection, beside)
    while await project_once(ledger.pool, Projector()):
        continue
    identical = None if compared == 0 else not found.count
    at = (await standing(ledger.pool)).rows
    named = tuple(found.named)
    return Rebuilt(events, round(seconds, 3), at, compared, identical, found.count, named)


async def _compared(
    ledger: Ledger, connection: Connection, beside: Projector
) -> tuple[int, Differences]:
    """Compare both at one number: that of the rows in use, at one moment of theirs."""
    async with (
        ledger.pool.acquire() as in_use,
        in_use.transaction(isolation="repeatable_read", readonly=True),
    ):
        stands = await standing(in_use)
        if stands.rows > stands.feed:
            what = Difference("checkpoint", (PROJECTOR,), "differs", ("global_seq",))
            return stands.rows, Differences([what], 1)
        await project_all(ledger.pool, beside, stands.rows)
        async with connection.transaction(isolation="repeatable_read", readonly=True):
            return stands.rows, await compare_schemas(in_use, connection, BESIDE)


async def _replace(connection: Connection, beside: Projector) -> None:
    """Put the new rows in the place of the others, in one transaction; lists wait for it."""
    async with connection.transaction():
        held = (
            f"select global_seq from {SCHEMA}.checkpoint where projector = '{PROJECTOR}' for update"
        )
        stands = await connection.fetchval(held, timeout=_LONG)
        feed = (await standing(connection, BESIDE)).feed
        while await project_once(connection, beside, until=min(max(stands, 0), feed)):
            continue
        await connection.execute(f"truncate {_TABLES}", timeout=_LONG)
        for table in TABLES:
            columns = ", ".join(table.columns)
            await connection.execute(
                f"insert into {SCHEMA}.{table.name} ({columns})"
                f" select {columns} from {BESIDE}.{table.name}",
                timeout=_LONG,
            )
        await connection.execute(
            f"update {SCHEMA}.checkpoint set global_seq ="
            f" (select global_seq from {BESIDE}.checkpoint) where projector = '{PROJECTOR}'"
        )
