"""How long a run waits for the next attempt after the worker that had it was killed."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import TYPE_CHECKING

from bench.measured import rounds_line
from bench.stop import MODEL_CALL, begin
from legato.embedded import read_state
from workflows.calls import HEARTBEAT

if TYPE_CHECKING:
    from bench.cluster import Cluster
    from bench.legato_turns import Started
    from bench.measured import Value
    from legato.door import Door

_STARTED = 2  # PENDING_ACTIVITY_STATE_STARTED
MOST_SECONDS = HEARTBEAT.total_seconds() + 1.5
LIMIT = 60.0
LOOK = 0.05
BEFORE = 2.0
"""Seconds for which the activity has run when its worker is killed."""


async def measure(cluster: Cluster, door: Door, rounds: int) -> dict[str, Value]:
    """Kill the worker in a model call so many times; the supervisor starts another at once."""
    taken = [await _once(cluster, door) for _ in range(rounds)]
    return rounds_line("lost worker", taken, MOST_SECONDS)


async def _once(cluster: Cluster, door: Door) -> float:
    run = await begin(cluster, door, MODEL_CALL)
    await asyncio.sleep(BEFORE)
    os.kill(worker(cluster), signal.SIGKILL)
    began = time.monotonic()
    async with asyncio.timeout(LIMIT):
        while await _attempt(run) < 2:  # noqa: PLR2004, ASYNC110 - nothing tells of an attempt
            await asyncio.sleep(LOOK)
    seconds = time.monotonic() - began
    await run.handle.terminate("the bench has seen enough")
    return seconds


def worker(cluster: Cluster) -> int:
    """Name the process of the stack's worker."""
    state = read_state(cluster.settings)
    for part in state.parts if state else ():
        if part.name == "worker" and part.process is not None:
            return part.process.pid
    message = "the stack has no worker"
    raise RuntimeError(message)


async def _attempt(run: Started) -> int:
    """Tell which attempt of the pending activity a worker has begun; 0 where none has."""
    described = await run.handle.describe()
    pending = described.raw_description.pending_activities
    return max((each.attempt for each in pending if each.state == _STARTED), default=0)
