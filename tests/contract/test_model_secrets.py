"""Whatever a provider says in a failure, nothing of it comes through, and nothing is sent on."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from activities.models.select import model_for
from tests.support.canaries import sightings
from tests.support.model_requests import failure_to
from tests.support.model_server import ModelServer, model_server
from tests.support.raw_provider import raw_provider
from tests.support.secret_forms import raw, spoken

if TYPE_CHECKING:
    from domain.ports import ModelFailure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

SAID = "said/7f3e+91 word"
KEY = "key/7f3e+91-of-test"


def seen_in(failure: ModelFailure) -> list[str]:
    """List what is seen in a failure of what was planted, its causes and frames included."""
    told = [repr(vars(failure)), repr(failure.args), str(failure)]
    told += [repr(failure.__cause__), repr(failure.__context__)]
    return sightings("\n".join(told).encode(), [SAID, KEY])


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google", "compatible"])
async def test_nothing_that_a_provider_says_in_a_failure_comes_through(
    provider: str, caplog: pytest.LogCaptureFixture
) -> None:
    wrong: dict[str, object] = {}
    async with raw_provider() as server:
        model = model_for(ModelServer(server.port).name_of(provider), lambda _: KEY, idle=5)
        for form, answer in raw(SAID).items():
            server.requests.clear()
            server.queue.append(answer)
            with caplog.at_level(logging.WARNING):
                failure = await failure_to(model)
            seen = seen_in(failure) or failure.code == "model_raised"
            if seen or len(server.requests) != 1:
                wrong[form] = (failure.code, seen, len(server.requests))

    assert wrong == {}
    assert sightings(caplog.text.encode(), [SAID, KEY]) == []


@pytest.mark.parametrize("provider", ["openai", "anthropic", "google"])
async def test_nothing_of_a_well_made_failure_comes_through(provider: str) -> None:
    wrong: dict[str, object] = {}
    with model_server() as server:
        model = model_for(server.name_of(provider), lambda _: KEY)
        for form, behaviour in spoken(SAID).items():
            server.plays(behaviour)
            wrong[form] = seen_in(await failure_to(model))

    assert len(wrong) > 20
    assert {form: seen for form, seen in wrong.items() if seen} == {}
