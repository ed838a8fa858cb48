"""Moves the rows on with the feed: one batch, one statement, whoever does it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import asyncpg

from domain.errors import LegatoError, bug, refused
from domain.projections.project import Needs, project
from domain.projections.tables import Tables
from ledger.projections.batch import events_of, read_batch
from ledger.projections.tables import (
    CALL,
    INPUT,
    ITEM,
    PROJECTOR,
    RUN,
    SCHEMA,
    SESSION,
    STEP,
    USAGE,
    Table,
    json_of,
    writing_all,
)

if TYPE_CHECKING:
    from ledger.connections import Connections
    from ledger.projections.source import Source

BATCH = 1000
"""Events of one batch at most."""

MOST_KEPT = 10_000
"""Rows that are kept from batch to batch, so that they need not be loaded again."""


@dataclass
class Projector:
    """One process's projector of one schema: the rows as they stand at `at`, kept for the next.

    Another process may project in between: what is kept is dropped then.
    """

    schema: str = SCHEMA
    at: int = -1
    kept: Tables = field(default_factory=Tables)

    def forget(self, at: int = -1) -> None:
        """Drop what is kept."""
        self.at, self.kept = at, Tables()


@dataclass(frozen=True)
class Standing:
    """Where rows and feed stand, by number."""

    rows: int
    feed: int


async def standing(source: Source, schema: str = SCHEMA) -> Standing:
    """Read where rows and feed stand; raises `projections_missing`."""
    try:
        row = await source.fetchrow(
            f"select c.global_seq, h.global_seq from {schema}.checkpoint c, ledger.feed_head h"
            " where c.projector = $1",
            PROJECTOR,
        )
    except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
        row = None
    if row is None:
        raise LegatoError(
            "projections_missing",
            "the tables that lists are read from are not there",
            next="run `legato ledger rebuild`, which makes them anew from the feed",
        )
    return Standing(*row)


async def project_once(
    source: Source, projector: Projector, *, limit: int = BATCH, until: int | None = None
) -> int | None:
    """Move the rows on by one batch; gives how many events, None where another is at it.

    Rows and checkpoint are written by one statement, which does nothing where the
    checkpoint has moved or is held by another: no event counts twice, and a process that
    dies leaves nothing half. `until` is a number not to pass. Raises `event_too_new`,
    `rows_invalid`, `feed_broken`, `projections_missing`.
    """
    stands = await standing(source, projector.schema)
    end = min(stands.feed, stands.rows + limit, stands.feed if until is None else until)
    if end <= stands.rows:
        return 0
    if projector.at != stands.rows:
        projector.forget(stands.rows)
    batch = await prepare(source, projector, end)
    if not await write(source, projector, batch):
        return None
    trim(projector)
    return end - stands.rows


async def project_all(pool: Connections, projector: Projector, until: int) -> int:
    """Move the rows on to a number as fast as it goes; gives how many events.

    While one batch is written, the next is read and projected. For rows that nobody else
    moves on; raises `projections_busy` where somebody does, and what `project_once` raises.
    """
    first = (await standing(pool, projector.schema)).rows
    projector.forget(first)
    writing: asyncio.Task[bool] | None = None
    try:
        while projector.at < until or writing is not None:
            batch = None
            if projector.at < until:
                batch = await prepare(pool, projector, min(projector.at + BATCH, until))
            if writing is not None and not await writing:
                raise refused(
                    "projections_busy",
                    "another process moved the same rows on",
                    next="run the command again",
                )
            writing = None
            if batch is not None:
                writing = asyncio.create_task(write(pool, projector, batch))
                if projector.kept.size() > MOST_KEPT:
                    await writing
                    trim(projector)
    finally:
        if writing is not None:
            await asyncio.wait([writing])
    return until - first


def trim(projector: Projector) -> None:
    """Drop the kept rows where they are many: they are loaded again as they are needed."""
    if projector.kept.size() > MOST_KEPT:
        projector.forget(projector.at)


@dataclass(frozen=True)
class Batch:
    """A batch that is projected and not written: from and to which number, and its rows."""

    after: int
    until: int
    tables: tuple[Table, ...]
    arguments: tuple[str, ...]


async def prepare(source: Source, projector: Projector, until: int) -> Batch:
    """Read and project the events after the projector's place; moves the kept rows on."""
    after, kept = projector.at, projector.kept
    events = events_of(await read_batch(source, after, until), after)
    if len(events) < until - after:
        raise bug("feed_broken", f"number {after + len(events) + 1} of the feed is missing")
    needs = Needs()
    for event in events:
        needs.add(event)
    await _load(source, projector, needs)
    kept.begin()
    for event in events:
        project(kept, event)
    try:
        batch = _batch(kept, after, until)
    except TypeError as exc:
        projector.forget()
        raise _invalid(after, exc) from None
    projector.at = until
    return batch


def _batch(kept: Tables, after: int, until: int) -> Batch:
    changed = kept.changed
    every: tuple[tuple[Table, dict[Any, Any]], ...] = (
        (RUN, changed.runs),
        (ITEM, changed.items),
        (STEP, changed.steps),
        (CALL, changed.calls),
        (INPUT, changed.inputs),
        (SESSION, changed.sessions),
        (USAGE, kept.usage),
    )
    filled = [(table, rows) for table, rows in every if rows]
    arguments = tuple(json_of(rows.values()) for _, rows in filled)
    return Batch(after, until, tuple(table for table, _ in filled), arguments)


def _invalid(after: int, exc: Exception) -> LegatoError:
    where = f"the events after number {after} of the feed give what no row can hold"
    return bug("rows_invalid", where, error=type(exc).__name__)


async def write(source: Source, projector: Projector, batch: Batch) -> bool:
    """Write a batch; False, with nothing written, where another projector was first."""
    statement = writing_all(projector.schema, batch.tables)
    try:
        mine = await source.fetchval(statement, batch.until, batch.after, *batch.arguments)
    except asyncpg.DataError as exc:
        projector.forget()
        raise _invalid(batch.after, exc) from None
    except BaseException:
        projector.forget()
        raise
    if not mine:
        projector.forget()
    return bool(mine)


async def _load(source: Source, projector: Projector, needs: Needs) -> None:
    """Put the rows that a batch goes on from among the kept ones."""
    kept, used, made = projector.kept, needs.used, needs.made
    wanted: tuple[tuple[Table, set[Any], set[Any], dict[Any, Any]], ...] = (
        (RUN, used.runs, made.runs, kept.runs),
        (ITEM, used.items, made.items, kept.items),
        (STEP, used.steps, set(), kept.steps),
        (CALL, used.calls, made.calls, kept.calls),
        (INPUT, used.inputs, made.inputs, kept.inputs),
        (SESSION, used.sessions, set(), kept.sessions),
    )
    for table, keys, new, there in wanted:
        missing = keys - there.keys() - new
        if missing:
            await _load_table(source, projector.schema, table, missing, there)


async def _load_table(
    source: Source, schema: str, table: Table, keys: set[Any], there: dict[Any, Any]
) -> None:
    columns = list(zip(*keys, strict=True)) if table.keys > 1 else [list(keys)]
    for row in await source.fetch(table.loading(schema), *columns):
        key = tuple(row)[: table.keys]
        there[key if table.keys > 1 else key[0]] = table.row(*row)
