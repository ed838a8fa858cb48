"""What those who watch Temporal are told of a run is short and true."""

from __future__ import annotations

from dataclasses import replace

from domain.runs.card import Shown, card
from domain.runs.position import Position, after_build, after_step
from domain.runs.steps import BuildResult, ItemShape, StepResult

SHOWN = Shown("generic", "ws-0000", "s", "writer", "hand", model="claude-sonnet-4-5")
BEGUN = after_build(Position(), BuildResult("ok", (ItemShape("work"),)))


def test_the_card_names_model_place_and_spend() -> None:
    at = after_step(BEGUN, StepResult("again", spent_tokens=12, spent_cost="0.02"))

    lines = card(SHOWN, at).splitlines()

    assert "- model: claude-sonnet-4-5" in lines
    assert "- where: item 1 of 1 (work), turn 1, step 2" in lines
    assert "- spent: 12 tokens, $0.02" in lines
    assert "- model: none" in card(replace(SHOWN, model=""), at)


def test_a_cost_that_is_not_known_is_never_shown_as_nothing() -> None:
    unknown = after_step(BEGUN, StepResult("again", spent_tokens=12, spent_cost=""))

    assert card(SHOWN, BEGUN).endswith("0 tokens, $0")
    assert card(SHOWN, unknown).endswith("12 tokens, cost unknown")
