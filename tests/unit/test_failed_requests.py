"""Requests that came to nothing: what they cost, how they count, and when they come too late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.events import ModelFailed, ModelLost
from domain.runs.account import MAYBE_BILLED
from domain.runs.run import Run, fold
from tests.support import facts

if TYPE_CHECKING:
    from domain.events import Fact

BEGUN: tuple[Fact, ...] = (
    facts.accepted("r"),
    facts.attached(),
    facts.defined(),
    facts.turn_started(),
    facts.requested(),
)


def failed(step: int = 1, n: int = 1, partial: str = "", code: str = "rate_limited") -> ModelFailed:
    """A request of the first turn failed."""
    return ModelFailed(
        turn=1, step=step, n=n, code=code, message="cut", disposition="retry", partial=partial
    )


def lost(n: int = 1) -> ModelLost:
    """A request of the first step was given up."""
    return ModelLost(turn=1, step=1, n=n)


def spent(*told: Fact) -> tuple[int, str]:
    """Tokens and money of a run."""
    run = fold((*BEGUN, *told))
    return run.spent.tokens, run.spent.cost


def failures(run: Run) -> int:
    """How often the current step's request came to nothing."""
    assert run.step is not None
    return run.step.failures


def test_a_request_that_fails_before_any_text_spends_nothing() -> None:
    assert spent(failed()) == (0, "0")


@pytest.mark.parametrize("code", sorted(MAYBE_BILLED))
def test_a_request_whose_use_nobody_can_tell_spends_its_reservation(code: str) -> None:
    assert spent(failed(code=code)) == (500, "0.05")


def test_a_request_that_breaks_off_after_text_spends_its_reservation_once() -> None:
    assert spent(failed(partial="Let me")) == (500, "0.05")
    assert spent(lost(), failed(partial="Let me")) == (500, "0.05")


def test_lost_requests_count_as_failures() -> None:
    told: tuple[Fact, ...] = (lost(1), facts.requested(n=2), failed(n=2), facts.requested(n=3))

    run = fold((*BEGUN, *told))

    assert failures(run) == 2
    assert failures(fold((lost(3),), run)) == 3


def test_a_failure_of_a_request_that_was_given_up_leaves_the_new_one_open() -> None:
    run = fold((*BEGUN, lost(1), facts.requested(n=2), failed(n=1, partial="late")))

    assert run.step is not None
    assert run.step.open is not None
    assert run.step.open.n == 2
    assert run.step.failed is None
    assert failures(run) == 1


def test_a_failure_of_a_step_that_lies_behind_does_not_bring_it_back() -> None:
    told = (lost(1), facts.requested(n=2), facts.responded(n=2, calls=1), facts.settled())

    run = fold((*BEGUN, *told, facts.requested(step=2), failed(step=1)))

    assert run.step is not None
    assert run.step.step == 2


def test_a_failure_of_an_earlier_turn_does_not_bring_it_back() -> None:
    told = (lost(1), facts.requested(n=2), facts.responded(n=2), facts.turn_completed())

    run = fold((*BEGUN, *told, facts.turn_started(turn=2), failed(step=1)))

    assert run.step is None
