"""The reconciler: runs that Temporal ended, forgot, or never heard of, without a front door."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest
from temporalio.client import WorkflowExecutionStatus

from domain.agents.request import AgentRequest
from domain.budget_events import BudgetSpent
from domain.events import (
    Entry,
    InputAsked,
    InputSettled,
    ModelRequested,
    ModelResponded,
    RunAttached,
    RunEnded,
    RunReconciled,
    SlotReleased,
    TurnStarted,
)
from domain.ids import run_stream, slot_stream
from domain.runs.budget import Budget
from domain.runs.inputs import How
from domain.runs.legal import illegal_step
from domain.runs.run import open_inputs
from ledger.accept import accept_answer, accept_message
from ledger.append import Part, append
from ledger.dispatch import Launch, dispatch
from ledger.lost import end_lost
from ledger.reads import read_stream
from legato.compare import compare
from tests.orchestration.conftest import GRACE
from tests.orchestration.test_reset import decisions, reset
from tests.support.ledger import connected
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from domain.runs.run import Run
    from tests.support.rig import Rig

ASK = 'steps: [{calls: [{tool: ask_human, arguments: {question: "Why is it so?"}}]}, {text: done}]'


def waits(run: Run) -> bool:
    return run.waiting is not None


async def answered(rig: Rig, run_id: str) -> None:
    """Answer what a run asks, by the relay."""
    (asked,) = await rig.of(run_id, InputAsked)
    await accept_answer(rig.ledger, PERSON, run_id, "a1", asked.input_id, "so", owner=True)


async def reconciled(rig: Rig, run_id: str) -> RunReconciled:
    """Wait until an ended run has been compared, and give what that came to."""
    async with asyncio.timeout(60):
        while True:
            found = await rig.of(run_id, RunReconciled)
            if found:
                assert len(found) == 1
                return found[0]
            await asyncio.sleep(0.1)


@pytest.mark.slow
async def test_a_run_terminated_in_temporal_is_lost_and_what_waits_takes_its_place(
    watched: Rig,
) -> None:
    run_id = await watched.launch(model=watched.script(ASK))
    run = await watched.until(run_id, waits)
    await accept_message(watched.ledger, PERSON, run_id, "m1", "and then this", later=True)
    await (await watched.handle(run_id)).terminate("an operator's mistake")

    await watched.ended(run_id)

    (end,) = await watched.of(run_id, RunEnded)
    assert (end.status, end.reason, end.by) == ("lost", "workflow_terminated", "system")
    assert [one.how for one in await watched.of(run_id, InputSettled)] == [How.WITHDRAWN]
    assert run.accepted is not None
    slot = [one.fact for one in await read_stream(watched.ledger, slot_stream(run.accepted.slot))]
    assert SlotReleased(run_id=run_id, n=1) in slot
    following = await watched.next_run(run.accepted.slot)
    await watched.until(following, lambda run: run.turn is not None)
    assert [turn.text for turn in await watched.of(following, TurnStarted)] == ["and then this"]
    assert (await reconciled(watched, run_id)).result == "checked"
    assert illegal_step(run_stream(run_id), await watched.facts(run_id)) is None


async def test_a_run_that_was_never_started_is_started(watched: Rig) -> None:
    given = {"role": "generic", "message": "go", "workspace": str(watched.workspace)}
    request = AgentRequest.model_validate(
        {**given, "model": watched.script("steps: [{text: done}]")}
    )
    launch = Launch(str(uuid.uuid4()), Entry.HAND, request, f"home/{watched.host}")
    async with connected(watched.stack.database_url) as other, other.transaction():
        await other.execute("select pg_current_xact_id()")  # the relay sees nothing newer
        await dispatch(watched.ledger, PERSON, launch)

        run = await watched.until(launch.run_id, lambda run: run.ended is not None)

    assert run.status == "completed"
    assert len(await watched.of(launch.run_id, RunAttached)) == 1


async def test_a_run_that_temporal_has_forgotten_goes_on_from_the_ledger(watched: Rig) -> None:
    run_id = await watched.launch(model=watched.script(ASK))
    await watched.until(run_id, waits)
    handle = await watched.handle(run_id)
    await watched.client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=watched.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id),
        )
    )

    await watched.until(run_id, lambda run: len(run.temporal_runs) == 2 and waits(run))
    await answered(watched, run_id)
    run = await watched.ended(run_id)

    assert run.status == "completed"
    assert len(await watched.of(run_id, ModelResponded)) == 2
    assert len(await watched.of(run_id, InputAsked)) == 1
    assert [one.epoch for one in await watched.of(run_id, RunAttached)] == [1, 2]
    compared = await reconciled(watched, run_id)
    assert (compared.result, compared.links) == ("history_gone", 1)


async def test_a_run_that_is_reset_is_attached_anew_and_not_lost(watched: Rig) -> None:
    run_id = await watched.launch(model=watched.script(ASK))
    await watched.until(run_id, waits)
    (first,) = await watched.of(run_id, RunAttached)

    await reset(watched, run_id, first.temporal_run, (await decisions(watched, run_id))[1])
    await watched.until(run_id, lambda run: len(run.temporal_runs) == 2 and waits(run))
    await watched.beat(GRACE * 2)
    await answered(watched, run_id)
    run = await watched.ended(run_id)

    assert run.status == "completed"
    assert (await reconciled(watched, run_id)).result == "checked"


async def test_a_workflow_that_stays_open_after_its_runs_end_is_told_to_end(watched: Rig) -> None:
    run_id = await watched.launch(model=watched.script(ASK))
    run = await watched.until(run_id, waits)
    await end_lost(watched.ledger, PERSON, run, "a_mistake")

    compared = await reconciled(watched, run_id)

    described = await (await watched.handle(run_id)).describe()
    assert described.status is WorkflowExecutionStatus.COMPLETED
    assert (compared.result, compared.links, compared.results > 2) == ("checked", 1, True)
    again = await compare(watched.client, watched.ledger, run_id)
    assert again.fact() == compared


async def test_a_run_that_completes_is_compared_and_agrees(watched: Rig) -> None:
    run_id = await watched.launch(model=watched.script("steps: [{text: done}]"))
    run = await watched.ended(run_id)

    compared = await reconciled(watched, run_id)

    assert (compared.result, compared.where) == ("checked", "")
    after = await watched.run(run_id)
    assert (after.status, after.ended) == (run.status, run.ended)


async def test_a_waiting_run_whose_time_a_late_execution_found_over_is_ended_by_the_reconciler(
    watched: Rig,
) -> None:
    run_id = await watched.launch(model=watched.script(ASK), budget=Budget(seconds=60))
    await watched.until(run_id, waits)
    over = BudgetSpent(reason="budget_seconds", limit="seconds", spent="61.000", hard="60")
    await append(watched.ledger, PERSON, Part(run_stream(run_id), (over,)))
    run = await watched.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("over_budget", "budget_seconds")
    assert run.ended.message == "the run has spent 61 of 60 seconds of working time"
    assert len(await watched.of(run_id, ModelRequested)) == 1
    assert open_inputs(run) == ()
