"""A summary that a model writes is paid for as any request: reserved, settled, held to limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.budget_events import BudgetSpent
from domain.events import ContextCompacted, SummaryRequested, SummarySettled
from domain.ids import run_stream
from domain.runs.budget import Budget, tokens_of
from domain.runs.legal import illegal_step
from tests.support.bare_steps import Bare, bare_steps
from tests.support.model_server import (
    Behaviour,
    HalfStream,
    ModelServer,
    Refuses,
    Silence,
    model_server,
)
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack

LONG = Refuses(400, "context_length_exceeded")
READ = Says("I look around.", calls=(Call("list_files", '{"path": "."}'),))
SUMMARY = Says("The agent has looked around.", input_tokens=900, output_tokens=30)
BEFORE = 2 * 120
"""Tokens that the two answers before the overflow used."""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider of the test's own."""
    with model_server() as running:
        yield running


async def overflowing(
    bare: Bare, server: ModelServer, *then: Behaviour, budget: Budget | None = None
) -> str:
    """Begin a run whose third request is too long; gives its id."""
    server.plays(READ, READ, LONG, *then)
    run_id = await bare.begin(model=server.name_of("openai"), budget=budget or Budget())
    came = [await bare.step(run_id, step) for step in (1, 2, 3)]
    assert [getattr(one, "outcome", "") for one in came] == ["again", "again", "overflow"]
    return run_id


async def test_a_summary_is_reserved_before_it_is_asked_and_counts_what_it_used(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, SUMMARY)
        await bare.compact(run_id, 3)
        facts = await bare.facts(run_id)
        run = await bare.run(run_id)

    requested, compacted = facts[-2:]
    assert isinstance(requested, SummaryRequested)
    assert isinstance(compacted, ContextCompacted)
    assert requested.model == compacted.model == server.name_of("openai")
    assert tokens_of(requested.reserved) > 4096
    assert (run.spent.steps, run.spent.tokens) == (4, BEFORE + 930)
    assert run.account.reserved == ()
    assert illegal_step(run_stream(run_id), facts) is None


async def test_a_summary_over_the_budget_is_not_sent_and_ends_the_run(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, SUMMARY, budget=Budget(steps=3))
        came = await bare.compact(run_id, 3)
        again = await bare.compact(run_id, 3)
        (over,) = await bare.of(run_id, BudgetSpent)
        asked = await bare.of(run_id, SummaryRequested)

    for one in (came, again):
        assert (one.outcome, one.code) == ("over_budget", "budget_steps")
    assert (over.reason, over.spent, over.hard) == ("budget_steps", "3", "3")
    assert asked == []
    assert server.calls == 3


@pytest.mark.parametrize(
    ("answer", "code", "counts"),
    [
        (Refuses(503), "provider_failed", "nothing"),
        (HalfStream(SUMMARY), "half_stream", "as reserved"),
        (Says("", output_tokens=0), "empty_answer", "as reserved"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_a_summary_that_came_to_nothing_counts_as_its_reservation_unless_it_was_refused(
    cluster: Stack, tmp_path: Path, server: ModelServer, answer: Behaviour, code: str, counts: str
) -> None:
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, answer)
        came = await bare.compact(run_id, 3)
        (requested,) = await bare.of(run_id, SummaryRequested)
        (settled,) = await bare.of(run_id, SummarySettled)
        (compacted,) = await bare.of(run_id, ContextCompacted)
        run = await bare.run(run_id)

    assert came.outcome == "compacted"
    assert (settled.code, compacted.model, compacted.n) == (code, "", 0)
    used = tokens_of(requested.reserved) if counts == "as reserved" else 0
    assert run.spent.tokens == BEFORE + used
    assert run.spent.tokens_unknown == int(counts == "as reserved")
    assert run.account.reserved == ()
    assert server.calls == 4


@pytest.mark.slow
async def test_working_time_that_ends_in_a_summary_ends_the_run_and_counts_it_as_reserved(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, Silence(), budget=Budget(seconds=4))
        came = await bare.compact(run_id, 3)
        (settled,) = await bare.of(run_id, SummarySettled)
        compacted = await bare.of(run_id, ContextCompacted)
        run = await bare.run(run_id)

    assert (came.outcome, came.code) == ("over_budget", "budget_seconds")
    assert (settled.code, run.spent.tokens_unknown) == ("over_budget", 1)
    assert compacted == []
