"""Finds the open runs whose home has no worker at this moment."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.events import RunAccepted
from domain.ids import run_stream
from domain.runs.home import absent, needs_home
from ledger.reads import read_events
from legato.drained import drained_since, is_worked_for
from legato.embedded import PartState, read_state
from legato.embedded.processes import is_alive
from legato.embedded.worker import NAME as WORKER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from domain.runs.home import Absent, Place
    from ledger.connect import Ledger
    from legato.embedded import Stack
    from legato.settings import Settings

LIMIT = 3.0
"""Seconds that Temporal is given to tell who serves."""

STARTING = 15.0
"""Seconds after which a worker that serves nobody is no longer said to be starting."""


async def absent_homes(
    settings: Settings, stack: Stack, ledger: Ledger, runs: Iterable[str]
) -> tuple[Absent, ...] | None:
    """Give the homes of open runs that nobody serves now; None where Temporal cannot tell.

    `runs` are those that need their home, see `needing`.
    """
    queues = await queues_of(ledger, runs)
    if not queues:
        return ()
    from temporalio.service import RPCError  # noqa: PLC0415 - reading commands load no Temporal

    from legato.client import connect, home_queue  # noqa: PLC0415 - the same
    from legato.pollers import workers_of  # noqa: PLC0415 - the same

    try:
        async with asyncio.timeout(LIMIT):
            client = await connect(stack.temporal_address, stack.temporal_namespace)
            serving = await workers_of(client, queues)
    except (LegatoError, RPCError, TimeoutError):
        return None
    own, drained = home_queue(settings), drained_since(settings.home)
    if drained and own in serving and not is_worked_for(settings.home):
        serving[own] = 0
    elif stack.embedded and is_starting(settings):
        serving.pop(own, None)
    here: Place = "embedded" if stack.embedded else "own"
    return tuple(
        absent(
            queue,
            queues[queue],
            place=here if queue == own else "elsewhere",
            drained=drained if queue == own else "",
        )
        for queue, workers in serving.items()
        if not workers
    )


def is_starting(settings: Settings) -> bool:
    """Tell whether the embedded worker was started a moment ago: it may not serve yet."""
    state = read_state(settings)
    worker = PartState("") if state is None else state.part(WORKER)
    since = worker.since
    return since is not None and is_alive(worker.process) and time.time() - since < STARTING


def needing(rows: Iterable[Mapping[str, object]]) -> list[str]:
    """Name the runs of a list that can only go on where their home has a worker."""
    return [
        str(row["run_id"])
        for row in rows
        if needs_home(str(row["status"]), str(row.get("waiting_on") or ""))
    ]


def home_of(absent_now: Iterable[Absent] | None, run_id: str) -> Absent | None:
    """Find the absent home that a run waits for; None where it waits for none."""
    return next((one for one in absent_now or () if run_id in one.runs), None)


async def queues_of(ledger: Ledger, runs: Iterable[str]) -> dict[str, list[str]]:
    """Sort runs by the task queue that they were accepted for; one still in line has none."""
    found: dict[str, list[str]] = {}
    for accepted in await accepted_at(ledger, runs):
        found.setdefault(accepted.queue, []).append(accepted.run_id)
    return found


async def accepted_at(ledger: Ledger, runs: Iterable[str]) -> list[RunAccepted]:
    """Read as what runs were accepted; one still in line was not yet."""
    streams = [run_stream(run_id) for run_id in runs]
    facts = [stored.fact for stored in await read_events(ledger, streams, "run.accepted")]
    return [fact for fact in facts if isinstance(fact, RunAccepted)]
