"""An agent reads the skills that its run was given, on real parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import CallSettled, ModelRequested
from domain.tools.results import Tag

if TYPE_CHECKING:
    from tests.support.rig import Rig

READ_SKILL = """
steps:
  - calls: [{tool: read_skill, arguments: {name: house-style}}]
  - text: I know it now
"""


async def test_a_named_skill_of_the_workspace_is_read_as_it_was_when_the_run_began(
    served: Rig,
) -> None:
    folder = served.workspace / ".legato" / "skills"
    folder.mkdir(parents=True)
    (folder / "style.md").write_text("# House style: how we write\nTabs, never spaces.\n")

    run_id = await served.launch(model=served.script(READ_SKILL), skills=("house-style",))
    run = await served.ended(run_id)

    assert run.status == "completed"
    (read,) = await served.of(run_id, CallSettled)
    assert read.outcome.tag is Tag.OK
    assert "Tabs, never spaces." in read.outcome.text
    assert all("read_skill" in asked.view for asked in await served.of(run_id, ModelRequested))


async def test_a_run_that_names_no_skill_is_given_none_of_the_workspace(served: Rig) -> None:
    folder = served.workspace / ".legato" / "skills"
    folder.mkdir(parents=True)
    (folder / "style.md").write_text("# House style: how we write\n")

    run_id = await served.launch(model=served.script(READ_SKILL))
    await served.ended(run_id)

    (read,) = await served.of(run_id, CallSettled)
    assert read.outcome.tag is not Tag.OK
    assert all("read_skill" not in asked.view for asked in await served.of(run_id, ModelRequested))
