"""The feed: dense numbers without a leader, whoever writes, whoever numbers, whoever stops."""

from __future__ import annotations

import asyncio
import hashlib
import random
from typing import TYPE_CHECKING

import asyncpg
import pytest

from domain.errors import LegatoError
from ledger.append import Part, append
from ledger.feed import read_feed_head
from ledger.reads import read_stream
from ledger.sequence import begin_epoch, catch_up, sequence_once
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import PERSON, connected, on_connection, put

if TYPE_CHECKING:
    from ledger.connect import Ledger

WRITERS = 16
SECONDS = 3.0
AWAY = "update ledger.{table} set order_key = order_key + 1000000"
MINUTES = """set session_replication_role = replica;
  update ledger.checkpoint set at = at - interval '61 seconds'"""
FEED = """select f.global_seq, f.stream_id, f.version, f.hash, e.hash as event_hash
  from ledger.feed f left join ledger.event e using (stream_id, version) order by f.global_seq"""


class _UndoneError(Exception):
    """A writer changes its mind."""


async def _write(url: str, ledger: Ledger, writer: int, streams: int, until: float) -> int:
    """Append to 1 to 3 streams in transactions with early ids; a fifth is rolled back."""
    chance = random.Random(writer)  # noqa: S311 - a repeatable order, no secret
    names = [f"incoming/s{n}" for n in range(streams)]
    kept = n = 0
    async with connected(url) as connection:
        inside = on_connection(ledger, connection)
        while asyncio.get_running_loop().time() < until:
            n += 1
            chosen = chance.sample(names, k=min(streams, chance.randint(1, 3)))
            given = [Part(s, (facts.message(f"{writer}.{n}"),)) for s in chosen]
            asserted = [Part(s) for s in names if s not in chosen][: chance.randint(0, 1)]
            undone = chance.random() < 0.2
            try:
                async with connection.transaction():
                    await connection.execute("select pg_current_xact_id()")
                    await asyncio.sleep(chance.random() * 0.05)
                    await append(inside, PERSON, *given, *asserted)
                    await asyncio.sleep(chance.random() * 0.01)
                    _undo(undone=undone)
                kept += len(chosen)
            except _UndoneError:
                pass
    return kept


def _undo(*, undone: bool) -> None:
    if undone:
        raise _UndoneError


async def _number(ledger: Ledger, writers: asyncio.Future[list[int]], limit: int) -> int:
    """Run passes while the writers write, then to the end; gives how many events it numbered."""
    taken = 0
    while True:
        finished = writers.done()
        got = await sequence_once(ledger.pool, limit)
        taken += got
        if not got and finished and await catch_up(ledger):
            return taken
        await asyncio.sleep(0.001)


async def _tail(ledger: Ledger, writers: asyncio.Future[list[int]]) -> list[tuple[str, int]]:
    """Follow the feed as a reader with a mark does."""
    seen: list[tuple[str, int]] = []
    while True:
        finished = writers.done() and await catch_up(ledger)
        rows = await ledger.pool.fetch(
            "select global_seq, stream_id, version from ledger.feed where global_seq > $1"
            " order by global_seq limit 50",
            len(seen),
        )
        assert [r["global_seq"] for r in rows] == list(
            range(len(seen) + 1, len(seen) + 1 + len(rows))
        )
        seen += [(r["stream_id"], r["version"]) for r in rows]
        if finished and not rows:
            return seen
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("streams", [1, 12])
async def test_a_tail_reader_misses_nothing_and_swaps_nothing_under_sixteen_writers(
    url: str, ledger: Ledger, streams: int
) -> None:
    """With early ids, late commits, rollbacks, assertions, and two sequencers at once."""
    until = asyncio.get_running_loop().time() + SECONDS
    writers = asyncio.gather(*(_write(url, ledger, n, streams, until) for n in range(WRITERS)))

    seen, one, other = await asyncio.gather(
        _tail(ledger, writers), _number(ledger, writers, 7), _number(ledger, writers, 50)
    )

    kept = sum(await writers)
    assert len(seen) == len(set(seen)) == kept > 100
    assert one + other <= kept
    for stream in {stream for stream, _ in seen}:
        told = [version for of, version in seen if of == stream]
        assert told == list(range(1, len(await read_stream(ledger, stream)) + 1))
    deadlocks = await ledger.pool.fetchval(
        "select deadlocks from pg_stat_database where datname = current_database()"
    )
    assert deadlocks == 0
    assert (await verify(ledger)).problems == ()


async def test_a_sequencer_that_stops_in_its_transaction_is_cut_off_and_leaves_no_gap(
    url: str, ledger: Ledger
) -> None:
    """Meanwhile others wait; then they go on with the number after the last that was kept."""
    await put(ledger, "incoming/s", facts.message("m1"), facts.message("m2"))
    async with connected(url) as stopped:
        await stopped.execute("begin")
        assert await sequence_once(stopped, 1) == 1
        assert await sequence_once(ledger.pool) == 0
        async with asyncio.timeout(20):
            while not (taken := await sequence_once(ledger.pool)):  # noqa: ASYNC110 - the database frees it
                await asyncio.sleep(0.05)
        with pytest.raises(asyncpg.InterfaceError):
            await stopped.execute("commit")

    assert taken == 2
    rows = await ledger.pool.fetch(FEED)
    assert [(r["global_seq"], r["version"]) for r in rows] == [(1, 1), (2, 2)]


async def test_the_root_is_folded_by_event_wherever_passes_end(ledger: Ledger) -> None:
    """Each link is the SHA-256 of a tag, the root before, stream, version and hash."""
    for n in range(7):
        await put(ledger, f"incoming/s{n % 3}", facts.message(f"m{n}"))
    for limit in (1, 3, 2, 9):
        await sequence_once(ledger.pool, limit)

    root = bytes(32)
    for row in await ledger.pool.fetch(FEED):
        assert row["hash"] == row["event_hash"]
        stream = row["stream_id"].encode()
        link = b"legato/root/1" + root + len(stream).to_bytes(4, "big") + stream
        link += row["version"].to_bytes(8, "big") + (32).to_bytes(4, "big") + row["hash"]
        root = hashlib.sha256(link).digest()
    head = await read_feed_head(ledger)
    assert (head.global_seq, head.epoch, head.root) == (7, 1, root)


async def test_a_checkpoint_is_kept_at_most_once_a_minute_and_also_when_all_is_quiet(
    url: str, ledger: Ledger
) -> None:
    """The first pass keeps one; the next waits for its minute, and needs no new event."""
    for n in range(3):
        await put(ledger, "incoming/s", facts.message(f"m{n}"))
        await catch_up(ledger)
    kept = "select array_agg(global_seq order by global_seq) from ledger.checkpoint"
    assert await ledger.pool.fetchval(kept) == [1]

    async with connected(url) as connection:
        await connection.execute(MINUTES)
    await sequence_once(ledger.pool)
    await sequence_once(ledger.pool)

    assert await ledger.pool.fetchval(kept) == [1, 3]


async def test_an_asserted_head_keeps_the_key_so_that_what_follows_comes_after(
    url: str, ledger: Ledger
) -> None:
    """A younger transaction asserts a stream; an older one then appends to it."""
    async with connected(url) as older:
        transaction = older.transaction()
        await transaction.start()
        await older.execute("select pg_current_xact_id()")
        await append(
            ledger, PERSON, Part("incoming/a", (facts.message("m1"),)), Part("incoming/b", (), 0)
        )
        await put(on_connection(ledger, older), "incoming/b", facts.message("m2"))
        await transaction.commit()
    await catch_up(ledger)

    rows = await ledger.pool.fetch(FEED)
    assert [row["stream_id"] for row in rows] == ["incoming/a", "incoming/b"]


async def test_an_event_whose_predecessor_has_no_number_is_refused(
    url: str, ledger: Ledger
) -> None:
    """What comes before it still gets its number."""
    await put(ledger, "incoming/a", facts.message("m1"))
    await put(ledger, "incoming/b", *(facts.message(f"m{n}") for n in range(2, 5)))
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        await connection.execute(
            "delete from ledger.event where stream_id = 'incoming/b' and version = 2"
        )

    assert await sequence_once(ledger.pool) == 2
    with pytest.raises(LegatoError) as refusal:
        await sequence_once(ledger.pool)

    assert refusal.value.code == "feed_broken"
    assert "incoming/b at version 3" in refusal.value.message
    assert (await read_feed_head(ledger)).global_seq == 2


async def test_a_pass_without_work_writes_nothing(ledger: Ledger) -> None:
    """Idle workers cost no transaction id."""
    await put(ledger, "incoming/a", facts.message("m1"))
    await catch_up(ledger)
    now = "select pg_snapshot_xmax(pg_current_snapshot())::text::bigint"
    before = await ledger.pool.fetchval(now)

    assert [await sequence_once(ledger.pool) for _ in range(20)] == [0] * 20

    assert await ledger.pool.fetchval(now) - before < 20


async def test_a_database_of_another_cluster_is_refused_until_an_epoch_is_begun(
    url: str, ledger: Ledger
) -> None:
    """Its order keys are far above this cluster's ids; what is new lies far below them."""
    await put(ledger, "incoming/old", facts.message("m1"))
    await catch_up(ledger)
    await put(ledger, "incoming/old", facts.message("m2"))
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        for table in ("event", "stream", "feed_head"):
            await connection.execute(AWAY.format(table=table))
    await put(ledger, "incoming/new", facts.message("m3"))

    with pytest.raises(LegatoError) as refusal:
        await sequence_once(ledger.pool)
    assert refusal.value.code == "ledger_restored"

    assert await begin_epoch(url) == 2
    await put(ledger, "incoming/new", facts.message("m4"))
    await put(ledger, "incoming/later", facts.message("m5"))
    assert await catch_up(ledger)

    rows = await ledger.pool.fetch(FEED)
    assert [r["global_seq"] for r in rows] == [1, 2, 3, 4, 5]
    assert {(r["stream_id"], r["version"]) for r in rows[1:3]} == {
        ("incoming/old", 2), ("incoming/new", 1),
    }  # fmt: skip
    assert [r["stream_id"] for r in rows[3:]] == ["incoming/new", "incoming/later"]
    assert (await verify(ledger)).problems == ()
