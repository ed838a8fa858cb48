"""Which model a request goes to, and which continuations it cannot take along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.ports import Disposition, ModelFailure
from domain.runs.conversation import AssistantMessage
from domain.runs.model_name import parse_model
from domain.runs.patience import SHORT_TRIES, changed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.agents.definition import RuntimeConfig
    from domain.runs.conversation import Message
    from domain.runs.run import Run, StepState


def model_now(run: Run, runtime: RuntimeConfig, turn: int) -> str:
    """Name the model of the next request: the run's own, or the other one.

    The other one is asked for the rest of the turn in which the first one failed, so that
    what it alone understands is not dropped at each step.
    """
    if not runtime.fallback:
        return runtime.model
    step = run.step
    failed = step.failed if step is not None and step.turn == turn else None
    gone = failed is not None and failed.disposition == Disposition.FALLBACK
    return runtime.fallback if gone or run.fell_back == turn else runtime.model


def or_fall_back(failure: ModelFailure, step: StepState | None, *, other: bool) -> ModelFailure:
    """Go on to the other model, where there is one, instead of waiting or ending.

    A failure that would be tried again does so at the fourth time in a row.
    """
    if not other or not failure.falls_back:
        return failure
    tries = step.failures if step is not None else 0
    if failure.disposition is Disposition.RETRY and tries < SHORT_TRIES:
        return failure
    return changed(failure, Disposition.FALLBACK, None)


def foreign_natives(messages: Iterable[Message], model: str) -> int:
    """Count the answers whose provider's own form another model cannot be given."""
    try:
        key = parse_model(model).key
    except LegatoError:
        return 0
    return sum(
        isinstance(one, AssistantMessage) and one.native is not None and one.native.key != key
        for one in messages
    )
