"""One holder at a time on real workers: the next run begins once, whatever is killed at the end."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from domain.agents.request import AgentRequest
from domain.errors import LegatoError
from domain.events import (
    Decision,
    Entry,
    OnCollision,
    RunAttached,
    SlotReleased,
    SlotTaken,
    StopRequested,
    event_id,
)
from domain.ids import run_stream, slot_stream
from domain.runs.legal import illegal_step
from ledger.accept import accept_message, accept_stop
from ledger.dispatch import Dispatched, Launch, dispatch
from ledger.reads import read_stream
from legato.client import HandOver, hand_over
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from domain.runs.run import Run
    from tests.support.rig import Rig

SLOW = "steps: [{text: never, delay_seconds: 60}]"
QUICK = "steps: [{text: done}]"


async def ask(
    rig: Rig, script: str, policy: OnCollision = OnCollision.QUEUE, scope: str = "nightly"
) -> Dispatched:
    """Ask for a run in a slot, and hand over what was begun, as a front door does."""
    request = AgentRequest(
        role="generic",
        message="go",
        model=rig.script(script),
        workspace=str(rig.workspace),
        stores=str(rig.stores),
    )
    queue = f"home/{rig.host}"
    launch = Launch(str(uuid.uuid4()), Entry.HAND, request, queue, "", scope, policy)
    done = await dispatch(rig.ledger, PERSON, launch)
    to = HandOver(rig.client, rig.ledger, rig.most_events)
    if done.accepted is not None:
        await hand_over(to, done.accepted, event_id(done.accepted), done.run_id)
    if done.stop is not None:
        await hand_over(to, done.stop, event_id(done.stop), done.holder)
    return done


def asking(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


async def test_the_next_in_line_begins_when_the_holder_has_ended(served: Rig) -> None:
    first = await ask(served, SLOW)
    await served.until(first.run_id, asking)
    second = await ask(served, QUICK)
    newest = await ask(served, QUICK, OnCollision.SUPERSEDE)

    assert (second.decision, second.holder) == (Decision.QUEUED, first.run_id)
    assert (newest.decision, newest.holder) == (Decision.SUPERSEDING, first.run_id)
    assert (await served.ended(first.run_id)).status == "superseded"
    assert (await served.ended(newest.run_id)).status == "completed"
    assert (await served.ended(second.run_id)).status == "completed"
    taken = [
        one.fact
        for one in await read_stream(served.ledger, slot_stream(first.asked.slot))
        if isinstance(one.fact, SlotTaken)
    ]
    assert [one.run_id for one in taken] == [first.run_id, newest.run_id, second.run_id]
    with pytest.raises(LegatoError) as late:
        await accept_stop(served.ledger, PERSON, first.run_id, "late-stop", "too late")
    assert late.value.code == "run_closed"
    with pytest.raises(LegatoError) as late:
        await accept_message(served.ledger, PERSON, first.run_id, "late", "too late", later=False)
    assert late.value.code == "run_closed"
    for run_id in (newest.run_id, second.run_id):
        assert await served.of(run_id, StopRequested) == []


@pytest.mark.slow
@pytest.mark.parametrize("point", ["before:run.ended", "after:run.ended"])
async def test_a_worker_killed_in_close_run_begins_the_next_run_once(rig: Rig, point: str) -> None:
    rig.start_worker(kill=point)
    first = await ask(rig, "steps: [{text: done, delay_seconds: 2}]", scope="killed")
    second = await ask(rig, QUICK, scope="killed")
    assert second.decision is Decision.QUEUED
    rig.start_worker()
    rig.start_worker()

    assert (await rig.ended(first.run_id)).status == "completed"
    assert (await rig.ended(second.run_id)).status == "completed"
    told = [one.fact for one in await read_stream(rig.ledger, slot_stream(first.asked.slot))]
    assert [one.n for one in told if isinstance(one, SlotTaken)] == [1, 2]
    assert [one.n for one in told if isinstance(one, SlotReleased)] == [1, 2]
    for run_id in (first.run_id, second.run_id):
        assert illegal_step(run_stream(run_id), await rig.facts(run_id)) is None
    assert len(await rig.of(second.run_id, RunAttached)) == 1
