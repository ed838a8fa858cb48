"""How long a step waits for a model's capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import ModelFailed
from domain.ports import Disposition, ModelFailure
from domain.runs.patience import LONGEST_WAIT, SHORT_TRIES, patient
from domain.runs.run import StepState, fold
from tests.support import facts

if TYPE_CHECKING:
    from domain.events import Fact

DAY = 86400.0
RETRY, CAPACITY, REFUSE = Disposition.RETRY, Disposition.CAPACITY, Disposition.REFUSE


def failure(
    code: str = "rate_limited", disposition: Disposition = RETRY, after: float | None = None
) -> ModelFailure:
    """What a provider's error was classified as."""
    return ModelFailure(code, "m limits it", disposition, retry_after=after, next="wait")


def came(
    step: StepState | None, given: ModelFailure, most: float = DAY
) -> tuple[str, float | None]:
    """What is done, and after how many seconds."""
    done = patient(given, step, most)
    return done.disposition.value, done.retry_after


def test_a_limit_that_stays_becomes_a_wait() -> None:
    few, many = StepState(1, 1, failures=SHORT_TRIES - 1), StepState(1, 1, failures=SHORT_TRIES)

    assert came(None, failure()) == ("retry", None)
    assert came(few, failure(after=20)) == ("retry", 20)
    assert came(many, failure()) == ("capacity", 60)
    assert came(many, failure(after=20)) == ("capacity", 60)
    assert came(many, failure("provider_failed")) == ("retry", None)


def test_waits_without_a_date_grow_and_dates_are_kept() -> None:
    quota = failure("quota_exhausted", CAPACITY)

    lengths = [came(StepState(1, 1, waits=n), quota)[1] for n in (0, 1, 2, 60)]
    assert lengths == [60, 120, 240, LONGEST_WAIT]
    assert came(StepState(1, 1, waits=3), failure(disposition=CAPACITY, after=45)) == (
        "capacity",
        45,
    )


def test_a_wait_that_would_be_too_long_ends_the_run_and_says_so() -> None:
    quota = failure("quota_exhausted", CAPACITY, 2 * DAY)

    done = patient(quota, StepState(1, 1), DAY)

    assert (done.disposition, done.code) == (REFUSE, "quota_exhausted")
    assert done.message == (
        "m limits it, and the next try would come 2 days after the first; "
        "this run waits 24 hours for capacity"
    )
    assert "--max-wait" in done.next
    assert came(StepState(1, 1, waited=100), failure(disposition=CAPACITY, after=45), 140) == (
        "refuse",
        45,
    )


def test_a_wait_for_capacity_is_no_failure_of_the_step() -> None:
    told: list[Fact] = [
        facts.accepted("r"),
        facts.attached(),
        facts.defined(),
        facts.turn_started(),
    ]
    for n, (disposition, after) in enumerate([("retry", None), ("capacity", 60), ("retry", 5)], 1):
        told += [
            facts.requested(n=n),
            ModelFailed(
                turn=1, step=1, n=n, code="c", message="m", disposition=disposition,
                retry_after=after,
            ),
        ]  # fmt: skip

    step = fold(told).step

    assert step is not None
    assert (step.failures, step.waits, step.waited) == (1, 1, 60)
