"""Front doors killed between their append and their call to Temporal: nothing lost or repeated."""

from __future__ import annotations

import asyncio
import json
import signal
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from domain.events import (
    InputAsked,
    MessageAccepted,
    ModelRequested,
    RunAccepted,
    RunAttached,
    RunEnded,
    SlotTaken,
)
from domain.ids import incoming_stream, run_stream, slot_stream
from ledger.accept import accept_message, accept_stop
from ledger.reads import list_streams, read_event, read_stream
from legato.client import HandOver, hand_over
from tests.orchestration.test_lost import ASK, legato, waits
from tests.orchestration.test_relay import in_long_answer
from tests.support.rig import PERSON, ROOT, Rig
from tests.support.stack import clean_environment, program

if TYPE_CHECKING:
    from collections.abc import Mapping

SOON = 10.0
"""Seconds from an append until Temporal has been told."""

LATE = frozenset({"stop.requested", "input.settled"})

SCRIPT = """
steps:
  - calls: [{tool: ask_human, arguments: {question: "Which colour?"}}]
  - calls: [{tool: ask_human, arguments: {question: "Which size?"}}]
  - text: a long answer that never ends
    delay_seconds: 60
"""


async def killed(rig: Rig, kind: str, *arguments: str) -> None:
    """Call the program as a process, which kills itself after its append of one kind."""
    variables = clean_environment(rig.folder / f"door-{uuid.uuid4().hex[:8]}") | {
        "TEMPORAL_ADDRESS": rig.stack.temporal_address,
        "TEMPORAL_NAMESPACE": rig.stack.temporal_namespace,
        "DATABASE_URL": rig.stack.database_url,
        "LEGATO_HOST": rig.host,
        "LEGATO_KILL_POINTS": f"before:tell:{kind}",
    }
    process = await asyncio.create_subprocess_exec(
        *program("--json", *arguments), cwd=ROOT, env=variables, stdout=asyncio.subprocess.DEVNULL
    )
    assert await asyncio.wait_for(process.wait(), 60) == -signal.SIGKILL, arguments


async def run_with(rig: Rig, model: str) -> str:
    """Find the run that was given a model."""
    for stream in await list_streams(rig.ledger, "run", limit=5):
        first = await read_event(rig.ledger, stream, "run.accepted")
        fact = first.fact if first is not None else None
        if isinstance(fact, RunAccepted) and fact.request.model == model:
            return fact.run_id
    message = f"no run with {model} was accepted"
    raise AssertionError(message)


async def told(rig: Rig, run_id: str) -> dict[str, list[datetime]]:
    """List when the workflow was told to look, by the event that each look names."""
    found: dict[str, list[datetime]] = {}
    async for event in (await rig.handle(run_id)).fetch_history_events():
        if event.HasField("workflow_execution_signaled_event_attributes"):
            given = event.workflow_execution_signaled_event_attributes.input.payloads
            at = event.event_time.ToDatetime(UTC)
            found.setdefault(json.loads(given[1].data), []).append(at)
    return found


async def appended(rig: Rig, run_id: str) -> Mapping[str, datetime]:
    """List what the doors appended, by event id."""
    run = await rig.run(run_id)
    session = incoming_stream(run.accepted.session if run.accepted is not None else "")
    events = [*await rig.stored(run_id), *await read_stream(rig.ledger, session)]
    types = {"input.settled", "message.accepted", "stop.requested"}
    return {
        str(one.envelope["event_id"]): one.recorded_at for one in events if one.fact.type in types
    }


async def answer_killed(rig: Rig, run_id: str, word: str) -> None:
    asked = (await rig.of(run_id, InputAsked))[-1].input_id
    await killed(rig, "input.settled", "answer", run_id, asked, word)


async def one_round(rig: Rig) -> int:
    """Start, answer, message, answer and stop a run, each by a door that dies; counts them."""
    model = rig.script(SCRIPT)
    place = ("--workspace", str(rig.workspace))
    await killed(rig, "run.accepted", "run", "generic", "go", "-m", model, *place, "--detach")
    run_id = await run_with(rig, model)
    await rig.until(run_id, waits)
    await answer_killed(rig, run_id, "red")
    await rig.until(run_id, lambda run: run.ordinal == 2 and run.waiting is not None)
    await killed(rig, "message.accepted", "send", run_id, "also this")
    await answer_killed(rig, run_id, "large")
    await rig.until(run_id, in_long_answer)
    await killed(rig, "stop.requested", "stop", run_id, "--reason", "enough")
    run = await rig.ended(run_id)

    assert run.status == "stopped"
    begun = {str(one.envelope["event_id"]): one.recorded_at for one in await rig.stored(run_id)}
    assert (begun["run.attached:1"] - begun["run.accepted"]).total_seconds() < SOON
    assert len(await rig.of(run_id, RunAttached)) == len(await rig.of(run_id, RunEnded)) == 1
    assert [one.delivered for one in await rig.of(run_id, ModelRequested)] == [(), (), (1,)]
    doors, looks = await appended(rig, run_id), await told(rig, run_id)
    assert sorted(doors) == sorted(looks)
    assert len(doors) == 4
    for event, at in doors.items():
        (once,) = looks[event]
        assert (once - at).total_seconds() < SOON, event
    return 1 + len(doors)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_ten_killed_front_doors_are_delivered_soon_and_once(served: Rig) -> None:
    kills = [await one_round(served) for _ in range(2)]

    assert sum(kills) == 10


@pytest.mark.soak
@pytest.mark.timeout(3600)
async def test_two_hundred_killed_front_doors_are_delivered_soon_and_once(served: Rig) -> None:
    kills = [await one_round(served) for _ in range(40)]

    assert sum(kills) == 200


async def test_what_comes_late_for_a_finished_run_reaches_no_other(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK))
    first = await served.until(run_id, waits)
    assert first.accepted is not None
    await accept_message(served.ledger, PERSON, run_id, "later", "and this", later=True)
    message = MessageAccepted(submission="later", text="and this", later=True, run_id=run_id)
    stopped = await accept_stop(served.ledger, PERSON, run_id, "s1", "enough")
    await served.ended(run_id)
    second = await served.next_run(first.accepted.slot)
    await served.until(second, waits)

    to = HandOver(served.client, served.ledger, 2000)
    for event in [one for one in await served.stored(run_id) if one.fact.type in LATE]:
        await hand_over(to, event.fact, str(event.envelope["event_id"]), run_id)
    await hand_over(to, message, "message.accepted:later", run_id)
    question = (await served.of(run_id, InputAsked))[0].input_id
    late = [
        await legato(served, "stop", run_id),
        await legato(served, "send", run_id, "and that"),
        await legato(served, "answer", run_id, question, "so"),
    ]

    assert stopped.event == "stop.requested:s1"
    assert [one.error["code"] for one in late] == ["run_closed", "run_closed", "input_settled"]
    run = await served.run(second)
    assert (run.stop, waits(run)) == (None, True)
    assert await told(served, second) == {}
    holders = [
        one.fact for one in await read_stream(served.ledger, slot_stream(first.accepted.slot))
    ]
    assert [one.n for one in holders if isinstance(one, SlotTaken)] == [1, 2]
    assert run_stream(second) != run_stream(run_id)
