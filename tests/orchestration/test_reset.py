"""Temporal's reset of a run's workflow: what is recorded is handed back and not done again."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.enums.v1 import EventType
from temporalio.api.workflowservice.v1 import ResetWorkflowExecutionRequest
from temporalio.service import RPCError

from activities.record import Records, attach
from domain.errors import LegatoError
from domain.events import CallSettled, CheckCompleted, InputAsked, ModelResponded, RunAttached
from domain.runs.sequence import CommandCheck, Item
from domain.tools.results import Tag

if TYPE_CHECKING:
    from domain.runs.run import Run
    from tests.support.rig import Rig

SCRIPT = """
steps:
  - calls:
      - {tool: read_file, arguments: {path: a.txt}}
      - {tool: write_file, arguments: {path: b.txt, content: "once\\n"}}
      - {tool: shell, arguments: {command: "echo ran >> counter"}}
  - calls: [{tool: shell, arguments: {command: "echo again >> counter"}}]
  - text: done
    delay_seconds: %s
"""
CHECK = Item(
    kind="prevalidation", name="checks", checks=(CommandCheck(command="echo checked >> checks"),)
)
WORK = Item(kind="message", name="work", text="do it")


def in_last_step(run: Run) -> bool:
    return run.step is not None and run.step.open is not None and run.ordinal == 2


async def decisions(rig: Rig, run_id: str) -> list[int]:
    """List the events of the workflow's history to which it can be reset."""
    history = await (await rig.handle(run_id)).fetch_history()
    wanted = EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED
    return [event.event_id for event in history.events if event.event_type == wanted]


async def reset(rig: Rig, run_id: str, temporal_run: str, event: int) -> str:
    """Reset a Temporal run as an operator would; gives the new one."""
    handle = await rig.handle(run_id)
    reply = await rig.client.workflow_service.reset_workflow_execution(
        ResetWorkflowExecutionRequest(
            namespace=rig.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id, run_id=temporal_run),
            reason="a test",
            workflow_task_finish_event_id=event,
            request_id=str(uuid.uuid4()),
        )
    )
    return reply.run_id


async def launched(rig: Rig, delay: float) -> str:
    """Begin a run that reads, writes, runs commands, and is checked."""
    (rig.workspace / "a.txt").write_text("hello\n")
    return await rig.launch(model=rig.script(SCRIPT % delay), items=(WORK, CHECK))


async def all_once(rig: Rig, run_id: str) -> None:
    """Each response, effect and check is there once."""
    assert len(await rig.of(run_id, ModelResponded)) == 3
    calls = await rig.of(run_id, CallSettled)
    assert [call.outcome.tag for call in calls] == [Tag.OK] * 4
    assert await rig.of(run_id, InputAsked) == []
    assert len(await rig.of(run_id, CheckCompleted)) == 1
    assert (rig.workspace / "b.txt").read_text() == "once\n"
    assert (rig.workspace / "counter").read_text() == "ran\nagain\n"
    assert (rig.workspace / "checks").read_text() == "checked\n"


async def test_a_run_that_is_reset_goes_on_and_the_superseded_activities_are_refused(
    served: Rig,
) -> None:
    run_id = await launched(served, 3)
    await served.until(run_id, in_last_step)
    (first,) = await served.of(run_id, RunAttached)
    to = (await decisions(served, run_id))[2]

    second = await reset(served, run_id, first.temporal_run, to)
    run = await served.ended(run_id)
    await (await served.handle(run_id)).result()

    assert run.status == "completed"
    await all_once(served, run_id)
    attached = [one.temporal_run for one in await served.of(run_id, RunAttached)]
    assert attached == [first.temporal_run, second]
    with pytest.raises(LegatoError, match="run_superseded"):
        await attach(served.ledger, Records(), run_id, first.temporal_run)


async def test_an_ended_run_can_be_reset_to_any_point_and_repeats_nothing(served: Rig) -> None:
    run_id = await launched(served, 0)
    await served.ended(run_id)
    card = await (await served.handle(run_id)).result()
    before = await served.facts(run_id)
    (attached,) = await served.of(run_id, RunAttached)

    done = 0
    for event in await decisions(served, run_id):
        try:
            await reset(served, run_id, attached.temporal_run, event)
        except RPCError:
            continue  # Temporal itself cannot reset to within what it wrote at once
        assert await (await served.handle(run_id)).result() == card
        done += 1

    assert done > 2
    assert await served.facts(run_id) == before
    await all_once(served, run_id)
