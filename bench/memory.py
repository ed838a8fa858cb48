"""How much memory a worker needs for each run that it keeps ready."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psutil

from bench.lost_worker import worker
from bench.stop import WAIT, begin

if TYPE_CHECKING:
    from bench.cluster import Cluster
    from bench.measured import Value
    from legato.door import Door

RUNS = 40
MOST_KIB = 300.0
_SETTLED = 2.0


async def measure(cluster: Cluster, door: Door, runs: int) -> dict[str, Value]:
    """Let so many runs wait for a person, and compare the worker's memory before and after."""
    first = [await begin(cluster, door, WAIT) for _ in range(3)]
    process = psutil.Process(worker(cluster))
    await asyncio.sleep(_SETTLED)
    before = process.memory_info().rss
    waiting = [await begin(cluster, door, WAIT) for _ in range(runs)]
    await asyncio.sleep(_SETTLED)
    kib = (process.memory_info().rss - before) / 1024 / runs
    for run in (*first, *waiting):
        await run.handle.terminate("the bench has seen enough")
    return {
        "figure": "memory",
        "engine": "legato",
        "runs": runs,
        "median": round(kib, 1),
        "limit": f"<= {MOST_KIB:g} KiB",
        "holds": kib <= MOST_KIB,
        "error": None,
    }
