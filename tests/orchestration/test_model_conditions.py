"""What a step comes to under every condition on a provider's wire, by the real activity."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from activities.models.failures import ODD, TABLE
from domain.events import CallSettled, ModelFailed, ModelRequested, ModelResponded
from domain.runs.steps import StepResult
from tests.support.bare_steps import Bare, Retried, bare_steps
from tests.support.model_conditions import TAKEN, Case, cases
from tests.support.model_server import ModelServer, model_server
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator
    from pathlib import Path

    from legato.embedded import Stack

CODES = {seen: row.code for row in (*TABLE, *ODD) for seen in row.seen}
ELSEWHERE = {"nobody listening", "nothing more after a call's result"}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One provider for all."""
    with model_server() as running:
        yield running


@asynccontextmanager
async def opened(cluster: Stack, folder: Path, *, idle: float = 60) -> AsyncGenerator[Bare]:
    """A world on the cluster's ledger."""
    async with bare_steps(cluster.database_url, folder, idle=idle) as bare:
        yield bare


def test_every_condition_of_the_table_is_tried() -> None:
    """And none is tried that the table does not have."""
    assert set(cases()) == set(CODES) - ELSEWHERE


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
async def test_each_condition_has_its_one_outcome_and_costs_one_http_call(
    cluster: Stack, tmp_path: Path, server: ModelServer, provider: str
) -> None:
    """Whatever comes over the wire."""
    wrong: dict[str, str] = {}
    tried = [(seen, case) for seen, all_ in cases().items() for case in all_]
    async with opened(cluster, tmp_path) as patient, opened(cluster, tmp_path, idle=0.5) as hasty:
        for seen, case in tried:
            if provider in case.providers:
                bare = hasty if case.silent else patient
                problem = await problem_of(bare, server, provider, case, CODES[seen])
                wrong.update({seen: problem} if problem else {})

    assert wrong == {}


async def test_nothing_more_after_a_calls_result_ends_the_turn(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """An empty answer to a person's words does not."""
    server.queue.clear()
    server.requests.clear()
    server.plays(Says(calls=(Call("fly"),)), Says(""))
    async with opened(cluster, tmp_path) as bare:
        run_id = await bare.begin(model=server.name_of("openai"))
        first, second = await bare.step(run_id), await bare.step(run_id, 2)

    assert isinstance(first, StepResult)
    assert isinstance(second, StepResult)
    assert (first.outcome, second.outcome) == ("again", "turn_completed")
    assert server.calls == 2


async def problem_of(bare: Bare, server: ModelServer, provider: str, case: Case, code: str) -> str:
    """Take one step that meets a condition; gives what is wrong about it, or ""."""
    server.queue.clear()
    server.requests.clear()
    server.plays(case.plays)
    run_id = await bare.begin(model=server.name_of(provider))
    came = await bare.step(run_id)
    failed = await bare.of(run_id, ModelFailed)
    requested = await bare.of(run_id, ModelRequested)
    seen = f"{came} {failed}"
    if (server.calls, len(requested)) != (1, 1):
        return f"{server.calls} HTTP calls for {len(requested)} requests: {seen}"
    if case.came == TAKEN:
        answered = await bare.of(run_id, ModelResponded)
        settled = [one.outcome.code for one in await bare.of(run_id, CallSettled)]
        fine = len(answered) == 1 and not failed and (not code or set(settled) == {code})
        return "" if fine else f"{seen} {settled}"
    if [one.code for one in failed] != [code]:
        return f"is not {code}: {seen}"
    return "" if fits(came, case, code) else f"is not {case.came}: {seen}"


def fits(came: StepResult | Retried, case: Case, code: str) -> bool:
    """Tell whether a step came to what the case says."""
    if isinstance(came, Retried):
        return (case.came, came.code) == ("retry", code) and near(came.delay, case.delay)
    if came.outcome == "capacity":
        return (case.came, came.code) == ("capacity", code) and near(came.retry_after, case.delay)
    if case.came == "overflow":
        return (came.outcome, came.code) == ("failed", "context_too_large")
    return (came.outcome, came.code) == (case.came, code)


def near(seconds: float | None, wanted: float | None) -> bool:
    """Compare delays; a date is told in whole seconds, some time before it is read."""
    if seconds is None or wanted is None:
        return seconds is wanted
    return wanted - 75 <= seconds <= wanted
