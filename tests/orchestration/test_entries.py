"""How a run is started changes nothing about its agent: one role, one fingerprint."""

from __future__ import annotations

import asyncio
import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from domain.agents.build import build_definition
from domain.agents.definition import fingerprint
from domain.agents.request import AgentRequest, Sources
from domain.events import CallSettled, Entry, RunAccepted, RunDefined, event_id
from domain.runs.budget import Budget, Limits
from domain.runs.closing import following_id
from domain.runs.raising import Wanted
from domain.runs.sequence import Item
from domain.tools.registry import build_registry
from domain.tools.results import Tag
from ledger.accept import accept_message
from ledger.dispatch import Launch, dispatch
from legato import door as front
from legato.client import HandOver, hand_over
from legato.settings import load_settings
from tests.orchestration.test_resuming import rewrite
from tests.orchestration.test_slots import asking
from tests.support.rig import PERSON
from tests.support.stack import call_inside, clean_environment
from workers.world import all_tools

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.support.rig import Rig

ROLE = "review-fix-operations"
"""A Writer whose surface no plug-in widens."""

WORK = """
steps:
  - calls: [{tool: read_file, arguments: {path: seed.txt}}]
  - calls: [{tool: edit_file, arguments: {path: seed.txt, edits: [{old: seed, new: grown}]}}]
  - calls: [{tool: read_file, arguments: {path: seed.txt}}]
  - text: done
"""
HOLDS = "steps: [{text: a long answer, delay_seconds: 2}]"
ONE_STEP = "steps: [{calls: [{tool: list_files, arguments: {}}]}, {text: too late}]"


@dataclass(frozen=True)
class Begun:
    """A run that works by `WORK`, and how the ledger says it was started."""

    run_id: str
    entry: Entry


def a_request(rig: Rig, model: str, **more: object) -> AgentRequest:
    fields: dict[str, object] = {
        "role": ROLE,
        "model": model,
        "workspace": str(rig.workspace),
        "stores": str(rig.stores),
        "items": (Item(kind="message", name="work", text="grow the seed"),),
    }
    return AgentRequest.model_validate({**fields, **more})


def variables_of(rig: Rig) -> dict[str, str]:
    return {
        "LEGATO_HOME": str(rig.home),
        "LEGATO_HOST": rig.host,
        "TEMPORAL_ADDRESS": rig.stack.temporal_address,
        "TEMPORAL_NAMESPACE": rig.stack.temporal_namespace,
        "DATABASE_URL": rig.stack.database_url,
    }


def a_door(rig: Rig, via: str) -> front.Door:
    """Open a door of the product's on the rig's cluster."""
    return front.Door(load_settings(variables_of(rig)), rig.stack, rig.ledger, "person:tester", via)


async def through_the_door(rig: Rig, via: str, entry: Entry) -> Begun:
    run_id = front.new_id()
    request = a_request(rig, rig.script(WORK))
    await front.launch(a_door(rig, via), request, run_id=run_id, entry=entry)
    return Begun(run_id, entry)


async def command_line(rig: Rig) -> Begun:
    """Start it by the program's own command line."""
    items = rig.folder / "items.json"
    items.write_text(json.dumps([{"kind": "message", "name": "work", "text": "grow the seed"}]))
    model = rig.script(WORK)
    given = ["-w", str(rig.workspace), "-m", model, "--items", str(items), "--check", "true"]
    variables = clean_environment(rig.home) | variables_of(rig)
    command = ("--json", "run", ROLE, *given, "--detach")
    said = await asyncio.to_thread(call_inside, variables, *command)
    return Begun(str(said.json["run_id"]), Entry.HAND)


async def hand(rig: Rig) -> Begun:
    return await through_the_door(rig, "cli", Entry.HAND)


async def api(rig: Rig) -> Begun:
    return await through_the_door(rig, "api", Entry.API)


async def schedule(rig: Rig) -> Begun:
    return await through_the_door(rig, "cli", Entry.SCHEDULE)


async def background(rig: Rig) -> Begun:
    return await through_the_door(rig, "cli", Entry.BACKGROUND)


async def relay(rig: Rig) -> Begun:
    """Accept it only, as a front door that dies at once: a worker's relay starts it."""
    request = a_request(rig, rig.script(WORK))
    launch = Launch(str(uuid.uuid4()), Entry.HAND, request, f"home/{rig.host}")
    return Begun((await dispatch(rig.ledger, PERSON, launch)).run_id, Entry.HAND)


async def queued(rig: Rig) -> Begun:
    """Wait in the line of a taken slot: the end of its holder begins it."""
    holder = Launch(
        str(uuid.uuid4()),
        Entry.HAND,
        a_request(rig, rig.script(HOLDS)),
        f"home/{rig.host}",
        scope="nightly",
    )
    accepted = (await dispatch(rig.ledger, PERSON, holder)).accepted
    assert accepted is not None
    to = HandOver(rig.client, rig.ledger, rig.most_events)
    await hand_over(to, accepted, event_id(accepted), holder.run_id)
    run_id = front.new_id()
    done = await front.launch(
        a_door(rig, "cli"),
        a_request(rig, rig.script(WORK)),
        run_id=run_id,
        entry=Entry.BACKGROUND,
        place=front.Place("nightly"),
    )
    assert done.holder == holder.run_id
    return Begun(run_id, Entry.BACKGROUND)


async def for_later(rig: Rig) -> Begun:
    """Send a message for later: the end of a run begins its session's next one."""
    model = rig.script(HOLDS)
    first = await rig.launch(a_request(rig, model))
    run = await rig.until(first, asking)
    await accept_message(rig.ledger, PERSON, first, "m1", "grow the seed", later=True)
    await rig.ended(first)
    rewrite(model, WORK)
    assert run.asked_for is not None
    return Begun(following_id(run.asked_for), Entry.HAND)


async def resumed(rig: Rig) -> Begun:
    """Go on from a run that spent its budget."""
    model = rig.script(ONE_STEP)
    first = await rig.launch(a_request(rig, model, budget=Budget(steps=1)))
    assert (await rig.ended(first)).status == "over_budget"
    rewrite(model, WORK)
    wanted = Wanted(more=Limits(steps=9))
    done = await front.resume(a_door(rig, "cli"), first, wanted)
    return Begun(done.run_id, Entry.HAND)


@pytest.mark.slow
@pytest.mark.parametrize(
    "entry",
    [hand, command_line, api, schedule, background, relay, queued, for_later, resumed],
    ids=lambda entry: entry.__name__,
)
async def test_a_role_has_the_same_fingerprint_and_authority_through_each_entry(
    entry: Callable[[Rig], Awaitable[Begun]], served: Rig
) -> None:
    seed = served.workspace / "seed.txt"
    seed.write_text("seed")
    shipped = Sources(build_registry([tool.spec for tool in all_tools()]))
    expected = fingerprint(build_definition(a_request(served, "script:x"), shipped).definition)

    begun = await entry(served)
    run = await served.ended(begun.run_id)

    assert run.status == "completed"
    (defined,) = await served.of(begun.run_id, RunDefined)
    (accepted,) = await served.of(begun.run_id, RunAccepted)
    assert defined.fingerprint == expected
    assert (accepted.agent, accepted.entry) == (ROLE, begun.entry)
    before, change, after = await served.of(begun.run_id, CallSettled)
    assert {one.outcome.tag for one in (before, change, after)} == {Tag.OK}
    assert before.outcome.text.endswith("seed")
    assert after.outcome.text.endswith("grown")
    assert seed.read_text() == "grown"
