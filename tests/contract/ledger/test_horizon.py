"""The horizon: a follower may pass what it does not want, and misses nothing that it does."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

from ledger.append import Part, append
from ledger.parked import park, read_parked
from ledger.reads import read_horizon, read_since, read_stream
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
    mark, passed = (0, 0), 0
    while True:
        finished = writers.done()
        horizon = await read_horizon(ledger)
        batch = await read_since(ledger, mark, WANTED, 20) if horizon > mark else []
        seen += [(one.stream, one.version) for one in batch]
        if batch:
            mark = (batch[-1].order_key, batch[-1].pos)
        elif horizon > mark:
            mark, passed = horizon, passed + 1
        elif finished:
            break
        await asyncio.sleep(0.001)

    assert len(seen) == len(set(seen)) == sum(await writers) > 50
    assert passed > 10


async def test_there_is_no_horizon_in_an_empty_ledger_and_none_above_an_open_transaction(
    url: str, ledger: Ledger
) -> None:
    assert await read_horizon(ledger) == (0, 0)
    await put(ledger, "incoming/s", facts.message("m1"))
    before = await read_horizon(ledger)
    async with connected(url) as other, other.transaction():
        await other.execute("select pg_current_xact_id()")
        await put(ledger, "incoming/s", facts.message("m2"))
        during = await read_horizon(ledger)

    assert during == before > (0, 0)
    assert await read_horizon(ledger) > before


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
