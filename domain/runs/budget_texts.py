"""A budget in words: what an agent is told at a soft limit, and why a run ended at a hard one."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from domain.budget_events import BudgetSpent, BudgetWarned
from domain.runs.budget import LIMITS, amounts, soft_reached, tokens_of

if TYPE_CHECKING:
    from typing import Literal

    from domain.runs.budget import Limit, Limits
    from domain.runs.conversation import Usage
    from domain.runs.run import Run

WHAT: dict[Limit, str] = {
    "seconds": "seconds of working time",
    "steps": "model calls",
    "calls": "tool calls",
    "tokens": "tokens",
    "cost": "US dollars",
}


def wrap_up(run: Run, turn: int, step: int, seconds: float, reserve: Usage) -> BudgetWarned | None:
    """Tell the agent to wrap up, once for each budget that the run was given; None else.

    `seconds` is how long the run has worked by now, `reserve` what its next request reserves.
    """
    if len(run.warned) > run.raises:
        return None
    reached = soft_reached(run.budget, run.spent, seconds, reserve)
    if not reached:
        return None
    left = "\n".join(f"- {line}" for line in _left(run, seconds))
    text = (
        "This run is near the end of its budget. What is left of it, this model call included:\n"
        f"{left}\n"
        "Wrap up now: finish what is most important, begin nothing new, and say what is done "
        "and what is not. When a limit is reached the run ends, whatever is under way."
    )
    return BudgetWarned(turn=turn, step=step, n=len(run.warned) + 1, limits=reached, text=text)


def _left(run: Run, seconds: float) -> list[str]:
    used = amounts(run.spent, seconds)
    lines: list[str] = []
    for limit in LIMITS:
        hard = run.budget.amount(limit)
        if hard is not None:
            left = max(Decimal(0), hard - used[limit])
            lines.append(f"{figure(limit, left)} of {figure(limit, hard)} {WHAT[limit]}")
    return lines


def figure(limit: Limit, amount: Decimal) -> str:
    """Write an amount for people: seconds to one place, money as it is, else whole."""
    if limit == "cost":
        return f"{amount.normalize():f}"
    return f"{amount:.1f}".removesuffix(".0") if limit == "seconds" else f"{amount:.0f}"


def over_message(over: BudgetSpent) -> str:
    """Say in one sentence which limit ended a run, what was spent of it, and its height."""
    if over.reason == "budget_price_unknown":
        return "the price of the next request is unknown, so the limit in US dollars cannot hold"
    spent = figure(over.limit, Decimal(over.spent))
    said = f"the run has spent {spent} of {figure(over.limit, Decimal(over.hard))} "
    said += WHAT[over.limit]
    if over.needed:
        said += f", and the next request may use {figure(over.limit, Decimal(over.needed))}"
    return said


def spent_fact(run: Run, reason: Limit | Literal["price_unknown"], reserve: Usage) -> BudgetSpent:
    """Say which limit one more request would pass; `reserve` is what would be under way."""
    limit = "cost" if reason == "price_unknown" else reason
    needed = {"tokens": str(tokens_of(reserve)), "cost": reserve.cost or ""}.get(limit, "")
    return BudgetSpent(
        reason=f"budget_{reason}",
        limit=limit,
        spent=str(amounts(run.spent)[limit]),
        hard=str(run.budget.amount(limit)),
        needed=needed,
    )


def added_text(added: Limits) -> str:
    """Say what was added to a budget."""
    said: list[str] = []
    for limit in LIMITS:
        amount = added.amount(limit)
        if amount is not None:
            said.append(f"{figure(limit, amount)} {WHAT[limit]} more")
    return ", ".join(said)
