"""A run that goes on from an ended one: what is left, with nothing of the old run done again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from domain.events import CallIntended, Entry
from domain.runs.budget import Budget, Limits
from domain.runs.raising import Wanted
from domain.runs.run import open_inputs
from domain.runs.sequence import Item
from ledger.accept import accept_stop
from ledger.going_on import dispatch_resumed, resuming
from legato.client import HandOver, hand_over
from legato.readings import read_run
from legato.requests import read_request
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from tests.support.rig import Rig

FIRST_THEN_LOOP = """
steps:
  - calls: [{tool: shell, arguments: {command: "echo once >> effects"}}]
  - text: done
  - calls: [{tool: list_files, arguments: {}}]
  - calls: [{tool: list_files, arguments: {}}]
  - calls: [{tool: list_files, arguments: {}}]
"""


async def resumed(rig: Rig, old: str, wanted: Wanted) -> str:
    """Go on from an ended run; gives the new one."""
    launch = await resuming(rig.ledger, old, wanted, Entry.HAND)
    fact = (await dispatch_resumed(rig.ledger, PERSON, launch)).accepted
    assert fact is not None
    to = HandOver(rig.client, rig.ledger, rig.most_events)
    await hand_over(to, fact, "run.accepted", launch.run_id)
    return launch.run_id


async def said_in(rig: Rig, run_id: str) -> str:
    """Give all that a run's first request sent."""
    return str((await read_request(rig.ledger, await read_run(rig.ledger, run_id), 1)).messages)


def rewrite(model: str, script: str) -> None:
    """Give a scripted model another script under its name."""
    Path(model.removeprefix("script:")).write_text(script)


async def test_a_resumed_run_begins_at_the_first_unfinished_item_and_repeats_no_effect(
    served: Rig,
) -> None:
    items = tuple(Item(kind="message", name=n, text=f"do the {n}") for n in ("first", "second"))
    model = served.script(FIRST_THEN_LOOP)
    old = await served.launch(model=model, items=items, budget=Budget(steps=4))
    assert (await served.ended(old)).items_done == 1

    rewrite(model, "steps: [{text: done, expect: {user_contains: do the second}}]")
    new = await resumed(served, old, Wanted(more=Limits(steps=1)))
    run = await served.ended(new)

    assert (run.status, run.items_done, run.budget.steps) == ("completed", 1, 5)
    assert run.defined is not None
    assert [item.name for item in run.defined.items] == ["second"]
    assert (served.workspace / "effects").read_text() == "once\n"
    said = await said_in(served, new)
    assert said.index("do the first") < said.rindex("do the second")


async def test_a_call_of_which_nobody_can_tell_is_shown_as_that_and_not_done_again(
    served: Rig,
) -> None:
    """Its question stays with the old run, for whoever can tell."""
    outside = served.folder / "outside.txt"
    arguments = {"path": str(outside), "text": "counted", "then": "raise"}
    steps = [{"calls": [{"tool": "count_once", "arguments": arguments}]}]
    model = served.script(json.dumps({"steps": steps}))
    old = await served.launch(model=model)
    await served.until(old, lambda run: len(run.unknown) == 1 and run.waiting is not None)
    await accept_stop(served.ledger, PERSON, old, "s", "enough")
    await served.ended(old)

    rewrite(model, "steps: [{text: I leave it at that}]")
    new = await resumed(served, old, Wanted())
    run, before = await served.ended(new), await served.run(old)

    assert run.status == "completed"
    assert "Nobody can tell whether this call took effect" in await said_in(served, new)
    assert await served.of(new, CallIntended) == []
    assert outside.read_text().splitlines() == ["counted"]
    assert len(before.unknown) == len(open_inputs(before)) == 1
