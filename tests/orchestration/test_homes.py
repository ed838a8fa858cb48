"""Workers of one home and of two, a home that is drained, and one without a worker."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from domain.events import CallSettled, InputAsked, RunAttached, RunEnded
from domain.tools.results import Tag
from legato.drained import is_worked_for
from legato.pollers import workers_of as serving
from legato.try_build import try_replays
from tests.support.rig import Rig, rig_of
from tests.support.stack import call_inside, clean_environment
from tests.support.trust import all_holds

if TYPE_CHECKING:
    from pathlib import Path

    from domain.runs.run import Run
    from legato.embedded import Stack
    from tests.support.stack import Result

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

LONG = 200.0
ASK = 'steps: [{calls: [{tool: ask_human, arguments: {question: "Which?"}}]}, {text: thanks}]'


def asks(run: Run) -> bool:
    return run.waiting is not None


def in_call(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


async def legato(rig: Rig, *arguments: str) -> Result:
    """Run the program on the rig's cluster, as at home there."""
    variables = clean_environment(rig.home) | {
        "TEMPORAL_ADDRESS": rig.stack.temporal_address,
        "TEMPORAL_NAMESPACE": rig.stack.temporal_namespace,
        "DATABASE_URL": rig.stack.database_url,
        "LEGATO_HOST": rig.host,
    }
    return await asyncio.to_thread(call_inside, variables, "--json", *arguments)


async def workers_of(rig: Rig, run_id: str) -> set[int]:
    """Name by their pids the workers that carried a run out, as Temporal recorded it."""
    found: set[str] = set()
    async for event in (await rig.handle(run_id)).fetch_history_events():
        if event.HasField("activity_task_started_event_attributes"):
            found.add(event.activity_task_started_event_attributes.identity)
        if event.HasField("workflow_task_started_event_attributes"):
            found.add(event.workflow_task_started_event_attributes.identity)
    return {int(identity.partition("@")[0]) for identity in found}


async def holders(rig: Rig, runs: list[str]) -> dict[int, str]:
    """Name which workers are in the middle of a run's call now, one run each."""
    found: dict[int, str] = {}
    for run_id in runs:
        described = await (await rig.handle(run_id)).describe()
        for pending in described.raw_description.pending_activities:
            if pending.activity_type.name == "run_tool" and pending.last_worker_identity:
                found[int(pending.last_worker_identity.partition("@")[0])] = run_id
    return found


async def commanding(rig: Rig, seconds: float) -> str:
    """Launch a run, in a workspace of its own, whose command writes a line and takes its time."""
    folder = rig.folder / f"work-{time.monotonic_ns()}"
    for needed in (folder, rig.home / "stores" / folder.name):
        needed.mkdir(parents=True)
    command = f"echo once >> counted.txt; sleep {seconds}"
    call = {"tool": "shell", "arguments": {"command": command}}
    script = rig.script(json.dumps({"steps": [{"calls": [call]}, {"text": "done"}]}))
    stores = str(rig.home / "stores" / folder.name)
    return await rig.launch(model=script, workspace=str(folder), stores=stores)


async def once(rig: Rig, runs: list[str]) -> None:
    """Check that each run completed, once, and that its command ran once."""
    for run_id in runs:
        assert (await rig.ended(run_id, seconds=LONG)).status == "completed"
        assert len(await rig.of(run_id, RunEnded)) == len(await rig.of(run_id, RunAttached)) == 1
        (call,) = await rig.of(run_id, CallSettled)
        assert call.outcome.tag is Tag.OK
    written = [path.read_text() for path in rig.folder.glob("work-*/counted.txt")]
    assert written == ["once\n"] * len(runs)
    await all_holds(rig)


async def test_two_workers_share_a_home_and_one_that_dies_leaves_nothing_undone_or_twice(
    rig: Rig,
) -> None:
    both, queue = [rig.start_worker(), rig.start_worker()], f"home/{rig.host}"
    async with asyncio.timeout(LONG):
        while await serving(rig.client, [queue]) != {queue: 2}:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0.05)
        runs = [await commanding(rig, 5) for _ in range(4)]
        while len(at_work := await holders(rig, runs)) < 2:
            await asyncio.sleep(0.05)
            if not at_work and await all_ended(rig, runs):
                runs += [await commanding(rig, 5) for _ in range(4)]
    both[0].kill()

    await once(rig, runs)
    hands = [await workers_of(rig, run_id) for run_id in runs]
    assert {pid for pids in hands for pid in pids} == {one.process.pid for one in both}


async def all_ended(rig: Rig, runs: list[str]) -> bool:
    return all([(await rig.run(run_id)).ended is not None for run_id in runs])


async def test_each_home_s_runs_are_carried_out_by_its_own_worker_alone(
    cluster: Stack, tmp_path: Path
) -> None:
    """And a run whose home has lost its worker says so, until there is one again."""
    async with AsyncExitStack() as stack:
        one, two = [
            await stack.enter_async_context(rig_of(cluster, tmp_path / name))
            for name in ("one", "two")
        ]
        workers = {rig.host: rig.start_worker() for rig in (one, two)}
        runs = {rig.host: [await commanding(rig, 0) for _ in range(3)] for rig in (one, two)}
        for rig in (one, two):
            await once(rig, runs[rig.host])
            for run_id in runs[rig.host]:
                assert await workers_of(rig, run_id) == {workers[rig.host].process.pid}
        await asyncio.to_thread(workers[one.host].terminate)
        left = await commanding(one, 0)
        other = await commanding(two, 0)
        await two.ended(other, seconds=LONG)

        await says_that_it_waits(one, left, next_step="start `legato-worker` here")
        await says_that_it_waits(two, left, next_step=f"LEGATO_HOST is {one.host}")
        listed = await legato(two, "runs", "--open")
        assert [away["home"] for away in listed.json["absent_homes"]] == [f"home/{one.host}"]
        doctor = (await legato(one, "doctor")).json["checks"]
        (told,) = [check for check in doctor if check["name"] == f"home/{one.host}"]
        assert (told["grade"], "home_absent" in told["text"]) == ("warn", True)
        assert [check for check in doctor if left in check["name"]] == []

        one.start_worker()
        await one.ended(left, seconds=LONG)
        assert (await legato(one, "show", left)).json["home"] is None
        assert (await legato(two, "runs", "--all")).json["absent_homes"] == []


async def says_that_it_waits(rig: Rig, run_id: str, *, next_step: str) -> None:
    shown = (await legato(rig, "show", run_id)).json
    assert (shown["status"], shown["waiting_on"]) == ("waiting", "home")
    assert shown["home"]["code"] == "home_absent"
    assert next_step in shown["home"]["next"]
    assert shown["home"]["recorded"] == {"status": "queued", "waiting_on": ""}


async def test_a_drained_home_ends_what_is_under_way_and_goes_on_with_up(rig: Rig) -> None:
    """One run is in the middle of a call, one waits for a person, one comes meanwhile."""
    rig.start_worker()
    asking = await rig.launch(model=rig.script(ASK))
    await rig.until(asking, asks)
    working = await commanding(rig, 5)
    await rig.until(working, in_call)

    drained = await legato(rig, "drain")

    assert (drained.code, drained.json["under_way"]) == (0, []), drained.out + drained.err
    assert "waiting for what is under way" in drained.err
    assert [one.outcome.tag for one in await rig.of(working, CallSettled)] == [Tag.OK]
    assert rig.workers[0].process.poll() is None
    meanwhile = await commanding(rig, 0)
    for run_id, status, waits in (
        (working, "running", "home"),
        (asking, "waiting", "input, home"),
        (meanwhile, "queued", "home"),
    ):
        shown = (await legato(rig, "show", run_id)).json
        assert (shown["status"], shown["waiting_on"]) == ("waiting", waits)
        assert (shown["home"]["code"], shown["home"]["recorded"]["status"]) == (
            "home_drained",
            status,
        )
        assert "up`" in shown["home"]["next"]
    await answered_by_hand(rig, asking)
    assert (await rig.run(asking)).ended is None
    assert (await legato(rig, "status")).json["drained"] == drained.json["drained"]
    queue = f"home/{rig.host}"
    found = await try_replays(rig.client, rig.ledger, queue, limit=LONG)
    assert (found.problems, found.replayed, found.left) == ({}, 2, ())
    none = await try_replays(rig.client, rig.ledger, queue, most=0)
    assert (none.replayed, set(none.left)) == (0, {asking, working, meanwhile})

    rig.start_worker()  # a worker that is started anew does not work either
    up = await legato(rig, "up")

    assert (up.code, up.json["drained"]) == (0, ""), up.out + up.err
    assert (await rig.ended(asking, seconds=LONG)).status == "completed"
    await once(rig, [working, meanwhile])


async def answered_by_hand(rig: Rig, run_id: str) -> None:
    (asked,) = await rig.of(run_id, InputAsked)
    answered = await legato(rig, "answer", run_id, asked.input_id, "this one")
    assert answered.code == 0, answered.out


async def test_a_drain_that_takes_too_long_says_what_still_runs(rig: Rig) -> None:
    """The worker is then told to end in the middle: the next one goes on with the command."""
    worker = rig.start_worker()
    run_id = await commanding(rig, 20)
    await rig.until(run_id, in_call)

    drained = await legato(rig, "drain", "--timeout", "0.5")

    assert (drained.code, drained.error["code"]) == (1, "drain_unfinished")
    (doing,) = drained.error["details"]["under_way"]
    assert (doing["run_id"], doing["activity"]) == (run_id, "run_tool")
    assert "shell" in doing["doing"]
    assert "down` ends it in the middle" in drained.error["next"]
    assert await asyncio.to_thread(worker.terminate) == 0
    assert not is_worked_for(rig.home)
    assert await rig.of(run_id, CallSettled) == []

    assert (await legato(rig, "up")).code == 0
    rig.start_worker()
    await once(rig, [run_id])
