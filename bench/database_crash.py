"""How long the ledger takes nothing after its database was killed with all its processes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import psutil

from bench.measured import rounds_line
from domain.errors import LegatoError
from domain.events import MessageAccepted
from domain.ids import incoming_stream
from ledger.append import Part, append
from legato.door import new_id
from legato.embedded import read_state

if TYPE_CHECKING:
    from bench.cluster import Cluster
    from bench.measured import Value
    from legato.door import Door

MOST_SECONDS = 5.0
LIMIT = 60.0
LOOK = 0.02
BEFORE = 200
"""Events appended before each kill, which the database must find in its log again."""


async def measure(cluster: Cluster, door: Door, rounds: int) -> dict[str, Value]:
    """Kill the database so many times; the supervisor starts it again."""
    taken = [await _once(cluster, door) for _ in range(rounds)]
    return rounds_line("database crash", taken, MOST_SECONDS)


async def _once(cluster: Cluster, door: Door) -> float:
    """Measure from the kill to the first append that is acknowledged."""
    session = new_id()
    for _ in range(BEFORE):
        await _append(door, session)
    began = await asyncio.to_thread(_kill, cluster)
    async with asyncio.timeout(LIMIT):
        while not await _append(door, session):  # noqa: ASYNC110 - it is asked until it serves
            await asyncio.sleep(LOOK)
    return time.monotonic() - began


async def _append(door: Door, session: str) -> bool:
    """Append a message; tells whether it is there."""
    name = new_id()
    message = MessageAccepted(submission=name, text="go on", later=False, run_id=session)
    part = Part(incoming_stream(session), (message,))
    try:
        await append(door.ledger, door.author(session, name), part)
    except LegatoError as exc:
        if exc.code == "ledger_unreachable":
            return False
        raise
    return True


def _kill(cluster: Cluster) -> float:
    """End the postmaster and every process of its own; gives when, once they are gone."""
    state = read_state(cluster.settings)
    process = state.part("postgres").process if state is not None else None
    if process is None:
        message = "the stack has no database"
        raise RuntimeError(message)
    postmaster = psutil.Process(process.pid)
    family = [postmaster, *postmaster.children(recursive=True)]
    for one in family:
        one.suspend()
    for one in family:
        one.kill()
    killed = time.monotonic()
    psutil.wait_procs(family, timeout=LIMIT)
    return killed
