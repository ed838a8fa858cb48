"""Runs that ask a provider over HTTP: what it refuses, breaks off or delays, end to end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from temporalio.common import SearchAttributeKey

from domain.events import ModelFailed, ModelRequested, ModelResponded, RunResumed, RunWaiting
from domain.runs.attributes import WAITING_ON
from tests.support.model_server import (
    BadJson,
    Behaviour,
    HalfStream,
    ModelServer,
    Refuses,
    model_server,
)
from tests.support.model_wire import Says
from tests.support.rig import Rig, Worker, rig_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from legato.embedded import Stack

KEYS = {"OPENAI_API_KEY": "key-of-a-test", "ANTHROPIC_API_KEY": "key-of-a-test"}
ANSWER = Says("all is well")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """One provider for all."""
    with model_server() as running:
        yield running


@pytest.fixture(scope="module")
def keyed(cluster: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A worker that has keys: its queue and its home."""
    folder = tmp_path_factory.mktemp("keyed")

    async def start() -> tuple[Rig, Worker]:
        async with rig_of(cluster, folder) as opened:
            worker = opened.start_worker(**KEYS)
            opened.workers = []
            return opened, worker

    rig, worker = asyncio.run(start())
    yield rig.host, rig.home
    worker.terminate()


@pytest.fixture
async def asking(cluster: Stack, keyed: tuple[str, Path], tmp_path: Path) -> AsyncIterator[Rig]:
    """A rig on that worker."""
    host, home = keyed
    async with rig_of(cluster, tmp_path, host=host, home=home) as opened:
        yield opened


async def asked(rig: Rig, server: ModelServer, provider: str, *plays: Behaviour) -> str:
    """Begin a run that gets these answers."""
    server.queue.clear()
    server.requests.clear()
    server.plays(*plays)
    return await rig.launch(model=server.name_of(provider))


FAILURES: dict[str, tuple[Behaviour, str]] = {
    "a server error": (Refuses(500), "provider_failed"),
    "a limited rate": (
        Refuses(429, "rate_limit_exceeded", headers={"retry-after": "1"}),
        "rate_limited",
    ),
    "a half stream": (HalfStream(Says("half of")), "half_stream"),
    "a broken stream": (HalfStream(Says("half of"), broken=True), "half_stream"),
    "bad JSON": (BadJson("data: {this is not json\n\n"), "bad_response"),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_failure_that_passes_is_retried_once_for_each_request(
    asking: Rig, server: ModelServer, failure: str
) -> None:
    behaviour, code = FAILURES[failure]

    run_id = await asked(asking, server, "openai", behaviour, ANSWER)
    run = await asking.ended(run_id)

    assert run.status == "completed"
    assert [one.code for one in await asking.of(run_id, ModelFailed)] == [code]
    assert len(await asking.of(run_id, ModelRequested)) == 2
    assert [one.text for one in await asking.of(run_id, ModelResponded)] == ["all is well"]
    assert len(server.requests) == 2


async def test_an_overloaded_anthropic_model_is_asked_again(
    asking: Rig, server: ModelServer
) -> None:
    overloaded = Refuses(529, "overloaded_error", headers={"retry-after": "1"})

    run_id = await asked(asking, server, "anthropic", overloaded, ANSWER)
    run = await asking.ended(run_id)

    assert run.status == "completed"
    assert [one.code for one in await asking.of(run_id, ModelFailed)] == ["model_overloaded"]
    assert len(await asking.of(run_id, ModelRequested)) == 2
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("provider", "kind", "variable"),
    [
        ("openai", "invalid_api_key", "OPENAI_API_KEY"),
        ("anthropic", "authentication_error", "ANTHROPIC_API_KEY"),
    ],
)
async def test_a_refused_key_ends_the_run_and_says_what_to_set(
    asking: Rig, server: ModelServer, provider: str, kind: str, variable: str
) -> None:
    run_id = await asked(asking, server, provider, Refuses(401, kind))
    run = await asking.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("failed", "model_key_refused")
    assert f"set {variable}" in run.ended.message
    assert "key-of-a-test" not in run.ended.message
    assert len(server.requests) == 1


async def test_a_model_without_a_key_ends_the_run_and_says_what_to_set(
    asking: Rig, server: ModelServer
) -> None:
    server.requests.clear()

    run_id = await asking.launch(model=f"google:gemini-2.5-flash@{server.anthropic_url}")
    run = await asking.ended(run_id)

    assert run.ended is not None
    assert run.status == "failed"
    assert "GOOGLE_API_KEY" in run.ended.message
    assert server.requests == []


@pytest.mark.slow
async def test_a_long_delay_is_a_wait_that_everybody_sees_and_then_the_run_goes_on(
    asking: Rig, server: ModelServer
) -> None:
    limited = Refuses(429, "rate_limit_exceeded", headers={"retry-after": "31"})

    run_id = await asked(asking, server, "openai", limited, ANSWER)
    run = await asking.until(run_id, lambda run: run.waiting is not None)
    assert run.status == "waiting"
    assert run.waiting is not None
    assert (run.waiting.on, run.waiting.why) == ("capacity", "rate_limited")
    waits = f"capacity rate_limited until {run.waiting.until[:19]}Z"
    described = await (await asking.handle(run_id)).describe()
    shown = described.typed_search_attributes[SearchAttributeKey.for_keyword(WAITING_ON)]
    assert shown == waits
    run = await asking.ended(run_id)

    assert run.status == "completed"
    assert [wait.on for wait in await asking.of(run_id, RunWaiting)] == ["capacity"]
    assert len(await asking.of(run_id, RunResumed)) == 1
    assert len(await asking.of(run_id, ModelRequested)) == 2
    assert len(server.requests) == 2
