"""A step that an older program saved runs as it is, on real parts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from domain.agents.imported.step_file import read_steps
from domain.agents.imported.upgrade import upgraded
from domain.events import CallSettled, ModelRequested, RunDefined, RunRefused
from domain.tools.results import Tag
from tests.support.agents import a_request

if TYPE_CHECKING:
    from tests.support.rig import Rig

WRITES = """
steps:
  - calls:
      - {tool: write_file, arguments: {path: made.txt, content: made}}
      - {tool: mutate_workflow_db, arguments: {statements: [{sql: "create table t (a int)"}]}}
      - {tool: shell, arguments: {command: echo hi}}
  - text: done
"""
OLD = {
    "enabled_custom_tools": ["workspace_tools:update_workspace_file"],
    "selected_servers": ["NO_SERVERS"],
    "db_access": "read",
    "execution_max_turns": 5,
}


@pytest.mark.slow
async def test_an_old_step_and_its_upgrade_are_one_agent_that_does_what_its_profile_allows(
    served: Rig,
) -> None:
    saved = json.dumps([{"id": "one", "agent_configs": OLD}])
    old, new = served.workspace / "step_config.json", served.workspace / "new.json"
    old.write_text(saved)
    new.write_text(upgraded(read_steps(saved)).text)

    runs: list[str] = []
    for file in (old, new):
        request = a_request(
            "plan-step",
            message="write it",
            model=served.script(WRITES),
            workspace=str(served.workspace),
            stores=str(served.stores),
            step_file=str(file),
            step="one",
        )
        runs.append(await served.launch(request))
        assert (await served.ended(runs[-1])).status == "completed"

    defined = [(await served.of(run_id, RunDefined))[0] for run_id in runs]
    assert defined[0].fingerprint == defined[1].fingerprint
    assert defined[0].runtime.budget.steps == defined[1].runtime.budget.steps == 5
    (told,) = [row for row in defined[0].step if row.field == "db_access"]
    assert (told.became, told.widens) == ("dropped", ("database:write",))
    calls = {one.name: one.outcome for one in await served.of(runs[0], CallSettled)}
    assert calls["write_file"].tag is Tag.OK
    assert calls["mutate_workflow_db"].tag is not Tag.DENIED
    assert calls["shell"].tag is not Tag.OK
    assert "shell" not in (await served.of(runs[0], ModelRequested))[0].view


async def test_a_step_that_was_mended_into_nonsense_meanwhile_is_refused_by_the_worker(
    served: Rig,
) -> None:
    file = served.workspace / "step_config.json"
    file.write_text('{"steps": [{"id": "one", "agent_configs": {"selected_tools": "all"}}]}')
    request = a_request(
        "plan-step",
        model=served.script(WRITES),
        workspace=str(served.workspace),
        stores=str(served.stores),
        step_file=str(file),
    )

    run_id = await served.launch(request)
    await served.ended(run_id)

    (refused,) = await served.of(run_id, RunRefused)
    assert [one.partition(":")[0] for one in refused.problems] == ["type_wrong"]
