"""A budget's limits hold before each request."""

from __future__ import annotations

import pytest

from domain.agents.request import AgentRequest
from domain.events import ModelLost
from domain.runs.budget import Budget, Limits, Spent, calls_left, exceeded
from domain.runs.budget_view import budget_view, limits_text
from domain.runs.conversation import Usage
from domain.runs.run import fold
from tests.support import facts

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


@pytest.mark.parametrize(
    ("limit", "spent", "counted", "left"),
    [(None, 9, 3, None), (0, 0, 0, 0), (0, 2, 2, 0), (3, 1, 0, 2), (3, 2, 1, 2), (3, 9, 1, 0)],
)
def test_so_many_calls_of_a_step_may_run_whatever_is_begun_of_them(
    limit: int | None, spent: int, counted: int, left: int | None
) -> None:
    assert calls_left(Budget(calls=limit), Spent(calls=spent), counted) == left


def test_calls_up_to_the_limit_leave_a_request_to_speak_of_them() -> None:
    assert exceeded(Budget(calls=2), Spent(calls=2), ASKED) is None
    assert exceeded(Budget(calls=2), Spent(calls=2), ASKED, turned_away=1) == "calls"
    assert exceeded(Budget(calls=9), Spent(calls=2), ASKED, turned_away=1) is None


def test_what_is_left_of_each_limit_is_told_on_a_line_with_what_nobody_knows() -> None:
    budget = Budget(steps=10, tokens=9000, soft=Limits(cost="1"))
    asked = AgentRequest(role="generic", message="go", budget=budget)
    lost = ModelLost(turn=1, step=1, n=1)
    told = (facts.accepted("r", request=asked), facts.turn_started(), facts.requested(), lost)
    run = fold((*told, facts.requested(n=2)))

    tokens = "500 of 9000 tokens (1 model call unknown, counted as reserved), 500 reserved"
    assert limits_text(budget_view(run, 3.0)).splitlines() == [
        "2 of 10 model calls, 8 left, told to wrap up at 8",
        f"{tokens}, 8000 left, told to wrap up at 7200",
        "0.05 US dollars, 0.05 reserved, told to wrap up at 1",
    ]
    assert limits_text(budget_view(fold((facts.accepted("r"),)), 0.0)) == ""
