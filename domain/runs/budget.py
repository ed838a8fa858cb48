"""What a run may spend: hard and soft limits, what is left of them, and which one bites."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Literal, TypeAlias

from domain.runs.conversation import Frozen, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

Limit: TypeAlias = Literal["seconds", "steps", "calls", "tokens", "cost"]

LIMITS: tuple[Limit, ...] = ("seconds", "steps", "calls", "tokens", "cost")

MOST = 10**12
"""No amount is more: every one of them can be counted with exactly."""

SHARE = Decimal("0.8")
"""The share of a hard limit at which its soft limit stands where none is given."""


class Limits(Frozen):
    """An amount for each thing that is limited; None is no amount, 0 is none at all.

    `seconds` is working time, `steps` model calls, `calls` tool calls, `tokens` input and
    output together, `cost` US dollars as decimal text.
    """

    seconds: float | None = None
    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: str | None = None

    def amount(self, limit: Limit) -> Decimal | None:
        """Give one amount, None where there is none."""
        value: float | str | None = getattr(self, limit)
        return None if value is None else Decimal(str(value))


class Budget(Limits):
    """The hard limits of one run, at which it ends, and the soft ones below them.

    At a soft limit the agent is told to wrap up. One that is not given stands at `SHARE`
    of its hard limit.
    """

    soft: Limits = Limits()

    def soft_amount(self, limit: Limit) -> Decimal | None:
        """Give a soft limit, None where neither it nor its hard limit is given."""
        given, hard = self.soft.amount(limit), self.amount(limit)
        if given is not None or hard is None:
            return given
        share = hard * SHARE
        return share if limit in {"cost", "seconds"} else share.to_integral_value(ROUND_FLOOR)


def is_limited(budget: Budget) -> bool:
    """Tell whether a budget limits anything."""
    return any(budget.soft_amount(limit) is not None for limit in LIMITS)


class Spent(Frozen):
    """What a run has spent so far, working time aside.

    `steps` counts requests when they are sent, `calls` calls when they are begun, and what
    nobody can tell the end of is among them. `tokens_unknown` counts the requests whose use nobody
    can tell: they count at their reservations. `cost_unknown` counts those without a price.
    """

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: str = "0"
    cost_unknown: int = 0
    tokens_unknown: int = 0


def tokens_of(usage: Usage) -> int:
    """Count a usage's tokens; unknown parts count as none."""
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def counted(
    said: int | None, wrote: int | None, cost: str | None, reserved: int, reserved_cost: str | None
) -> tuple[int, str | None]:
    """Tell what a request counts in tokens and cost: what it used, or else its reservation.

    `said` and `wrote` are its input and output tokens: where one is not told, they count as
    reserved, or as the other where that is more. The cost is None where neither the request's
    own nor the reserved one is known.
    """
    tokens = (said or 0) + (wrote or 0)
    if said is None or wrote is None:
        tokens = max(tokens, reserved)
    return tokens, cost if cost is not None else reserved_cost


def calls_left(budget: Limits, spent: Spent, counted: int) -> int | None:
    """Tell how many calls of the step that is being taken may run, None for all.

    `counted` are those of its calls that `spent` holds already: the number does not change
    while they are begun and settled, in whatever order.
    """
    if budget.calls is None:
        return None
    return max(0, budget.calls - (spent.calls - counted))


def amounts(spent: Spent, seconds: float = 0.0) -> Mapping[Limit, Decimal]:
    """Give what was spent under the names of the limits; `seconds` is working time."""
    return {
        "seconds": Decimal(str(round(seconds, 3))),
        "steps": Decimal(spent.steps),
        "calls": Decimal(spent.calls),
        "tokens": Decimal(spent.tokens),
        "cost": Decimal(spent.cost),
    }


def exceeded(
    budget: Limits, spent: Spent, reserve: Usage, *, turned_away: int = 0
) -> Limit | Literal["price_unknown"] | None:
    """Name the first limit that one more request would pass, or None where it fits.

    `reserve` is the most that it can use, open requests of the run included; `turned_away`
    counts the calls that were not run for want of budget: with some, the limit of calls ends
    the run. A limit in money cannot hold a request whose price is unknown: "price_unknown".
    """
    if budget.steps is not None and spent.steps + 1 > budget.steps:
        return "steps"
    if budget.calls is not None and turned_away and spent.calls >= budget.calls:
        return "calls"
    if budget.tokens is not None and spent.tokens + tokens_of(reserve) > budget.tokens:
        return "tokens"
    if budget.cost is None:
        return None
    if reserve.cost is None:
        return "price_unknown"
    return "cost" if Decimal(spent.cost) + Decimal(reserve.cost) > Decimal(budget.cost) else None


def soft_reached(budget: Budget, spent: Spent, seconds: float, reserve: Usage) -> tuple[Limit, ...]:
    """Name the soft limits that a run has reached; `reserve` is what its next request reserves.

    A request begins only where its reservation fits: of tokens and money a soft limit is
    reached at the latest with the last request after which another one is sure to fit.
    """
    used = amounts(spent, seconds)
    most: dict[Limit, Decimal] = {
        "tokens": Decimal(tokens_of(reserve)),
        "cost": Decimal(reserve.cost or "0"),
    }
    reached: list[Limit] = []
    for limit in LIMITS:
        soft, hard = budget.soft_amount(limit), budget.amount(limit)
        if soft is not None and hard is not None and limit in most:
            soft = min(soft, hard - 2 * most[limit])
        if soft is not None and used[limit] >= soft:
            reached.append(limit)
    return tuple(reached)


def raised(budget: Budget, added: Limits) -> Budget:
    """Add to the limits that a budget has; a soft limit that was given moves with its hard one.

    A limit that is not there stays away: more of everything is everything.
    """
    return Budget.model_validate(
        {**_plus(budget, added), "soft": Limits.model_validate(_plus(budget.soft, added))}
    )


def _plus(limits: Limits, added: Limits) -> dict[str, object]:
    total: dict[str, object] = {}
    for limit in LIMITS:
        at, more = limits.amount(limit), added.amount(limit)
        if at is None:
            continue
        amount = at if more is None else at + more
        total[limit] = written(limit, amount)
    return total


def written(limit: Limit, amount: Decimal) -> float | int | str:
    """Write an amount as its limit does: seconds as a number, money as text, else whole."""
    match limit:
        case "seconds":
            return float(amount)
        case "cost":
            return format(amount, "f")
        case _:
            return int(amount)
