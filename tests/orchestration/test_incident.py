"""The incident of 2026-08-08: a builder's background child does what its parent could."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from domain.agents.child import ChildAsk, Parent, child_request
from domain.agents.definition import AgentDefinition
from domain.codec import decode_object
from domain.events import CallSettled, Entry, FindingRecorded, RunDefined
from domain.tools.results import Tag
from ledger.blobs import get_blob
from ledger.dispatch import Launch, dispatch
from tests.support.agents import a_request
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest
    from tests.support.rig import Rig

CHILD = """
steps:
  - calls: [{tool: get_workflow_command_guidance, arguments: {kind: engineering-review}}]
  - calls:
      - tool: record_finding
        arguments: {module: ledger, title: it loses rows, detail: seen in a row, severity: high}
  - calls: [{tool: list_findings, arguments: {}}]
  - text: filed
"""


async def background(rig: Rig, request: AgentRequest) -> tuple[str, list[CallSettled]]:
    """Accept it as a parent's background run, let a worker find it, and give its calls."""
    launch = Launch(str(uuid.uuid4()), Entry.BACKGROUND, request, f"home/{rig.host}")
    run_id = (await dispatch(rig.ledger, PERSON, launch)).run_id
    assert (await rig.ended(run_id)).status == "completed"
    return run_id, await rig.of(run_id, CallSettled)


@pytest.mark.slow
async def test_a_builders_background_child_calls_what_its_parent_holds(served: Rig) -> None:
    asked = a_request(
        "builder",
        model=served.script("steps: [{text: ready}]"),
        workspace=str(served.workspace),
        stores=str(served.stores),
    )
    parent_id = await served.launch(asked)
    await served.ended(parent_id)
    (defined,) = await served.of(parent_id, RunDefined)
    bundle = await get_blob(served.ledger, bytes.fromhex(defined.bundle))
    parent = Parent(asked, AgentDefinition.model_validate(decode_object(bundle)))
    wanted = child_request(parent, ChildAsk("review it", model=served.script(CHILD)))
    defaulted = wanted.model_copy(update={"role": "plan-step", "tools": None, "skills": None})

    child_id, child = await background(served, wanted)
    _, by_a_steps_default = await background(served, defaulted)

    (own,) = await served.of(child_id, RunDefined)
    assert own.fingerprint == defined.fingerprint
    assert [one.outcome.tag for one in child] == [Tag.OK] * 3
    (finding,) = await served.of(child_id, FindingRecorded)
    assert (finding.severity, finding.title) == ("high", "it loses rows")
    assert {one.outcome.tag for one in by_a_steps_default} == {Tag.DENIED}
