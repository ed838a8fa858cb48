"""Finds runs that are open in the ledger though Temporal will never end them, and ends one."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import LegatoError
from domain.ids import run_stream
from ledger.connect import UNREACHABLE
from ledger.lost import end_lost
from ledger.reads import clock, read_event
from legato.client import connect

if TYPE_CHECKING:
    from datetime import datetime

    from temporalio.client import Client, WorkflowExecutionDescription

    from domain.runs.run import Run
    from legato.door import Door

GRACE = timedelta(minutes=1)
"""So long a run that was accepted may be unknown to Temporal: the hand-over may lag."""

GONE = "workflow_gone"

_LIMIT = 5.0
_ABSENT = (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT)
_CLOSED = {
    WorkflowExecutionStatus.COMPLETED: "workflow_completed",
    WorkflowExecutionStatus.FAILED: "workflow_failed",
    WorkflowExecutionStatus.CANCELED: "workflow_cancelled",
    WorkflowExecutionStatus.TERMINATED: "workflow_terminated",
    WorkflowExecutionStatus.TIMED_OUT: "workflow_timed_out",
}


async def described(client: Client, workflow_id: str) -> WorkflowExecutionDescription | None:
    """Ask Temporal for a workflow; None where its namespace is there and does not hold it.

    An id that Temporal takes for wrong is not there either. Raises RPCError where Temporal
    does not answer or does not know the namespace.
    """
    try:
        return await client.get_workflow_handle(workflow_id).describe()
    except RPCError as exc:
        if exc.status not in _ABSENT or "namespace" in exc.message.lower():
            raise
        return None


def lost_reason(seen: WorkflowExecutionDescription | None, age: timedelta) -> str:
    """Say in a code why a workflow will never end its run; "" where it may.

    `age` is how long ago the run was accepted.
    """
    if seen is None:
        return GONE if age > GRACE else ""
    return "" if seen.status is None else _CLOSED.get(seen.status, "")


async def end_if_lost(door: Door, run_id: str, submission: str) -> Run | None:
    """End an open run whose workflow is closed or gone; None where it is neither.

    Where Temporal does not answer in time nothing is decided.
    """
    accepted = await read_event(door.ledger, run_stream(run_id), "run.accepted")
    if accepted is None or accepted.fact.type != "run.accepted":
        return None
    reason = await _reason(door, accepted.fact.workflow_id, accepted.recorded_at)
    if not reason:
        return None
    return await end_lost(door.ledger, door.author(run_id, submission), run_id, reason)


async def _reason(door: Door, workflow_id: str, accepted_at: datetime) -> str:
    try:
        async with asyncio.timeout(_LIMIT):
            client = await connect(door.stack.temporal_address, door.stack.temporal_namespace)
            seen = await described(client, workflow_id)
            return lost_reason(seen, await clock(door.ledger) - accepted_at)
    except (LegatoError, RPCError, *UNREACHABLE):
        return ""
