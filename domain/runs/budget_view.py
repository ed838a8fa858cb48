"""What a run has spent, reserved and left of each thing that can be limited."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from domain.runs.account import total
from domain.runs.budget import LIMITS, Limit, amounts, tokens_of, written
from domain.runs.budget_texts import WHAT, figure
from domain.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.runs.budget import Budget, Spent
    from domain.runs.conversation import Usage
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
    """List all five of a run; `seconds` is how long it has worked."""
    return limit_views(run.budget, run.spent, total(run.account.reserved), seconds)


def limit_views(
    budget: Budget, spent: Spent, under_way: Usage, seconds: float
) -> tuple[LimitView, ...]:
    """List all five; `under_way` is what the requests reserve that nothing came of yet."""
    used = amounts(spent, seconds)
    reserved: dict[Limit, Decimal | None] = dict.fromkeys(LIMITS, Decimal(0))
    reserved["tokens"] = Decimal(tokens_of(under_way))
    reserved["cost"] = None if under_way.cost is None else Decimal(under_way.cost)
    unknown = {"tokens": spent.tokens_unknown, "cost": spent.cost_unknown}
    return tuple(
        _view(budget, limit, used[limit], reserved[limit], unknown.get(limit, 0))
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
        spent=_plain(limit, spent),
        reserved=_known(limit, reserved),
        soft=_known(limit, soft),
        hard=_known(limit, hard),
        left=_known(limit, left),
        unknown=unknown,
    )


def _known(limit: Limit, amount: Decimal | None) -> Amount | None:
    return None if amount is None else _plain(limit, amount)


def _plain(limit: Limit, amount: Decimal) -> Amount:
    """Write an amount; money without zeros at its end, however it was added up."""
    return written(limit, amount.normalize() if limit == "cost" else amount)


def limits_text(limits: Iterable[LimitView]) -> str:
    """Write the limits of a run, one a line; "" for a run without any."""
    return "\n".join(_limit_text(one) for one in limits if one.soft is not None)


def _limit_text(one: LimitView) -> str:
    def said(amount: Amount | None) -> str:
        return "unknown" if amount is None else figure(one.limit, Decimal(str(amount)))

    of = f" of {said(one.hard)}" if one.hard is not None else ""
    parts = [f"{said(one.spent)}{of} {WHAT[one.limit]}"]
    if one.unknown:
        how = "as reserved" if one.limit == "tokens" else "as nothing"
        parts[0] += f" ({counted(one.unknown, 'model call')} unknown, counted {how})"
    if one.reserved != written(one.limit, Decimal(0)):
        parts.append(f"{said(one.reserved)} reserved")
    if one.hard is not None:
        parts.append(f"{said(one.left)} left")
    return ", ".join((*parts, f"told to wrap up at {said(one.soft)}"))


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
