"""Another model, where a run names one: when it is asked, and what it is not given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from domain.events import ContinuationDropped, ModelFailed, ModelRequested
from tests.support.bare_steps import Bare, Retried, bare_steps
from tests.support.model_server import Behaviour, ModelServer, Refuses, model_server
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack
    from tests.support.rig import Rig

OVERLOADED = Refuses(529, "overloaded_error")
THOUGHT = Says(
    "So.",
    calls=(Call("list_files", '{"path": "."}'),),
    thinking="deep thought",
    signature="c2lnbmVk",
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider of the test's own."""
    with model_server() as running:
        yield running


async def begun(bare: Bare, server: ModelServer, *plays: Behaviour) -> str:
    """Begin a run of one model with another to fall back to."""
    server.plays(*plays)
    models = {"model": server.name_of("anthropic"), "fallback": server.name_of("openai")}
    return await bare.begin(**models)


@pytest.mark.parametrize(
    "refuses",
    [
        Refuses(401, "authentication_error"),
        Refuses(404, "not_found_error"),
        Refuses(429, "rate_limit_error", headers={"retry-after": "600"}),
        Refuses(402, "billing_error"),
    ],
    ids=["key", "name", "limit", "quota"],
)
async def test_instead_of_a_wait_or_an_end_the_other_model_is_asked_in_the_same_step(
    cluster: Stack, tmp_path: Path, server: ModelServer, refuses: Refuses
) -> None:
    """By a second request, which says so."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await begun(bare, server, refuses, Says("done"))
        came = await bare.step(run_id)
        asked = await bare.of(run_id, ModelRequested)
        (failed,) = await bare.of(run_id, ModelFailed)

    assert getattr(came, "outcome", "") == "turn_completed"
    assert failed.disposition == "fallback"
    assert [(one.step, one.n) for one in asked] == [(1, 1), (1, 2)]
    assert [one.fallback_from for one in asked] == ["", server.name_of("anthropic")]
    assert [request.path for request in server.requests] == ["/v1/messages", "/v1/chat/completions"]


async def test_what_is_tried_again_falls_back_at_the_fourth_time_and_then_counts_anew(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """Each try is one HTTP call."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await begun(bare, server, *[OVERLOADED] * 4, Refuses(500), Says("done"))
        came = [await bare.step(run_id) for _ in range(5)]
        failed = [one.disposition for one in await bare.of(run_id, ModelFailed)]

    assert [isinstance(one, Retried) for one in came] == [True, True, True, True, False]
    assert failed == ["retry", "retry", "retry", "fallback", "retry"]
    assert server.calls == 6


async def test_without_another_model_none_is_asked(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """A fallback is never guessed."""
    server.plays(Refuses(401, "authentication_error"))
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await bare.begin(model=server.name_of("anthropic"))
        came = await bare.step(run_id)

    assert (getattr(came, "outcome", ""), getattr(came, "code", "")) == (
        "failed",
        "model_key_refused",
    )
    assert server.calls == 1


async def test_a_refused_content_of_both_models_ends_the_run(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """The second failure counts."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        refusals = (Says("No", finish="refusal"), Says("No", finish="content_filter"))
        run_id = await begun(bare, server, *refusals)
        came = await bare.step(run_id)

    assert (getattr(came, "outcome", ""), getattr(came, "code", "")) == (
        "failed",
        "content_filtered",
    )
    assert server.calls == 2


async def test_what_only_the_first_model_understands_is_dropped_and_that_is_recorded(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """The other model stays for the turn, so it is recorded once."""
    more = Says(calls=(Call("list_files", '{"path": "."}'),))
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await begun(bare, server, THOUGHT, Refuses(402), more, Says("done"))
        came = [await bare.step(run_id, step) for step in (1, 2, 3)]
        dropped = await bare.of(run_id, ContinuationDropped)
        asked = [one.model for one in await bare.of(run_id, ModelRequested)]

    assert [getattr(one, "outcome", "") for one in came] == ["again", "again", "turn_completed"]
    assert [(one.step, one.n, one.answers) for one in dropped] == [(2, 2, 1)]
    first, other = server.name_of("anthropic"), server.name_of("openai")
    assert asked == [first, first, other, other]
    second, third = (json.dumps(request.body) for request in server.requests[1:3])
    assert "deep thought" in second
    assert "deep thought" not in third
    assert "So." in third


async def test_the_next_turn_begins_with_the_first_model_again(
    rig: Rig, server: ModelServer
) -> None:
    """Whole: two items, the first of them answered by the other model."""
    keys = {"OPENAI_API_KEY": "key-of-a-test", "ANTHROPIC_API_KEY": "key-of-a-test"}
    rig.start_worker(**keys)
    server.plays(Refuses(402), Says("one"), Says("two"))
    items = tuple({"kind": "message", "name": f"item {n}", "text": "go"} for n in (1, 2))
    run_id = await rig.launch(
        model=server.name_of("anthropic"), fallback=server.name_of("openai"), items=items
    )
    run = await rig.ended(run_id)

    assert run.status == "completed"
    paths = [request.path for request in server.requests]
    assert paths == ["/v1/messages", "/v1/chat/completions", "/v1/messages"]
