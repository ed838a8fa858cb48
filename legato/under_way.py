"""Tells what workers carry out at this moment of the runs of one home."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import PendingActivityState
from temporalio.service import RPCError

from domain.runs.recorded import stamp
from ledger.reads import list_streams
from legato.homes import accepted_at
from legato.readings import overview_of, read_run
from legato.seen import is_unknown

if TYPE_CHECKING:
    from temporalio.client import Client

    from domain.events import RunAccepted
    from ledger.connect import Ledger

MOST = 500
"""Open runs that are looked at, the youngest of all homes."""

_AT_WORK = {
    PendingActivityState.PENDING_ACTIVITY_STATE_STARTED,
    PendingActivityState.PENDING_ACTIVITY_STATE_CANCEL_REQUESTED,
}


@dataclass(frozen=True)
class Doing:
    """One execution: what of which run, since when (ISO 8601, UTC)."""

    run_id: str
    activity: str
    since: str
    doing: str


async def under_way(client: Client, ledger: Ledger, queue: str) -> list[Doing]:
    """List the executions of the open runs of a home; raises RPCError."""
    streams = await list_streams(ledger, "run", only_open=True, limit=MOST)
    accepted = await accepted_at(ledger, [one.removeprefix("run/") for one in streams])
    found: list[Doing] = []
    for fact in accepted:
        if fact.queue == queue:
            found += await _of(client, ledger, fact)
    return found


async def _of(client: Client, ledger: Ledger, accepted: RunAccepted) -> list[Doing]:
    try:
        described = await client.get_workflow_handle(accepted.workflow_id).describe()
    except RPCError as exc:
        if not is_unknown(exc):
            raise
        return []
    pending = [one for one in described.raw_description.pending_activities if one.state in _AT_WORK]
    if not pending:
        return []
    doing = overview_of(await read_run(ledger, accepted.run_id)).state.doing
    return [
        Doing(
            accepted.run_id,
            one.activity_type.name,
            stamp(one.last_started_time.ToDatetime(UTC)),
            doing,
        )
        for one in pending
    ]
