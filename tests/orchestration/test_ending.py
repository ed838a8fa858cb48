"""The workflow's last activity fails for good: it is tried again, whatever is sent meanwhile."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from domain.runs.card import Shown
from domain.runs.steps import BuildInput, BuildResult, CloseInput, CloseResult
from legato.client import connect
from workflows.agent_run import AgentRun, RunStart

if TYPE_CHECKING:
    from collections.abc import Callable

    from temporalio.client import WorkflowHandle

    from legato.embedded import Stack

tries: list[str] = []


@activity.defn
async def build_definition(arg: BuildInput) -> BuildResult:
    """Refuse to build."""
    return BuildResult(code=f"refused-{arg.run_id}")


@activity.defn
async def close_run(arg: CloseInput) -> CloseResult:
    """Fail for good the first time."""
    tries.append(arg.run_id)
    if len(tries) == 1:
        raise ApplicationError("broken", type="append_invalid", non_retryable=True)
    return CloseResult(arg.ending.status, "the card")


async def waiting_to_try_again(handle: WorkflowHandle[AgentRun, str]) -> None:
    """Wait until the workflow has begun to wait after the failure."""
    async with asyncio.timeout(60):
        while not await waits(handle):  # noqa: ASYNC110 - another process is waited for
            await asyncio.sleep(0.05)


async def waits(handle: WorkflowHandle[AgentRun, str]) -> bool:
    """Tell whether a timer runs."""
    history = await handle.fetch_history()
    return any(event.HasField("timer_started_event_attributes") for event in history.events)


async def test_a_run_that_is_cancelled_while_its_end_cannot_be_recorded_ends_all_the_same(
    cluster: Stack,
) -> None:
    client = await connect(cluster.temporal_address, cluster.temporal_namespace)
    queue = f"ending-{uuid.uuid4().hex[:8]}"
    start = RunStart("r1", Shown("a", "w", "s", "writer", "hand"))
    activities: list[Callable[..., object]] = [build_definition, close_run]
    async with Worker(client, task_queue=queue, workflows=[AgentRun], activities=activities):
        handle = await client.start_workflow(AgentRun.run, start, id=queue, task_queue=queue)
        await waiting_to_try_again(handle)

        await handle.cancel()
        await handle.signal(AgentRun.stop, "once more")
        card = await handle.result()

    assert card == "the card"
    assert tries == ["r1", "r1"]
