"""What a budget means for a run's next model request: it fits, is a late one, or is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.record import defined_of
from activities.working import worked_so_far
from domain.runs.account import total
from domain.runs.budget import exceeded, is_limited
from domain.runs.budget_texts import spent_fact, wrap_up
from domain.runs.steps import StepInput, StepResult

if TYPE_CHECKING:
    from activities.record import Record
    from activities.world import World
    from domain.budget_events import BudgetSpent, BudgetWarned
    from domain.runs.conversation import Usage


def over_by(record: Record, reserved: Usage) -> BudgetSpent | None:
    """Say which limit a request would pass, with all that is under way already."""
    run = record.run
    whole = total(run.account.reserved, reserved)
    reason = exceeded(run.budget, run.spent, whole, turned_away=run.turned_away)
    return None if reason is None else spent_fact(run, reason, whole)


async def warning(
    world: World, record: Record, arg: StepInput, reserved: Usage
) -> BudgetWarned | None:
    """Say what the agent is told where it is time to wrap up; a pipeline is told nothing."""
    run = record.run
    if defined_of(record).runtime.pipeline or not is_limited(run.budget):
        return None
    seconds = 0.0
    if run.budget.soft_amount("seconds") is not None:
        seconds = await worked_so_far(world, record)
    return wrap_up(run, arg.turn, arg.step, seconds, reserved)


def halted(record: Record) -> StepResult:
    """Say why a run that was stopped, or spent its budget, takes no step more."""
    over = record.run.over
    if over is None or record.run.stop is not None:
        return StepResult("stopped", "stop_requested")
    return StepResult("over_budget", over.reason)
