"""Waits for a model's capacity: how long, how often, and until when."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from domain.events import ModelFailed, ModelRequested
from domain.runs.pace import Paces, parse_rates
from domain.runs.steps import StepResult
from tests.support.bare_steps import Retried, bare_steps
from tests.support.model_server import ModelServer, Refuses, model_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack
    from tests.support.rig import Rig

WHEN = "%Y-%m-%d at %H:%M"
LIMITED = Refuses(429, "rate_limit_error")


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider of the test's own."""
    with model_server() as running:
        yield running


async def test_a_limit_that_stays_becomes_waits_that_grow_and_each_try_is_one_http_call(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """Three short tries, and then the run waits."""
    server.default = LIMITED
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await bare.begin(model=server.name_of("anthropic"))
        came = [await bare.step(run_id) for _ in range(8)]

    waits = [one.retry_after for one in came if isinstance(one, StepResult)]
    assert [isinstance(one, Retried) for one in came] == [True] * 3 + [False] + [True] * 3 + [False]
    assert waits == [60, 120]
    assert server.calls == 8


async def test_a_quota_that_comes_back_after_the_runs_limit_ends_it_and_says_when(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """The limit is the run's own."""
    until = datetime.now(UTC) + timedelta(hours=3)
    words = f"You have reached your usage limits. You will regain access on {until:{WHEN}} UTC."
    server.default = Refuses(400, "invalid_request_error", words)
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        patient = await bare.begin(model=server.name_of("anthropic"))
        hasty = await bare.begin(model=server.name_of("anthropic"), max_wait=3600)
        waits, ends = await bare.step(patient), await bare.step(hasty)
        (failed,) = await bare.of(hasty, ModelFailed)

    assert isinstance(waits, StepResult)
    assert (waits.outcome, waits.code) == ("capacity", "quota_exhausted")
    assert abs(datetime.fromisoformat(waits.until) - until) < timedelta(seconds=75)
    assert isinstance(ends, StepResult)
    assert (ends.outcome, ends.code) == ("failed", "quota_exhausted")
    assert "this run waits 60 minutes for capacity" in failed.message
    assert server.calls == 2


@pytest.mark.slow
async def test_two_workers_together_keep_the_rate_of_a_model(rig: Rig, server: ModelServer) -> None:
    """Ten runs, two processes, one credential; a second is left for what a first request takes."""
    model = server.name_of("openai")
    rate = {"LEGATO_MODEL_RATES": f"{model}=120rpm", "OPENAI_API_KEY": "key-of-a-test"}
    for _ in range(2):
        rig.start_worker(**rate)

    runs = [await rig.launch(model=model) for _ in range(10)]
    ended = [await rig.ended(run_id) for run_id in runs]

    assert {run.status for run in ended} == {"completed"}
    at = sorted(request.at for request in server.requests)
    assert len(at) == 10
    assert at[-1] - at[0] > (10 - 1) * 0.5 - 1.0 - 1.0


async def test_a_turn_that_is_far_is_a_wait_of_the_run(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """And nothing is sent meanwhile."""
    model = server.name_of("anthropic")
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        bare.world = replace(bare.world, paces=Paces(parse_rates(f"{model}=1rpm")))
        first, second = await bare.begin(model=model), await bare.begin(model=model)
        came = [await bare.step(first), await bare.step(second)]
        asked = await bare.of(second, ModelRequested)

    done, waits = came
    assert isinstance(done, StepResult)
    assert isinstance(waits, StepResult)
    assert (done.outcome, waits.outcome, waits.code) == ("turn_completed", "capacity", "rate_kept")
    assert 50 < waits.retry_after < 60
    assert asked == []
    assert server.calls == 1
