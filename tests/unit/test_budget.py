"""A budget's limits hold before each request."""

from __future__ import annotations

import pytest

from domain.runs.budget import Budget, Spent, exceeded
from domain.runs.conversation import Usage

ASKED = Usage(input_tokens=60, output_tokens=40, cost="0.5")


@pytest.mark.parametrize(
    ("budget", "spent", "limit"),
    [
        (Budget(), Spent(steps=9, tokens=9, cost="9"), None),
        (Budget(steps=2), Spent(steps=1), None),
        (Budget(steps=2), Spent(steps=2), "steps"),
        (Budget(tokens=150), Spent(tokens=50), None),
        (Budget(tokens=150), Spent(tokens=51), "tokens"),
        (Budget(cost="0.6"), Spent(cost="0.1"), None),
        (Budget(cost="0.6"), Spent(cost="0.11"), "cost"),
    ],
)
def test_a_request_that_would_pass_a_limit_is_named(
    budget: Budget, spent: Spent, limit: str | None
) -> None:
    assert exceeded(budget, spent, ASKED) == limit


def test_a_limit_in_money_refuses_a_request_of_unknown_price() -> None:
    unknown = ASKED.model_copy(update={"cost": None})

    assert exceeded(Budget(cost="100"), Spent(), unknown) == "price_unknown"
    assert exceeded(Budget(tokens=100), Spent(), unknown) is None
