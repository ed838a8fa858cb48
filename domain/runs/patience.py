"""How long a step waits for a model that has no capacity, and when it waits no longer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.ports import Disposition, ModelFailure

if TYPE_CHECKING:
    from domain.runs.run import StepState

SHORT_TRIES = 3
"""So many requests of a step in a row are sent again, after the provider's short delay or our own,
when it says that it has no capacity; after the next such word the run waits."""

FIRST_WAIT = 60.0
LONGEST_WAIT = 3600.0
"""Seconds of the first wait without a date, and of the longest: each is twice the one before."""

LIMITS = frozenset({"rate_limited", "model_overloaded"})
"""The codes by which a provider says that it has no capacity now."""


def patient(failure: ModelFailure, step: StepState | None, most_wait: float) -> ModelFailure:
    """Say what a failure means after what the step has been through already.

    `step` is the step before this failure, `most_wait` the seconds that it may wait for
    capacity in all. A limit that stays becomes a wait, a wait without a date gets its length,
    and one that would be too long ends the run.
    """
    failures, waits, waited = (step.failures, step.waits, step.waited) if step else (0, 0, 0.0)
    disposition, after = failure.disposition, failure.retry_after
    stays = failure.code in LIMITS and failures >= SHORT_TRIES
    if disposition is Disposition.RETRY and stays:
        disposition, after = Disposition.CAPACITY, None
    if disposition is not Disposition.CAPACITY:
        return failure
    after = after if after is not None else min(FIRST_WAIT * 2.0 ** min(waits, 10), LONGEST_WAIT)
    if waited + after <= most_wait:
        return changed(failure, Disposition.CAPACITY, after)
    return changed(
        failure,
        Disposition.REFUSE,
        after,
        f"{failure.message}, and the next try would come {_span(waited + after)} after the first; "
        f"this run waits {_span(most_wait)} for capacity",
        "start a run later, with a longer --max-wait, or with another model",
    )


def changed(
    failure: ModelFailure,
    disposition: Disposition,
    after: float | None,
    message: str = "",
    next_: str = "",
) -> ModelFailure:
    """Give a failure with something else done about it; what is "" stays."""
    made = ModelFailure(
        failure.code,
        message or failure.message,
        disposition,
        retry_after=after,
        partial=failure.partial,
        next=next_ or failure.next,
    )
    made.falls_back = failure.falls_back
    return made


def _span(seconds: float) -> str:
    """Say a span in the largest unit that it fills."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"
