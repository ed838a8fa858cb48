"""Runs that Temporal will never end: found by the doctor, ended by a stop, nothing left held."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from temporalio.client import WorkflowExecutionStatus
from temporalio.service import RPCError

from domain.agents.request import AgentRequest
from domain.events import (
    CallUnknown,
    Entry,
    InputAsked,
    RunEnded,
    SlotReleased,
    TurnStarted,
)
from domain.ids import run_stream, slot_stream
from domain.runs.legal import illegal_step
from ledger.accept import accept_message
from ledger.append import Part, append
from ledger.dispatch import Launch, dispatch
from ledger.reads import read_stream
from tests.support.ledger import connected
from tests.support.rig import PERSON
from tests.support.stack import Result, call_inside, clean_environment

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from temporalio.client import WorkflowHandle

    from domain.runs.run import Run
    from tests.support.rig import Rig

ASK = 'steps: [{calls: [{tool: ask_human, arguments: {question: "Why is it so?"}}]}, {text: done}]'
EFFECT = """
steps:
  - calls: [{tool: count_once, arguments: {path: "%s", text: one, sleep_seconds: 60}}]
  - text: done
"""


async def legato(rig: Rig, *arguments: str) -> Result:
    """Call the program on the rig's servers."""
    variables = clean_environment(rig.home) | {
        "TEMPORAL_ADDRESS": rig.stack.temporal_address,
        "TEMPORAL_NAMESPACE": rig.stack.temporal_namespace,
        "DATABASE_URL": rig.stack.database_url,
    }
    return await asyncio.to_thread(call_inside, variables, "--json", *arguments)


async def found(rig: Rig, run_id: str) -> list[tuple[str, str, str]]:
    """Ask the doctor, and keep what it says of one run."""
    checks = (await legato(rig, "doctor")).json["checks"]
    return [
        (one["grade"], one["text"], one["next"]) for one in checks if one["name"] == f"run {run_id}"
    ]


@asynccontextmanager
async def later(rig: Rig, interval: str) -> AsyncGenerator[None]:
    """Set the ledger's clock forward for a moment."""
    change = "update ledger.clock_offset set ahead = $1::text::interval"
    await rig.ledger.pool.execute(change, interval)
    try:
        yield
    finally:
        await rig.ledger.pool.execute(change, "0")


def waits(run: Run) -> bool:
    return run.waiting is not None


def in_effect(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


async def test_a_run_terminated_in_temporal_is_found_and_a_stop_ends_it(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK))
    run = await served.until(run_id, waits)
    await (await served.handle(run_id)).terminate("an operator's mistake")

    ((grade, text, step), *_) = [one for one in await found(served, run_id) if one[0] == "fail"]
    assert (grade, "workflow_terminated" in text) == ("fail", True)
    assert f"`legato stop {run_id}`" in step
    stopped = await legato(served, "stop", run_id, "--reason", "it hangs")

    assert (stopped.code, stopped.json["status"]) == (0, "lost")
    (end,) = await served.of(run_id, RunEnded)
    assert (end.status, end.reason, end.message) == ("lost", "workflow_terminated", "it hangs")
    assert end.by.startswith("person:")
    assert illegal_step(run_stream(run_id), await served.facts(run_id)) is None
    assert run.accepted is not None
    slot = [one.fact for one in await read_stream(served.ledger, slot_stream(run.accepted.slot))]
    assert SlotReleased(run_id=run_id, n=1) in slot
    assert await found(served, run_id) == []
    again = await served.launch(model=served.script("steps: [{text: done}]"))
    assert (await served.ended(again)).status == "completed"


async def test_what_waits_for_later_starts_the_next_run_after_a_lost_one(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK))
    run = await served.until(run_id, waits)
    await accept_message(served.ledger, PERSON, run_id, "m1", "and then this", later=True)
    await (await served.handle(run_id)).terminate()

    await legato(served, "stop", run_id)

    assert run.accepted is not None
    following = await served.next_run(run.accepted.slot)
    await served.until(following, lambda run: run.turn is not None)
    assert [turn.text for turn in await served.of(following, TurnStarted)] == ["and then this"]


async def test_a_lost_run_says_of_what_was_under_way_that_nobody_can_tell(rig: Rig) -> None:
    worker = rig.start_worker()
    run_id = await rig.launch(model=rig.script(EFFECT % (rig.folder / "outside.txt")))
    await rig.until(run_id, in_effect)
    worker.kill()
    await (await rig.handle(run_id)).terminate()

    stopped = await legato(rig, "stop", run_id)

    assert stopped.json["status"] == "lost"
    (unknown,) = await rig.of(run_id, CallUnknown)
    assert unknown.name == "count_once"
    assert len(await rig.of(run_id, InputAsked)) == 1
    assert illegal_step(run_stream(run_id), await rig.facts(run_id)) is None


async def test_a_live_run_is_left_to_its_workflow(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK))
    await served.until(run_id, waits)

    stopped = await legato(served, "stop", run_id)
    run = await served.ended(run_id)

    assert (stopped.json["status"], run.status) == ("stopping", "stopped")


async def test_a_run_that_temporal_refused_is_found_and_ended_once_it_cannot_just_be_late(
    served: Rig,
) -> None:
    first = await served.launch(model=served.script("steps: [{text: done}]"))
    accepted = (await served.ended(first)).accepted
    assert accepted is not None
    run_id = str(uuid.uuid4())
    wrong = {"run_id": run_id, "workflow_id": f"run/{run_id}/" + "x" * 5000}
    wrong |= {"slot": run_id, "session": run_id}
    part = Part(run_stream(run_id), (accepted.model_copy(update=wrong),), 0)
    await append(served.ledger, PERSON, part)
    parked = "select code from ledger.parked where stream_id = $1"
    async with asyncio.timeout(30):
        while not await served.ledger.pool.fetchval(parked, run_stream(run_id)):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.1)

    ((grade, text, step),) = await found(served, run_id)
    assert (grade, "INVALID_ARGUMENT" in text) == ("fail", True)
    assert f"`legato stop {run_id}`" in step
    early = await legato(served, "stop", run_id)
    async with later(served, "2 minutes"):
        late = await legato(served, "stop", run_id, "--reason", "give up")

    assert (early.json["status"], late.json["status"]) == ("stopping", "stopped")
    (end,) = await served.of(run_id, RunEnded)
    assert (end.status, end.reason) == ("stopped", "never_started")
    assert await found(served, run_id) == []


async def test_a_stopped_run_that_is_handed_over_late_ends_at_once_and_changes_nothing(
    served: Rig,
) -> None:
    given = {"role": "generic", "message": "go", "workspace": str(served.workspace)}
    request = AgentRequest.model_validate({**given, "model": served.script(ASK)})
    launch = Launch(str(uuid.uuid4()), Entry.HAND, request, f"home/{served.host}")
    async with connected(served.stack.database_url) as other, other.transaction():
        await other.execute("select pg_current_xact_id()")  # the relay sees nothing newer
        fact = (await dispatch(served.ledger, PERSON, launch)).accepted
        assert fact is not None
        async with later(served, "2 minutes"):
            stopped = await legato(served, "stop", fact.run_id)
    before = await served.stored(fact.run_id)

    handle = served.client.get_workflow_handle(fact.workflow_id)
    async with asyncio.timeout(60):
        while not await _has_ended(handle):  # noqa: ASYNC110 - nothing tells of it here
            await asyncio.sleep(0.1)

    assert stopped.json["status"] == "stopped"
    assert before[-1].fact.type == "run.ended"
    assert await served.stored(fact.run_id) == before


async def _has_ended(handle: WorkflowHandle[object, object]) -> bool:
    try:
        return (await handle.describe()).status is WorkflowExecutionStatus.COMPLETED
    except RPCError:
        return False
