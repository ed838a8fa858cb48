"""Ends a run at a front door where Temporal never will, by the rule that reconcilers have."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.service import RPCError

from domain.errors import LegatoError
from domain.ids import run_stream
from domain.runs.reconcile import End, action_for
from domain.runs.run import fold
from ledger.connect import UNREACHABLE
from ledger.lost import end_lost
from ledger.reads import clock, read_stream
from legato.client import connect
from legato.seen import see

if TYPE_CHECKING:
    from domain.runs.reconcile import Action
    from domain.runs.run import Run
    from legato.door import Door

_LIMIT = 5.0


async def end_if_lost(door: Door, run_id: str, submission: str) -> Run | None:
    """End an open run whose workflow is closed or gone; None where it is neither.

    Where Temporal does not answer in time nothing is decided.
    """
    stored = await read_stream(door.ledger, run_stream(run_id))
    run = fold([event.fact for event in stored])
    if run.accepted is None or run.ended is not None:
        return None
    since = await clock(door.ledger) - stored[0].recorded_at
    action = await _action(door, run, since)
    if not isinstance(action, End):
        return None
    return await end_lost(door.ledger, door.author(run_id, submission), run, action.reason)


async def _action(door: Door, run: Run, since: timedelta) -> Action | None:
    workflow_id = run.accepted.workflow_id if run.accepted is not None else ""
    grace = timedelta(seconds=door.settings.grace)
    try:
        async with asyncio.timeout(_LIMIT):
            client = await connect(door.stack.temporal_address, door.stack.temporal_namespace)
            return action_for(run, await see(client, workflow_id), since, grace)
    except (LegatoError, RPCError, *UNREACHABLE):
        return None
