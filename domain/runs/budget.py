"""What a run may spend, and what a model request reserves before it is sent."""

from __future__ import annotations

from decimal import Decimal

from domain.runs.conversation import Frozen, Usage


class Budget(Frozen):
    """Hard limits of one run; None is no limit, 0 is none at all.

    `seconds` is working time, which nothing enforces and a build refuses; `steps` model
    calls, `calls` tool calls, `tokens` input and output together, `cost` US dollars as
    decimal text.
    """

    seconds: float | None = None
    steps: int | None = None
    calls: int | None = None
    tokens: int | None = None
    cost: str | None = None


class Spent(Frozen):
    """What a run has spent so far.

    What a request used counts where its provider said so. One that was lost, stopped or
    broke off counts at its reservation once any text had come, since providers bill for
    that; one that failed before any text counts nothing.
    """

    steps: int = 0
    calls: int = 0
    tokens: int = 0
    cost: str = "0"
    cost_unknown: int = 0


def tokens_of(usage: Usage) -> int:
    """Count a usage's tokens; unknown parts count as none."""
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def counted(
    said: int | None, wrote: int | None, cost: str | None, reserved: int, reserved_cost: str | None
) -> tuple[int, str | None]:
    """Tell what a request counts in tokens and cost: what it used, or else its reservation.

    `said` and `wrote` are its input and output tokens. The cost is None where neither the
    request's own nor the reserved one is known.
    """
    tokens = reserved if said is None and wrote is None else (said or 0) + (wrote or 0)
    return tokens, cost if cost is not None else reserved_cost


def spend(spent: Spent, actual: Usage, reserved: Usage) -> Spent:
    """Settle one request: what it used, or its reservation where that is unknown."""
    tokens, cost = counted(
        actual.input_tokens, actual.output_tokens, actual.cost, tokens_of(reserved), reserved.cost
    )
    total = Decimal(spent.cost) + Decimal(cost or "0")
    return spent.model_copy(
        update={
            "tokens": spent.tokens + tokens,
            "cost": format(total, "f"),
            "cost_unknown": spent.cost_unknown + (cost is None),
        }
    )


def calls_left(budget: Budget, spent: Spent, settled: int) -> int | None:
    """Tell how many calls of the step that is being taken may run, None for all.

    `settled` counts those of its calls that `spent` holds already: the number does not
    change while they are settled, in whatever order. One that may not run is settled as
    not run and counts like the others, so that the next request is over the limit.
    """
    if budget.calls is None:
        return None
    return max(0, budget.calls - (spent.calls - settled))


def exceeded(budget: Budget, spent: Spent, reserve: Usage) -> str | None:
    """Name the first limit that one more request would pass, or None where it fits.

    A limit in money cannot hold a request whose price is unknown: "price_unknown".
    """
    if budget.steps is not None and spent.steps + 1 > budget.steps:
        return "steps"
    if budget.calls is not None and spent.calls > budget.calls:
        return "calls"
    if budget.tokens is not None and spent.tokens + tokens_of(reserve) > budget.tokens:
        return "tokens"
    if budget.cost is None:
        return None
    if reserve.cost is None:
        return "price_unknown"
    return "cost" if Decimal(spent.cost) + Decimal(reserve.cost) > Decimal(budget.cost) else None
