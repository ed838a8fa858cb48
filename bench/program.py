"""What the bench is asked on its command line."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

from bench import bare_turns, legato_turns
from bench.cluster import cluster
from bench.measured import line, ratio_line, tell
from legato.leave import leave


async def quick() -> None:
    async with AsyncExitStack() as s:
        c = await s.enter_async_context(cluster(with_worker=True))
        s.enter_context(bare_turns.worker(c))
        d = await s.enter_async_context(c.door())
        await legato_turns.measure(c, d, 3, 1)
        await bare_turns.measure(c, 3, 1)
        rounds = []
        for _ in range(3):
            r = {"legato": await legato_turns.measure(c, d, 30, 1), "bare": await bare_turns.measure(c, 30, 1)}
            for m in r.values():
                tell(line(m))
            rounds.append(r)
        tell(ratio_line(rounds, "legato", "bare"))


def main() -> None:
    asyncio.run(quick())
    leave(0)
