"""Golden histories: a change of the workflow's commands fails here, not in a running run."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from typing import TYPE_CHECKING

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.worker import Replayer, WorkflowReplayResult

from domain.runs.position import after_build
from domain.runs.steps import BuildResult, ItemShape, LookInput
from legato.payloads import CONVERTER
from legato.replay import replayer
from tests.support.canaries import CANARY, event_bytes, forms, seen_in, sightings
from tests.support.record_histories import HISTORIES, SCENARIOS
from workflows import calls
from workflows.agent_run import AgentRun, RunStart

if TYPE_CHECKING:
    from collections.abc import Callable
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
class WithOneMore(AgentRun):
    """The workflow with one activity more, at the end of its way."""

    @workflow.init
    def __init__(self, start: RunStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: RunStart) -> str:
        """Look once more before the end is recorded."""
        return await super().run(start)

    async def _close(self) -> str:
        await calls.look(LookInput(self._run))
        return await super()._close()


@workflow.defn(name="AgentRun", sandboxed=False)
class WithOneLess(WithOneMore):
    """The workflow that forgets to show where it stands."""

    @workflow.init
    def __init__(self, start: RunStart) -> None:
        super().__init__(start)

    @workflow.run
    async def run(self, start: RunStart) -> str:
        """Run without a definition."""
        self._at = after_build(
            self._at,
            BuildResult("ok", (ItemShape("m", has_turn=True, has_checks=False, repairs=0),)),
        )
        return await super().run(start)


ENDED = [path for path in RECORDED if path.stem != "continued_as_new-1"]


@pytest.mark.parametrize("path", ENDED, ids=lambda path: path.stem)
async def test_a_workflow_with_one_more_activity_replays_no_run_that_ended(path: Path) -> None:
    changed = Replayer(workflows=[WithOneMore], data_converter=CONVERTER)

    result = await replayed(changed, path)

    assert isinstance(result.replay_failure, workflow.NondeterminismError)


async def test_a_workflow_with_one_activity_less_replays_no_run() -> None:
    changed = Replayer(workflows=[WithOneLess], data_converter=CONVERTER)

    result = await replayed(changed, HISTORIES / "completed-1.json")

    assert isinstance(result.replay_failure, workflow.NondeterminismError)


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_golden_history_names_no_machine(path: Path) -> None:
    assert "@" not in re.sub(r"@(type|temporal)", "", path.read_text())

    for event in history_of(path).events:
        assert re.search(rb"/(home|root|tmp|var|work|Users)/\w", event_bytes(event)) is None


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_a_golden_history_holds_nothing_that_was_said_or_read(path: Path) -> None:
    assert seen_in(history_of(path), [CANARY]) == []


@pytest.mark.parametrize("form", forms(CANARY))
def test_a_planted_text_is_seen_in_every_form_that_it_may_take(form: str) -> None:
    history = history_of(HISTORIES / "completed-1.json")
    planted = b"before " + forms(CANARY)[form] + b" after"
    history.events[4].activity_task_scheduled_event_attributes.input.payloads.add(data=planted)

    assert any(form in found for found in seen_in(history, [CANARY]))


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", '{"text":"'])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_a_planted_text_is_seen_in_base64_wherever_it_begins(
    before: str, encode: Callable[[bytes], bytes]
) -> None:
    encoded = encode(f"{before}{CANARY} and on".encode())

    assert sightings(encoded, [CANARY]) != []
