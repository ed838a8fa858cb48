"""Runs against their limits: told once at the soft one, ended cleanly at the hard one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.budget_events import BudgetSpent, BudgetWarned
from domain.events import (
    CallSettled,
    ModelFailed,
    ModelRequested,
    ModelResponded,
    TurnStarted,
)
from domain.runs.budget import Budget, Limits
from domain.runs.raising import Wanted
from ledger.raising import accept_raise
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from tests.support.rig import Rig

LOOP = """
repeat: true
steps:
  - calls: [{tool: list_files, arguments: {}}]
"""
SLOW_MODEL = "steps: [{text: too late, delay_seconds: 40}]"
SLOW_TOOL = """
steps:
  - calls: [{tool: shell, arguments: {command: "echo begun; sleep 40"}}]
  - text: done
"""


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(steps=3), "budget_steps"),
        (Budget(calls=3), "budget_calls"),
        (Budget(tokens=16_000), "budget_tokens"),
        (Budget(seconds=1.5), "budget_seconds"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_a_model_that_asks_the_same_for_ever_is_ended_by_every_limit(
    served: Rig, budget: Budget, reason: str
) -> None:
    run_id = await served.launch(model=served.script(LOOP), budget=budget)
    run = await served.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("over_budget", reason)
    (over,) = await served.of(run_id, BudgetSpent)
    assert run.ended.message.startswith("the run has spent")
    assert over.limit in reason
    for limit, spent in (("steps", run.spent.steps), ("calls", run.spent.calls)):
        hard = getattr(budget, limit)
        assert hard is None or spent <= hard
    assert budget.tokens is None or run.spent.tokens <= budget.tokens
    warned = await served.of(run_id, BudgetWarned)
    assert len(warned) == 1


async def test_at_a_soft_limit_the_agent_is_told_once_what_is_left(served: Rig) -> None:
    budget = Budget(steps=5, soft=Limits(steps=2))
    run_id = await served.launch(model=served.script(LOOP), budget=budget)
    await served.ended(run_id)

    facts = await served.facts(run_id)
    (warned,) = [fact for fact in facts if isinstance(fact, BudgetWarned)]
    assert (warned.step, warned.limits) == (3, ("steps",))
    assert "3 of 5 model calls" in warned.text
    request = facts[facts.index(warned) + 1]
    assert isinstance(request, ModelRequested)
    assert request.step == 3


async def test_a_limit_raised_in_time_lets_a_looping_run_go_on_by_exactly_that_much(
    served: Rig,
) -> None:
    slow = LOOP.replace("calls:", "delay_seconds: 0.5\n    calls:")
    run_id = await served.launch(model=served.script(slow), budget=Budget(steps=3))
    await served.until(run_id, lambda run: run.spent.steps >= 1)
    await accept_raise(served.ledger, PERSON, run_id, "more", Wanted(more=Limits(steps=2)))
    run = await served.ended(run_id)

    assert run.status == "over_budget"
    (over,) = await served.of(run_id, BudgetSpent)
    assert (run.spent.steps, over.spent, over.hard) == (5, "5", "5")
    assert len(await served.of(run_id, ModelRequested)) == 5


async def test_working_time_ends_a_model_call_in_its_middle(served: Rig) -> None:
    run_id = await served.launch(model=served.script(SLOW_MODEL), budget=Budget(seconds=1))
    run = await served.ended(run_id, seconds=30)

    assert run.status == "over_budget"
    (failed,) = await served.of(run_id, ModelFailed)
    assert failed.code == "over_budget"
    assert run.spent.tokens_unknown == 1
    (over,) = await served.of(run_id, BudgetSpent)
    assert 1 <= float(over.spent) < 5


async def test_working_time_ends_a_command_in_its_middle_and_keeps_what_it_wrote(
    served: Rig,
) -> None:
    run_id = await served.launch(model=served.script(SLOW_TOOL), budget=Budget(seconds=2))
    run = await served.ended(run_id, seconds=30)

    assert run.status == "over_budget"
    (settled,) = await served.of(run_id, CallSettled)
    assert "begun" in settled.outcome.text
    assert not served.is_running("sleep 40")
    assert len(await served.of(run_id, ModelResponded)) == 1


async def test_a_run_without_limits_is_told_nothing_of_them(served: Rig) -> None:
    run_id = await served.launch(model=served.script("steps: [{text: done}]"))
    run = await served.ended(run_id)

    assert run.status == "completed"
    assert await served.of(run_id, BudgetWarned) == []
    (turn,) = await served.of(run_id, TurnStarted)
    assert turn.text == "go"
