"""The horizon: a follower may pass what it does not want, and misses nothing that it does."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from ledger.append import Part, append
from ledger.feed import Numbered, read_feed, read_feed_head
from ledger.parked import park, read_parked
from ledger.reads import read_stream
from ledger.sequence import catch_up, sequence_once
from tests.support import facts
from tests.support.ledger import PERSON, begin_run, connected, on_connection, put

if TYPE_CHECKING:
    from domain.events import Fact
    from ledger.connect import Ledger

WANTED = ("message.accepted",)
WRITERS = 12
SECONDS = 3.0


async def _write(url: str, ledger: Ledger, writer: int, until: float) -> int:
    """Append wanted and other facts in transactions whose ids are taken long before."""
    chance = random.Random(writer)  # noqa: S311 - a repeatable order, no secret
    wanted = n = 0
    async with connected(url) as connection:
        inside = on_connection(ledger, connection)
        while asyncio.get_running_loop().time() < until:
            n += 1
            is_wanted = chance.random() < 0.3
            fact: Fact = (
                facts.message(f"{writer}.{n}") if is_wanted else facts.stopped(f"{writer}.{n}")
            )
            async with connection.transaction():
                await connection.execute("select pg_current_xact_id()")
                await asyncio.sleep(chance.random() * 0.03)
                await append(inside, PERSON, Part(f"incoming/s{chance.randint(1, 4)}", (fact,)))
                await asyncio.sleep(chance.random() * 0.01)
            wanted += is_wanted
    return wanted


async def test_a_mark_that_passes_other_events_misses_none_that_is_wanted(
    url: str, ledger: Ledger
) -> None:
    until = asyncio.get_running_loop().time() + SECONDS
    writers = asyncio.gather(*(_write(url, ledger, n, until) for n in range(WRITERS)))
    seen: list[tuple[str, int]] = []
    mark = passed = 0
    while True:
        finished = writers.done()
        await sequence_once(ledger.pool, 50)
        head = (await read_feed_head(ledger)).global_seq
        batch = await read_feed(ledger, mark, WANTED, until=head, limit=20)
        intact = [one.stored for one in batch if isinstance(one, Numbered)]
        assert len(intact) == len(batch)
        seen += [(one.stream, one.version) for one in intact]
        if batch:
            mark = batch[-1].global_seq
        elif head > mark:
            mark, passed = head, passed + 1
        elif finished:
            break
        await asyncio.sleep(0.001)

    assert len(seen) == len(set(seen)) == sum(await writers) > 50
    assert passed > 10


async def test_nothing_gets_a_number_above_an_open_transaction(url: str, ledger: Ledger) -> None:
    assert await catch_up(ledger)
    await put(ledger, "incoming/s", facts.message("m1"))
    assert await catch_up(ledger)
    async with connected(url) as other, other.transaction():
        await other.execute("select pg_current_xact_id()")
        await put(ledger, "incoming/s", facts.message("m2"))
        assert not await catch_up(ledger, within=0.1)
        during = await read_feed_head(ledger)

    assert await catch_up(ledger)
    assert (during.global_seq, (await read_feed_head(ledger)).global_seq) == (1, 2)


async def test_what_was_parked_is_listed_once_until_its_run_has_ended(ledger: Ledger) -> None:
    stream = await begin_run(ledger, "r1")
    (accepted,) = await read_stream(ledger, stream)

    await park(ledger, "temporal", accepted, "INVALID_ARGUMENT")
    await park(ledger, "temporal", accepted, "ANOTHER")
    (parked,) = await read_parked(ledger, "temporal")
    assert (parked.stream, parked.type, parked.code) == (
        stream,
        "run.accepted",
        "INVALID_ARGUMENT",
    )
    assert await read_parked(ledger, "another") == []

    await put(ledger, stream, facts.run_ended())
    assert await read_parked(ledger, "temporal") == []
