"""Examines the open runs: which of them stand still, and why that may be."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.service import RPCError, RPCStatusCode

from domain.errors import LegatoError
from domain.runs.overview import PEOPLE
from ledger.reads import clock, list_streams, read_mark, read_since
from legato.client import HANDED_OVER, connect
from legato.examine.finding import Finding, fail, ok, warn
from legato.readings import overview_of, read_run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from temporalio.client import Client

    from domain.runs.overview import Overview
    from domain.runs.recorded import Recorded
    from ledger.connect import Ledger

MOST = 50
GRACE = timedelta(minutes=1)
QUIET = timedelta(minutes=15)
MANY_FAILURES = 5
RELAY = "temporal"
_LIMIT = 10.0


async def examine_runs(ledger: Ledger, address: str, namespace: str) -> list[Finding]:
    """Look at the open runs, the hand-over to Temporal, and Temporal's view of each run."""
    now = await clock(ledger)
    streams = await list_streams(ledger, "run", only_open=True, limit=MOST)
    runs = [await read_run(ledger, stream.removeprefix("run/")) for stream in streams]
    many = f"{len(runs)}{' or more' if len(runs) == MOST else ''}"
    found = [ok("open runs", many)]
    found += [hint for events in runs if (hint := still(events, now)) is not None]
    found.append(await _handed_over(ledger, now))
    try:
        async with asyncio.timeout(_LIMIT):
            client = await connect(address, namespace)
            seen = [overview_of(events) for events in runs]
            hints = [await _in_temporal(client, one) for one in seen]
    except (LegatoError, RPCError, TimeoutError) as exc:
        step = "run `legato status`; runs go on once Temporal answers"
        return [*found, fail("temporal", f"it does not answer: {type(exc).__name__}", step)]
    return [*found, ok("temporal", f"answers at {address}"), *(h for h in hints if h is not None)]


def still(events: Sequence[Recorded], now: datetime) -> Finding | None:
    """Say why an open run may stand still; None where it moves."""
    seen, since = overview_of(events), now - events[-1].at
    run_id, name = seen.identity.run_id, f"run {seen.identity.run_id}"
    minutes = f"{since.total_seconds() / 60:.0f} minutes"
    if seen.waits.waiting_on in PEOPLE:
        return warn(name, f"waits for a person since {minutes}", "see `legato inbox`")
    if not seen.state.started_at and since > GRACE:
        step = "start a worker on this host (`legato up`); it takes the run up by itself"
        return warn(name, f"no worker has taken it up for {minutes}", step)
    if not seen.waits.waiting_on and since > QUIET:
        step = f"see `legato show {run_id}`; `legato stop {run_id}` ends it"
        return warn(name, f"nothing has happened for {minutes}: {seen.state.doing}", step)
    return None


async def _handed_over(ledger: Ledger, now: datetime) -> Finding:
    waiting = await read_since(ledger, await read_mark(ledger, RELAY), HANDED_OVER, 100)
    late = [one for one in waiting if now - one.recorded_at > GRACE]
    if not late:
        return ok("relay", "everything accepted is handed over to Temporal")
    text = f"{len(late)} accepted events are not handed over to Temporal for over a minute"
    return fail("relay", text, "start a worker (`legato up`), or read logs/worker.log")


async def _in_temporal(client: Client, seen: Overview) -> Finding | None:
    """Compare an open run with what Temporal says of it."""
    name, run_id = f"run {seen.identity.run_id}", seen.identity.run_id
    try:
        described = await client.get_workflow_handle(seen.identity.workflow_id).describe()
    except RPCError as exc:
        if exc.status is not RPCStatusCode.NOT_FOUND:
            raise
        if not seen.state.started_at:
            return None
        step = f"`legato stop {run_id}`, then start it anew: its Temporal workflow is lost"
        return fail(name, "Temporal does not know it", step)
    attempt = described.raw_description.pending_workflow_task.attempt
    if attempt >= MANY_FAILURES:
        step = (
            f"`legato replay {run_id}` tells what differs; a reset to the last good task mends it"
        )
        return fail(name, f"its workflow task has failed {attempt - 1} times", step)
    return None
