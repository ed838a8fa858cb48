"""Requests that each fit alone race for the last of a budget: exactly as many pass as fit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from domain.agents.request import AgentRequest
from domain.budget_events import BudgetSpent
from domain.events import Entry, ModelRequested
from domain.ids import run_stream
from domain.runs.account import total
from domain.runs.budget import Budget, exceeded
from domain.runs.budget_texts import spent_fact
from ledger.accept import load_run
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.dispatch import Launch, dispatch
from tests.support import facts
from tests.support.ledger import PERSON, events_of, put

if TYPE_CHECKING:
    from ledger.connect import Ledger

EACH = 500
"""Tokens that each request reserves."""


async def begun(ledger: Ledger, run_id: str, budget: Budget) -> str:
    """Begin a run; gives its stream."""
    request = AgentRequest(role="generic", message="go", budget=budget)
    await dispatch(ledger, PERSON, Launch(run_id, Entry.HAND, request, "home/t", scope=run_id))
    stream = run_stream(run_id)
    await put(ledger, stream, facts.attached(), facts.defined(), facts.turn_started())
    return stream


async def let_in(ledger: Ledger, run_id: str, racer: int) -> bool:
    """Decide on the run as it stands and append on just that, until it is in or out."""
    asked, stream = facts.requested(step=racer), run_stream(run_id)
    while True:
        run, _ = await load_run(ledger, run_id)
        if run.over is not None:
            return False
        whole = total(run.account.reserved, asked.reserved)
        reason = exceeded(run.budget, run.spent, whole)
        fact = asked if reason is None else spent_fact(run, reason, whole)
        try:
            await append(ledger, PERSON, Part(stream, (fact,), run.version))
        except (VersionConflictError, TakenError):
            continue
        return reason is None


@pytest.mark.parametrize(
    ("budget", "racers", "fit"),
    [
        (Budget(tokens=EACH), 2, 1),
        (Budget(steps=1), 2, 1),
        (Budget(cost="0.05"), 2, 1),
        (Budget(tokens=3 * EACH + EACH - 1), 8, 3),
    ],
    ids=["tokens", "steps", "cost", "three of eight"],
)
async def test_of_requests_that_race_for_the_last_of_a_budget_only_those_pass_that_fit(
    ledger: Ledger, budget: Budget, racers: int, fit: int
) -> None:
    for n in range(10):
        run_id = f"1111111{n}-race"
        stream = await begun(ledger, run_id, budget)
        came = await asyncio.gather(*(let_in(ledger, run_id, one) for one in range(1, racers + 1)))
        run, _ = await load_run(ledger, run_id)
        stands = await events_of(ledger, stream)

        assert sum(came) == fit
        assert sum(isinstance(fact, ModelRequested) for fact in stands) == fit
        assert sum(isinstance(fact, BudgetSpent) for fact in stands) == 1
        assert run.halted == "over_budget"
