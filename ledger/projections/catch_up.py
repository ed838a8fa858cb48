"""Brings the rows up to date before they are listed, and tells what they lack."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from domain.errors import LegatoError, refused
from ledger import sequence
from ledger.projections.project import Projector, project_once
from ledger.projections.tables import PROJECTOR, SCHEMA

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import asyncpg

    from ledger.connect import Ledger
    from ledger.projections.source import Source

    Connection = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]

T = TypeVar("T")

WITHIN = 0.3
"""Seconds that bringing rows up to date may take before they are listed."""

AFTER_WITHIN = 5.0
"""Seconds that a list waits for the event that it is asked to come after."""

MOST_UNNUMBERED = 10_000
"""Events without a number are counted up to here."""

_LOOK = 0.01
_PIECE = 300
"""Events of one batch here: a small one ends soon after its time."""

_LAG = f"""select c.global_seq as rows, h.global_seq as feed,
  (select count(*) from (
    select from ledger.event e where (e.order_key, e.pos) > (h.order_key, h.pos)
    limit {MOST_UNNUMBERED}) unnumbered) as unnumbered
  from {SCHEMA}.checkpoint c, ledger.feed_head h where c.projector = '{PROJECTOR}'"""
_REACHED = f"""select f.global_seq <= c.global_seq from ledger.feed f, {SCHEMA}.checkpoint c
  where f.stream_id = $1 and f.version = $2 and c.projector = '{PROJECTOR}'"""


@dataclass(frozen=True)
class Mark:
    """An event that a list is to come after: what a command that wrote has returned."""

    stream: str
    version: int


@dataclass(frozen=True)
class Lag:
    """How far the rows are behind the ledger.

    `rows` is the number in the feed that they tell up to, `feed` the last number given,
    `unnumbered` how many events have none yet. `stands` is why they cannot go on, None
    where they can. `reached` tells whether they hold the event that was asked for, None
    where none was.
    """

    rows: int
    feed: int
    unnumbered: int
    stands: LegatoError | None = None
    reached: bool | None = None

    @property
    def behind(self) -> int:
        """Count the events that the rows do not tell of."""
        return self.feed - self.rows + self.unnumbered


async def catch_up(
    ledger: Ledger, projector: Projector | None = None, *, within: float = WITHIN
) -> LegatoError | None:
    """Number and project what was committed, for a time at most; gives what it stands at."""
    end = time.monotonic() + within
    projector = projector or Projector()
    try:
        await sequence.catch_up(ledger, within / 2)
        while True:
            taken = await project_once(ledger.pool, projector, limit=_PIECE)
            if taken == 0 or time.monotonic() > end:
                return None
            if taken is None:
                await asyncio.sleep(_LOOK)
    except LegatoError as exc:
        if exc.code == "projections_missing":
            raise
        return exc


async def fresh(
    ledger: Ledger,
    read: Callable[[Connection], Awaitable[T]],
    *,
    after: Mark | None = None,
    within: float = WITHIN,
) -> tuple[T, Lag]:
    """Bring the rows up to date, then read them and what they lack at one moment.

    With `after` it waits for that event, AFTER_WITHIN seconds at most. Raises `not_found`
    where the ledger holds no such event, and `projections_missing`.
    """
    projector = Projector()
    stands = await catch_up(ledger, projector, within=within)
    if after is not None:
        await _require(ledger, after)
        end = time.monotonic() + AFTER_WITHIN
        while not await _reached(ledger.pool, after) and time.monotonic() < end:
            stands = await catch_up(ledger, projector, within=within)
            await asyncio.sleep(_LOOK)
    async with (
        ledger.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        row = await connection.fetchrow(_LAG)
        reached = None if after is None else await _reached(connection, after)
        rows, feed, unnumbered = (0, 0, 0) if row is None else row
        return await read(connection), Lag(rows, feed, unnumbered, stands, reached)


async def _require(ledger: Ledger, mark: Mark) -> None:
    """Refuse to wait for what was never written."""
    there = await ledger.pool.fetchval(
        "select version from ledger.stream where stream_id = $1", mark.stream
    )
    if (there or 0) >= mark.version > 0:
        return
    raise refused(
        "not_found",
        f"the ledger holds no event {mark.version} of {mark.stream}",
        cause=f"the stream is at {there}" if there else "there is no such stream",
        next="give the stream and version that the command returned, as STREAM@VERSION",
    )


async def _reached(source: Source, mark: Mark) -> bool:
    return bool(await source.fetchval(_REACHED, mark.stream, mark.version))
