"""What a run has spent, reserved and left of each thing that can be limited."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from domain.runs.account import total
from domain.runs.budget import LIMITS, Limit, amounts, tokens_of, written
from domain.runs.budget_texts import figure

if TYPE_CHECKING:
    from domain.runs.budget import Budget
    from domain.runs.run import Run

Amount: TypeAlias = float | int | str
"""Money is decimal text, everything else a number."""


@dataclass(frozen=True)
class LimitView:
    """One thing that can be limited; None is no limit, or an amount that nobody knows.

    `reserved` is under way and not in `spent`. `unknown` counts the model requests whose part
    of `spent` nobody can tell: their tokens count as reserved, their price as nothing.
    """

    limit: Limit
    spent: Amount
    reserved: Amount | None
    soft: Amount | None
    hard: Amount | None
    left: Amount | None
    unknown: int


def budget_view(run: Run, seconds: float) -> tuple[LimitView, ...]:
    """List all five; `seconds` is how long the run has worked."""
    used = amounts(run.spent, seconds)
    whole = total(run.account.reserved)
    reserved: dict[Limit, Decimal | None] = dict.fromkeys(LIMITS, Decimal(0))
    reserved["tokens"] = Decimal(tokens_of(whole))
    reserved["cost"] = None if whole.cost is None else Decimal(whole.cost)
    unknown = {"tokens": run.spent.tokens_unknown, "cost": run.spent.cost_unknown}
    return tuple(
        _view(run.budget, limit, used[limit], reserved[limit], unknown.get(limit, 0))
        for limit in LIMITS
    )


def _view(
    budget: Budget, limit: Limit, spent: Decimal, reserved: Decimal | None, unknown: int
) -> LimitView:
    soft, hard = budget.soft_amount(limit), budget.amount(limit)
    left = None
    if hard is not None and reserved is not None:
        left = max(Decimal(0), hard - spent - reserved)
    return LimitView(
        limit=limit,
        spent=written(limit, spent),
        reserved=_known(limit, reserved),
        soft=_known(limit, soft),
        hard=_known(limit, hard),
        left=_known(limit, left),
        unknown=unknown,
    )


def _known(limit: Limit, amount: Decimal | None) -> Amount | None:
    return None if amount is None else written(limit, amount)


SHORT: dict[Limit, str] = {
    "seconds": "s of work",
    "steps": "model calls",
    "calls": "tool calls",
    "tokens": "tokens",
    "cost": "USD",
}


def figures(run: Run, seconds: float) -> str:
    """Write what is spent of each limit of a run on one line; "" for a run without any."""
    used, said = amounts(run.spent, seconds), list[str]()
    for limit in LIMITS:
        hard = run.budget.amount(limit)
        if hard is None:
            continue
        spent = figure(limit, used[limit])
        if limit == "cost" and run.spent.cost_unknown:
            spent += "?"
        said.append(f"{spent}/{figure(limit, hard)} {SHORT[limit]}")
    return ", ".join(said)
