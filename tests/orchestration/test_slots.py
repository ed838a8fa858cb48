"""One holder at a time on real workers: the next run begins once, whatever is killed at the end."""

from __future__ import annotations

import asyncio
import signal
import uuid
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

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
from ledger.migrate import migrate
from ledger.reads import read_stream
from legato.client import HandOver, hand_over
from tests.support.ledger import connected
from tests.support.rig import PERSON, rig_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from domain.runs.run import Run
    from legato.embedded import Stack
    from tests.support.rig import Rig

SLOW = "steps: [{text: never, delay_seconds: 60}]"
QUICK = "steps: [{text: done}]"


async def ask(
    rig: Rig,
    script: str,
    policy: OnCollision = OnCollision.QUEUE,
    scope: str = "nightly",
    run_id: str = "",
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
    name = run_id or str(uuid.uuid4())
    launch = Launch(name, Entry.HAND, request, queue, "", scope, policy)
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
@pytest.mark.parametrize(
    ("point", "policy"),
    [
        ("before:run.ended", OnCollision.QUEUE),
        ("after:run.ended", OnCollision.QUEUE),
        ("before:hand_over:%s", OnCollision.QUEUE),
        ("after:hand_over:%s", OnCollision.COALESCE),
        ("before:run.ended", OnCollision.SUPERSEDE),
        ("after:run.ended", OnCollision.SUPERSEDE),
    ],
)
async def test_a_worker_killed_between_one_end_and_the_next_start_begins_the_next_run_once(
    cluster: Stack, tmp_path: Path, point: str, policy: OnCollision
) -> None:
    async with alone(cluster, tmp_path) as rig:
        first, second = await killed_between(rig, point, policy)

        ended = await rig.ended(first.run_id)
        assert ended.status == ("superseded" if policy is OnCollision.SUPERSEDE else "completed")
        assert (await rig.ended(second.run_id)).status == "completed"
        told = [one.fact for one in await read_stream(rig.ledger, slot_stream(first.asked.slot))]
        assert [one.n for one in told if isinstance(one, SlotTaken)] == [1, 2]
        assert [one.n for one in told if isinstance(one, SlotReleased)] == [1, 2]
        for run_id in (first.run_id, second.run_id):
            assert illegal_step(run_stream(run_id), await rig.facts(run_id)) is None
        assert len(await rig.of(second.run_id, RunAttached)) == 1


@asynccontextmanager
async def alone(cluster: Stack, folder: Path) -> AsyncGenerator[Rig]:
    """A rig with a ledger of its own: no other test's worker hands over what stands in it."""
    name = f"alone_{uuid.uuid4().hex[:8]}"
    async with connected(cluster.database_url) as connection:
        await connection.execute(f"create database {name}")
    url = urlsplit(cluster.database_url)._replace(path=f"/{name}").geturl()
    await migrate(url)
    async with rig_of(replace(cluster, database_url=url), folder) as rig:
        yield rig


async def killed_between(
    rig: Rig, point: str, policy: OnCollision
) -> tuple[Dispatched, Dispatched]:
    """End a slot's holder, or stop it, and kill its worker at a point before the next begins.

    Gives what was decided of the holder and of the next one; workers go on.
    """
    next_run, superseded = str(uuid.uuid4()), policy is OnCollision.SUPERSEDE
    named = point % next_run if "%" in point else point
    doomed = rig.start_worker(kill=named)
    seconds = 60 if superseded else 2
    holding = f"steps: [{{text: done, delay_seconds: {seconds}}}]"
    first = await ask(rig, holding, scope="killed")
    await rig.until(first.run_id, asking)
    second = await ask(rig, QUICK, policy, "killed", next_run)
    assert second.holder == first.run_id
    assert await asyncio.to_thread(doomed.process.wait, 60) == -signal.SIGKILL
    for _ in range(2 if point.startswith("before:hand_over") else 1):
        rig.start_worker()
    return first, second
