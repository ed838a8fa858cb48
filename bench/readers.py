"""The figures of those who read: how soon a fact is seen, rows made anew, everything verified."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from typing import TYPE_CHECKING

import asyncpg

from bench.contest import Figure
from bench.past import live
from bench.sequencing import sequencing
from bench.writers import AUTHOR, TEXT
from domain.events import MessageAccepted
from domain.ids import incoming_stream
from ledger.append import Part, append
from ledger.feed import read_feed_head
from ledger.projections.rebuild import rebuild
from ledger.sequence import catch_up
from ledger.verify import verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.connect import Ledger

SAMPLES = 60
EVENTS = 20_000
_IDLE = 0.1
_SEEN = 10.0


async def visible(ledger: Ledger, url: str, samples: int) -> list[Figure]:
    """Time from an append's return to a follower of the feed that sees it; nothing else is on.

    The follower listens for the passes' notification and then reads the feed's head.
    """
    woken = asyncio.Event()
    listener = await asyncpg.connect(url)

    def wake(*_: object) -> None:
        woken.set()

    await listener.add_listener("ledger_feed", wake)
    pauses = random.Random(1)  # noqa: S311 - so that appends meet the passes at any moment
    try:
        async with sequencing(ledger):
            taken = [await _seen(ledger, n, woken, pauses.random()) for n in range(samples)]
    finally:
        await listener.close()
    return [
        Figure("visible_p50", 1, statistics.median(taken), "ms"),
        Figure("visible_p99", 1, statistics.quantiles(taken, n=100, method="inclusive")[98], "ms"),
    ]


async def _seen(ledger: Ledger, number: int, woken: asyncio.Event, pause: float) -> float:
    await asyncio.sleep(_IDLE * pause)
    wanted = (await read_feed_head(ledger)).global_seq + 1
    woken.clear()
    fact = MessageAccepted(submission=f"m{number}", text=TEXT, later=False, run_id="bench")
    await append(ledger, AUTHOR, Part(incoming_stream("bench"), (fact,)))
    began = time.perf_counter()
    async with asyncio.timeout(_SEEN):
        while (await read_feed_head(ledger)).global_seq < wanted:
            await woken.wait()
            woken.clear()
    return (time.perf_counter() - began) * 1000


async def read(ledger: Ledger, figures: Sequence[str], events: int) -> list[Figure]:
    """Write a past, then make its rows anew and verify all of it, each once."""
    await live(ledger, events)
    while not await catch_up(ledger, 1.0):
        pass
    found: list[Figure] = []
    if "rebuild" in figures:
        rebuilt = await rebuild(ledger)
        found.append(Figure("rebuild", 1, rebuilt.events / rebuilt.seconds, "events/s"))
    if "verify" in figures:
        began = time.perf_counter()
        report = await verify(ledger)
        seconds = time.perf_counter() - began
        if not report.ok:
            message = f"the bench's ledger does not verify: {report.problems[:3]}"
            raise RuntimeError(message)
        found.append(Figure("verify", 1, report.checked["events"] / seconds, "events/s"))
    return found
