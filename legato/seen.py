"""Asks Temporal how a run's workflow stands: never its lists, which lag, always the workflow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import WorkflowTaskFailedCause
from temporalio.api.workflowservice.v1 import GetWorkflowExecutionHistoryReverseRequest
from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError, RPCStatusCode

from domain.runs.reconcile import Seen, Trouble
from legato.histories import reported

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.api.workflow.v1 import PendingActivityInfo
    from temporalio.client import Client, WorkflowExecutionDescription

    from domain.runs.reconcile import State
    from domain.watch_events import StuckCode

MANY_FAILURES = 5
"""So often something must have failed in a row to be called stuck."""

MOST_WHY = 300

_PAGE = 100
_ABSENT = (RPCStatusCode.NOT_FOUND, RPCStatusCode.INVALID_ARGUMENT)
_CLOSED: dict[WorkflowExecutionStatus, State] = {
    WorkflowExecutionStatus.COMPLETED: "completed",
    WorkflowExecutionStatus.FAILED: "failed",
    WorkflowExecutionStatus.CANCELED: "cancelled",
    WorkflowExecutionStatus.TERMINATED: "terminated",
    WorkflowExecutionStatus.TIMED_OUT: "timed_out",
}


async def see(
    client: Client, workflow_id: str, before: dict[str, tuple[int, int]] | None = None
) -> Seen:
    """Ask how the last Temporal run of a workflow stands.

    A workflow whose id Temporal takes for wrong is absent. `before` remembers, by Temporal
    run, at which length a history was read and which version it named: it is not read again
    while it is as long. Raises RPCError where Temporal does not answer or does not know the
    namespace.
    """
    described = await _described(client, workflow_id)
    if described is None:
        return Seen("absent")
    state = "open" if described.status is None else _CLOSED.get(described.status, "open")
    trouble = await _trouble(client, described) if state == "open" else None
    if trouble is not None or (state == "open" and _is_at_work(described)):
        return Seen(state, described.run_id, trouble)
    known = {} if before is None else before
    length = described.history_length
    if known.get(described.run_id, (0, 0))[0] != length:
        known[described.run_id] = (length, await _seen_version(client, described))
    return Seen(state, described.run_id, version=known[described.run_id][1])


def is_unknown(exc: RPCError) -> bool:
    """Tell whether Temporal says that it has no such workflow, or never could: a wrong id."""
    return exc.status in _ABSENT and "namespace" not in exc.message.lower()


def _is_at_work(described: WorkflowExecutionDescription) -> bool:
    """Tell whether an activity or the workflow's task is under way, or waits for a worker."""
    raw = described.raw_description
    return bool(raw.pending_activities) or raw.HasField("pending_workflow_task")


async def _described(client: Client, workflow_id: str) -> WorkflowExecutionDescription | None:
    try:
        return await client.get_workflow_handle(workflow_id).describe()
    except RPCError as exc:
        if not is_unknown(exc):
            raise
        return None


async def _trouble(client: Client, described: WorkflowExecutionDescription) -> Trouble | None:
    """Say what has failed too often in a row: the workflow's task, or an activity."""
    raw = described.raw_description
    failures = raw.pending_workflow_task.attempt - 1
    if failures >= MANY_FAILURES:
        where, why = await _failed_task(client, described)
        return Trouble("workflow_task_failing", where, why, failures)
    for pending in raw.pending_activities:
        if pending.attempt > MANY_FAILURES and pending.HasField("last_failure"):
            return _activity(pending)
    return None


def _activity(pending: PendingActivityInfo) -> Trouble:
    """Say why an activity fails: its errors travel as codes, which is all that is told here."""
    failure, name = pending.last_failure, pending.activity_type.name
    code = failure.application_failure_info.type
    if failure.HasField("timeout_failure_info"):
        code = "timeout: the worker that runs it was lost or hangs"
    why = (code or failure.message)[:MOST_WHY]
    where = f"activity {name}"
    known: StuckCode = "ledger_behind" if code == "ledger_behind" else "activity_failing"
    return Trouble(known, where, why, pending.attempt - 1)


async def _failed_task(client: Client, described: WorkflowExecutionDescription) -> tuple[str, str]:
    """Find the first failure of the task that fails: the repeated ones are not recorded."""
    async for event in _backwards(client, described):
        if event.HasField("workflow_task_failed_event_attributes"):
            failed = event.workflow_task_failed_event_attributes
            cause = WorkflowTaskFailedCause.Name(failed.cause)
            cause = cause.removeprefix("WORKFLOW_TASK_FAILED_CAUSE_").lower()
            why = " ".join(f"{cause}: {failed.failure.message}".split())
            return f"workflow task at event {event.event_id}", why[:MOST_WHY]
        if event.HasField("workflow_task_completed_event_attributes"):
            break
    return "workflow task", "it times out: no worker answers it in time"


async def _seen_version(client: Client, described: WorkflowExecutionDescription) -> int:
    """Find how far a workflow's last activities had seen the run's stream."""
    async for event in _backwards(client, described):
        written = reported(event)
        if written is not None and written.last:
            return written.last
    return 0


async def _backwards(
    client: Client, described: WorkflowExecutionDescription
) -> AsyncIterator[HistoryEvent]:
    """Give the last events of a history, the last first: one page."""
    request = GetWorkflowExecutionHistoryReverseRequest(
        namespace=client.namespace,
        execution=WorkflowExecution(workflow_id=described.id, run_id=described.run_id),
        maximum_page_size=_PAGE,
    )
    reply = await client.workflow_service.get_workflow_execution_history_reverse(request)
    for event in reply.history.events:
        yield event
