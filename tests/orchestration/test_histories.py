"""Golden histories: a change of the workflow's commands fails here, not in a running run."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, WorkflowReplayResult

from legato.payloads import CONVERTER
from legato.replay import replayer
from tests.support.record_histories import HISTORIES, SCENARIOS

if TYPE_CHECKING:
    from pathlib import Path

RECORDED = sorted(HISTORIES.glob("*.json"))


def history_of(path: Path) -> WorkflowHistory:
    value = json.loads(path.read_text())
    return WorkflowHistory.from_json(value["workflow_id"], value["history"])


async def replayed(with_: Replayer, path: Path) -> WorkflowReplayResult:
    return await with_.replay_workflow(history_of(path), raise_on_replay_failure=False)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
async def test_this_builds_workflow_replays_every_kind_of_run(path: Path) -> None:
    result = await replayed(replayer(), path)

    assert result.replay_failure is None


def test_every_kind_of_run_is_recorded_and_one_continues_as_new() -> None:
    names = {path.stem.rsplit("-", 1)[0] for path in RECORDED}

    assert names == {scenario.__name__ for scenario in SCENARIOS}
    assert len([path for path in RECORDED if path.stem.startswith("continued_as_new")]) > 1


@workflow.defn(name="AgentRun", sandboxed=False)
class Changed:
    """A workflow that does something else first."""

    @workflow.run
    async def run(self, start: object) -> str:
        """Sleep where the real one builds a definition."""
        await workflow.sleep(1)
        return str(start)


async def test_a_workflow_whose_commands_changed_does_not_replay() -> None:
    changed = Replayer(workflows=[Changed], data_converter=CONVERTER)

    result = await replayed(changed, HISTORIES / "completed-1.json")

    assert result.replay_failure is not None


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_golden_history_names_no_machine(path: Path) -> None:
    text = path.read_text()

    assert re.search(r"/(home|root|tmp|work|Users)/", text) is None
    assert "@" not in re.sub(r"@(type|temporal)", "", text)
