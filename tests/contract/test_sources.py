"""What a build is made from is read from the world as it is."""

from __future__ import annotations

import pytest

from activities.sources import Place, read_sources
from domain.runs.budget import Budget
from tests.support.agents import a_registry, a_request, codes, refusals


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("anthropic:claude-sonnet-4-5", True),
        ("script:play.yaml", True),
        ("ollama:qwen3", False),
        ("http://127.0.0.1:9/v1#mine", False),
        ("openai:no-such-model-anywhere", False),
    ],
)
async def test_a_limit_in_money_needs_a_model_with_a_known_price(
    model: str, *, known: bool
) -> None:
    request = a_request(model=model, budget=Budget(cost="1"))
    sources = await read_sources(Place(a_registry(), lambda _: "", "none"), request)

    assert sources.prices_known is known
    if not known:
        found = refusals(request, prices_known=sources.prices_known)
        assert codes(found) == {"budget_price_unknown"}


async def test_a_model_that_cannot_be_used_is_told_once_and_not_asked_for_its_price() -> None:
    request = a_request(model="nonsense", budget=Budget(cost="1"))
    place = Place(a_registry(), lambda name: f"{name} is none", "none")
    sources = await read_sources(place, request)

    assert (sources.model_problem, sources.prices_known) == ("nonsense is none", True)
