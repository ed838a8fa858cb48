"""How fast a worker that lost its cache replays a run's history."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

from bench.legato_turns import request_of, start
from legato.replay import replayer

if TYPE_CHECKING:
    from bench.cluster import Cluster
    from bench.measured import Value
    from legato.door import Door

TURNS = 80
LEAST = 1000.0


async def measure(cluster: Cluster, door: Door, rounds: int) -> dict[str, Value]:
    """Replay one finished run of TURNS turns so many times, in the sandbox that workers have."""
    run = await start(cluster, door, request_of(cluster, TURNS))
    await run.handle.result()
    history = await run.handle.fetch_history()
    rates: list[float] = []
    for _ in range(rounds + 1):
        began = time.monotonic()
        await replayer().replay_workflow(history)
        rates.append(len(history.events) / (time.monotonic() - began))
    median = statistics.median(rates[1:])
    return {
        "figure": "replay",
        "engine": "legato",
        "events": len(history.events),
        "median": round(median),
        "rounds": [round(rate) for rate in rates[1:]],
        "limit": f">= {LEAST:g}",
        "holds": median >= LEAST,
        "error": None,
    }
