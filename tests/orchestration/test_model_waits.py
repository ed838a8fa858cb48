"""Waits for a model's capacity: how long, how often, and until when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from domain.events import ModelFailed
from domain.runs.steps import StepResult
from tests.support.bare_steps import Retried, bare_steps
from tests.support.model_server import ModelServer, Refuses, model_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack

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
