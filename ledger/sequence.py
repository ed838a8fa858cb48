"""Runs sequencing passes: any process may, none leads, and the feed gets its numbers."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Protocol

import asyncpg

from domain.errors import LegatoError, bug
from ledger.connect import CONNECTING, connecting

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from ledger.connect import Ledger


class Source(Protocol):
    """A pool, or one connection: what a pass can be asked of."""

    def fetchval(self, query: str, *args: object) -> Coroutine[Any, Any, Any]:
        """Run a statement and give the first column of its first row."""
        ...


PASS = 1000
"""Events that one pass numbers at most: a backlog is worked off in passes of this size."""

_LOOK = 0.005
_BEHIND = """select exists (
  select from ledger.event e
  where (e.order_key, e.pos) > (
    (select order_key from ledger.feed_head), (select pos from ledger.feed_head))
    and e.order_key <= $1)"""
_LAST_KEY = "select order_key from ledger.event order by order_key desc, pos desc limit 1"


async def sequence_once(source: Source, limit: int = PASS) -> int:
    """Run one sequencing pass; gives how many events got their number, at most `limit`.

    0 says that nothing lies below the horizon, or that another process is at it just now.
    `source` is a pool, or one connection outside of a transaction. Raises
    `ledger_restored` where the database came from another cluster and no epoch was begun
    since, `feed_broken` where an event's predecessor has no number.
    """
    try:
        return int(await source.fetchval("select ledger.sequence($1)", limit))
    except asyncpg.PostgresError as exc:
        raise _translated(exc) from None


async def catch_up(ledger: Ledger, within: float = 0.3) -> bool:
    """Number everything that was committed when this was called; False where time ran out.

    `within` is in seconds. A transaction that is open longer than that, anywhere in the
    cluster, may hold events back. Raises what `sequence_once` raises.
    """
    until = time.monotonic() + within
    last = await ledger.pool.fetchval(_LAST_KEY)
    while last is not None:
        taken = await sequence_once(ledger.pool, PASS)
        if taken == PASS:
            continue
        if not await ledger.pool.fetchval(_BEHIND, last):
            return True
        if time.monotonic() > until:
            return False
        if not taken:
            await asyncio.sleep(_LOOK)
    return True


_RIGHTS = """do $$
begin
  execute format('grant create on database %I to ledger_owner, ledger_append', current_database());
exception when undefined_object or insufficient_privilege then null;
end $$"""
"""What a dump leaves out: rights to the database itself."""


async def begin_epoch(database_url: str) -> int:
    """Accept that this database is a restored one; gives the new epoch.

    Numbers every event that has no number, wherever it lies, and lets order keys go on
    above all that are there, whatever the ids of this cluster's transactions are. Writers
    wait meanwhile. It needs the owner's rights. Raises `feed_broken`, `ledger_unreachable`.
    """
    with connecting():
        connection = await asyncpg.connect(database_url, timeout=CONNECTING)
    try:
        await connection.execute(_RIGHTS)
        return int(await connection.fetchval("select ledger.begin_epoch()"))
    except asyncpg.PostgresError as exc:
        raise _translated(exc) from None
    finally:
        await connection.close(timeout=CONNECTING)


def _translated(exc: asyncpg.PostgresError) -> Exception:
    """Turn the pass's own refusals into ours; everything else stays as it is."""
    state, said = str(exc.sqlstate or ""), str(exc.args[0])
    if state == "LG004":
        return LegatoError(
            "ledger_restored",
            "the ledger's database was restored from another cluster",
            cause=said,
            next="run `legato ledger restored`, which numbers what has no number and goes on",
        )
    if state == "LG003":
        return bug("feed_broken", f"an event cannot get its number in the feed: {said}")
    return exc
