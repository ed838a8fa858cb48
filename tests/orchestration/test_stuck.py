"""Runs that stand still because no worker can go on with them: said, healed, ended."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from temporalio import workflow
from temporalio.worker import UnsandboxedWorkflowRunner, Worker

from ledger.accept import accept_stop
from tests.orchestration.test_reconciler import ASK, answered, waits
from tests.support.rig import PERSON
from workflows.agent_run import RunStart

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.support.rig import Rig

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@workflow.defn(name="AgentRun", sandboxed=False)
class OfAnotherBuild:
    """A workflow whose code does not fit the run: its task fails each time."""

    @workflow.run
    async def run(self, start: RunStart) -> str:
        """Fail as code that differs from the history does."""
        message = f"this build cannot go on with {start.run_id[:8]}"
        raise RuntimeError(message)


@asynccontextmanager
async def wrong_build(rig: Rig) -> AsyncGenerator[None]:
    """Serve the rig's queue by a build that fails every workflow task."""
    queue, runner = f"home/{rig.host}", UnsandboxedWorkflowRunner()
    async with Worker(
        rig.client, task_queue=queue, workflows=[OfAnotherBuild], workflow_runner=runner
    ):
        yield


async def test_a_run_whose_task_keeps_failing_is_stuck_until_a_worker_can_go_on(
    watched: Rig, rig: Rig
) -> None:
    async with wrong_build(rig):
        run_id = await rig.launch(model=rig.script(ASK))
        run = await watched.until(run_id, lambda run: run.stuck is not None)

    assert run.stuck is not None
    assert run.stuck.code == "workflow_task_failing"
    assert "this build cannot go on" in run.stuck.why
    assert run.stuck.attempts >= 5
    rig.start_worker()
    await rig.until(run_id, waits)
    assert (await rig.run(run_id)).stuck is None
    await answered(rig, run_id)
    assert (await rig.ended(run_id)).status == "completed"


async def test_a_stuck_run_that_is_stopped_ends(watched: Rig, rig: Rig) -> None:
    async with wrong_build(rig):
        run_id = await rig.launch(model=rig.script(ASK))
        await watched.until(run_id, lambda run: run.stuck is not None)
        await accept_stop(rig.ledger, PERSON, run_id, "s1", "enough")
        run = await watched.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason, run.ended.message) == (
        "stopped",
        "never_started",
        "enough",
    )
