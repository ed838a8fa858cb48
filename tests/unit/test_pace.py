"""Rates and weights as an operator writes them."""

from __future__ import annotations

import pytest

from domain.runs.model_name import parse_model
from domain.runs.pace import Paces, Rate, parse_rates, parse_weights, rate_of


def test_rates_are_read_and_the_first_that_fits_counts() -> None:
    rates = parse_rates("openai:gpt-4o@http://a:1/v1=60rpm, openai:*=500rpm+9000tpm,")

    assert rates == (
        Rate("openai:gpt-4o@http://a:1/v1", 60),
        Rate("openai:*", 500, 9000),
    )
    assert rate_of(rates, parse_model("openai:gpt-4o@http://a:1/v1")) == rates[0]
    assert rate_of(rates, parse_model("openai:gpt-5")) == rates[1]
    assert rate_of(rates, parse_model("anthropic:claude")) is None


@pytest.mark.parametrize("text", ["openai:*", "=60rpm", "m=60", "m=0rpm", "m=1rpm+1rpm", "m=rpm"])
def test_what_is_no_rate_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"60rpm\+40000tpm"):
        parse_rates(text)


def test_a_workspace_without_a_weight_has_one() -> None:
    paces = Paces(weights=parse_weights("website=3, tools=2"))

    assert [paces.weight(name) for name in ("website", "tools", "other")] == [3, 2, 1]


@pytest.mark.parametrize("text", ["website", "website=0", "=3", "website=much"])
def test_what_is_no_weight_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="WORKSPACE=WEIGHT"):
        parse_weights(text)
