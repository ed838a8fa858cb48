"""Model requests whose answers come too late, or that are lost with their workers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from activities.ask_model import MOST_FAILURES, within
from domain.events import ModelDiscarded, ModelLost, ModelRequested, RunEnded
from domain.ids import run_stream
from domain.ports import Disposition, ModelAnswer, ModelFailure
from domain.runs.conversation import Usage
from ledger.append import Part, append
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from domain.events import Fact
    from domain.runs.run import Run
    from tests.support.rig import Rig

SLOW = "steps: [{text: slowly does it, delay_seconds: 4}]"


def in_model(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


async def test_an_answer_after_the_end_is_kept_for_its_usage(served: Rig) -> None:
    run_id = await served.launch(model=served.script(SLOW))
    await served.until(run_id, in_model)
    ending = RunEnded(status="lost", reason="test", by="test", message="", items_done=0)

    lost = ModelLost(turn=1, step=1, n=1)
    await append(served.ledger, PERSON, Part(run_stream(run_id), (lost, ending)))
    await (await served.handle(run_id)).result()

    (discarded,) = await served.of(run_id, ModelDiscarded)
    assert discarded.usage.output_tokens is not None
    assert (await served.run(run_id)).status == "lost"


@pytest.mark.slow
async def test_requests_that_are_lost_with_their_workers_end_the_run(rig: Rig) -> None:
    worker = rig.start_worker()
    run_id = await rig.launch(model=rig.script("steps: [{text: never, delay_seconds: 60}]"))
    await rig.until(run_id, in_model)
    worker.kill()
    (first,) = await rig.of(run_id, ModelRequested)
    again: list[Fact] = []
    for n in range(1, MOST_FAILURES):
        again.append(ModelLost(turn=1, step=1, n=n))
        again.append(first.model_copy(update={"n": n + 1}))
    await append(rig.ledger, PERSON, Part(run_stream(run_id), tuple(again)))

    rig.start_worker()
    run = await rig.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("failed", "model_keeps_failing")
    assert "worker's log" in run.ended.message
    assert len(await rig.of(run_id, ModelLost)) == MOST_FAILURES
    assert len(await rig.of(run_id, ModelRequested)) == MOST_FAILURES


async def test_an_answer_that_never_ends_is_a_failure_with_what_had_come() -> None:
    async def answer() -> ModelAnswer:
        await asyncio.sleep(60)
        return ModelAnswer("", (), Usage(), "stop")

    with pytest.raises(ModelFailure) as caught:
        await within(0.05, answer(), ["Let ", "me"])

    assert (caught.value.code, caught.value.partial) == ("model_timeout", "Let me")
    assert caught.value.disposition is Disposition.RETRY
