"""Limits hold through whatever happens to a run: races, new histories, lost workers."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from domain.budget_events import BudgetSpent
from domain.events import (
    ModelFailed,
    ModelLost,
    ModelRequested,
    ModelResponded,
)
from domain.runs.budget import Budget
from domain.runs.working import work_of
from legato.readings import read_run
from tests.support.bare_steps import bare_steps
from tests.support.model_server import ModelServer, model_server
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack
    from tests.support.rig import Rig

LOOP = """
repeat: true
steps:
  - calls: [{tool: list_files, arguments: {}}]
"""
HANGS = "steps: [{text: too late, delay_seconds: 120}]"
LOOKS = Says(
    "Once more.",
    calls=(Call("list_files", '{"path": "."}'),),
    input_tokens=2000,
    output_tokens=100,
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider of the test's own, whose model calls for ever."""
    with model_server() as running:
        running.default = LOOKS
        yield running


async def test_two_executions_of_one_step_do_not_both_send_the_last_request_of_a_budget(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    async with (
        bare_steps(cluster.database_url, tmp_path) as one,
        bare_steps(cluster.database_url, tmp_path) as other,
    ):
        for n in range(1, 4):
            asked = {"model": server.name_of("openai"), "budget": Budget(steps=1)}
            run_id = await one.begin(**asked)
            await asyncio.gather(one.step(run_id), other.step(run_id))
            assert len(await one.of(run_id, ModelRequested)) == 1
            assert server.calls == n


@pytest.mark.slow
async def test_a_limit_counts_on_when_the_run_continues_as_new(served: Rig) -> None:
    served.most_events = 40
    run_id = await served.launch(model=served.script(LOOP), budget=Budget(steps=14))
    run = await served.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("over_budget", "budget_steps")
    assert len(run.temporal_runs) > 1
    assert len(await served.of(run_id, ModelRequested)) == run.spent.steps == 14


@pytest.mark.slow
async def test_a_model_that_calls_for_ever_is_ended_before_it_costs_more_than_it_may(
    rig: Rig, server: ModelServer
) -> None:
    rig.start_worker(OPENAI_API_KEY="key-of-a-test")
    budget = Budget(cost="0.05")
    run_id = await rig.launch(model=server.name_of("openai"), budget=budget, max_tokens=200)
    run = await rig.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("over_budget", "budget_cost")
    responded = await rig.of(run_id, ModelResponded)
    assert Decimal("0.03") < Decimal(run.spent.cost) <= Decimal("0.05")
    assert Decimal(run.spent.cost) == sum(Decimal(one.usage.cost or "0") for one in responded)
    assert server.calls == len(responded) == run.spent.steps


@pytest.mark.slow
async def test_working_time_stands_still_without_a_worker_and_its_limit_ends_the_next_execution(
    rig: Rig,
) -> None:
    rig.start_worker()
    run_id = await rig.launch(model=rig.script(HANGS), budget=Budget(seconds=3))
    await rig.until(run_id, lambda run: run.step is not None and run.step.open is not None)
    rig.workers[0].kill()
    await rig.beat(5)  # longer than the limit, by the clock on the wall
    dead = await rig.run(run_id)
    worked = work_of(await read_run(rig.ledger, run_id)).seconds

    assert (dead.ended, dead.over) == (None, None)
    assert worked < 3

    rig.start_worker()
    run = await rig.ended(run_id)
    (over,) = await rig.of(run_id, BudgetSpent)
    (failed,) = await rig.of(run_id, ModelFailed)
    assert (run.status, over.reason, failed.code) == (
        "over_budget",
        "budget_seconds",
        "over_budget",
    )
    assert 3 <= float(over.spent) < 6
    assert len(await rig.of(run_id, ModelLost)) == 1
    assert run.spent.tokens_unknown == run.spent.steps == 2
