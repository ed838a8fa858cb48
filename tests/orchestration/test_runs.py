"""Runs on real parts: a worker process, Temporal, Postgres, a scripted model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import CallSettled, ModelRequested, ModelResponded, TurnCompleted
from domain.tools.results import Tag

if TYPE_CHECKING:
    from tests.support.rig import Rig

READ_AND_ANSWER = """
steps:
  - calls: [{tool: read_file, arguments: {path: a.txt}}]
  - text: it says hello
"""


async def test_a_run_reads_its_workspace_and_answers(served: Rig) -> None:
    (served.workspace / "a.txt").write_text("hello\n")

    run_id = await served.launch(model=served.script(READ_AND_ANSWER))
    run = await served.ended(run_id)

    assert run.status == "completed"
    (read,) = await served.of(run_id, CallSettled)
    assert read.outcome.tag is Tag.OK
    assert "hello" in read.outcome.text
    assert [r.text for r in await served.of(run_id, ModelResponded)] == ["", "it says hello"]
    assert len(await served.of(run_id, TurnCompleted)) == 1
    assert len(await served.of(run_id, ModelRequested)) == 2


async def test_a_first_answer_that_is_the_last_finishes_its_turn_and_its_item(
    served: Rig,
) -> None:
    run_id = await served.launch(model=served.script("steps: [{text: hi there}]"))
    run = await served.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.items_done, run.items_done) == ("completed", 1, 1)
