"""Asks Temporal how many workers serve a task queue now."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from temporalio.api.enums.v1 import TaskQueueType, WorkerStatus
from temporalio.api.taskqueue.v1 import TaskQueue
from temporalio.api.workflowservice.v1 import DescribeTaskQueueRequest, ListWorkersRequest
from temporalio.service import RPCError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from temporalio.client import Client

FRESH = timedelta(seconds=90)
"""A worker asks anew each minute: one that was killed is missed so late, however it is asked."""

_PAGE = 1000
_ENDED = {WorkerStatus.WORKER_STATUS_SHUTTING_DOWN, WorkerStatus.WORKER_STATUS_SHUTDOWN}


async def workers_of(client: Client, queues: Iterable[str]) -> dict[str, int]:
    """Count the worker processes of each queue; raises RPCError."""
    return {queue: await _count(client, queue) for queue in queues}


async def _count(client: Client, queue: str) -> int:
    """Count who asked for work lately and has not said since that it asks no more."""
    request = DescribeTaskQueueRequest(
        namespace=client.namespace,
        task_queue=TaskQueue(name=queue),
        task_queue_type=TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
    )
    described = await client.workflow_service.describe_task_queue(request)
    earliest = datetime.now(UTC) - FRESH
    fresh = {
        poller.identity
        for poller in described.pollers
        if poller.last_access_time.ToDatetime(UTC) > earliest
    }
    return len(fresh - await _ended(client, queue)) if fresh else 0


async def _ended(client: Client, queue: str) -> set[str]:
    """Name who has said that it ends; a server that keeps no list of workers knows of none."""
    request = ListWorkersRequest(
        namespace=client.namespace, query=f"TaskQueue='{queue}'", page_size=_PAGE
    )
    with suppress(RPCError):
        listed = await client.workflow_service.list_workers(request)
        return {one.worker_identity for one in listed.workers if one.status in _ENDED}
    return set()
