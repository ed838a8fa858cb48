"""What a model request that came to nothing leads to: recorded, and decided on once."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from temporalio.exceptions import ApplicationError

from activities.context import causation
from activities.held import held
from activities.record import Record, accepted_of, append_own, author_of, defined_of
from domain.errors import LegatoError
from domain.events import Fact, ModelFailed
from domain.ids import run_stream
from domain.ports import Disposition, ModelFailure
from domain.runs.compaction import plan_cut
from domain.runs.fallback import or_fall_back
from domain.runs.patience import patient
from domain.runs.position import TOO_LARGE
from domain.runs.steps import StepResult
from ledger.append import Part, TakenError
from ledger.connect import reaching
from ledger.reads import clock

if TYPE_CHECKING:
    from activities.world import World
    from domain.events import ModelRequested
    from ledger.append import Appended

FELL_BACK = StepResult("again", "fell_back")
"""What a request comes to whose step goes on with the other model."""


def decided(record: Record, asked: ModelRequested, failure: ModelFailure) -> ModelFailure:
    """Decide what a failure means after what the step has been through, and with what is left."""
    runtime, step = defined_of(record).runtime, record.run.step
    other = bool(runtime.fallback) and asked.model != runtime.fallback
    return or_fall_back(patient(failure, step, runtime.max_wait), step, other=other)


async def record_failure(
    world: World, record: Record, asked: ModelRequested, failure: ModelFailure
) -> None:
    """Record why a request came to nothing."""
    fact = ModelFailed(
        turn=asked.turn,
        step=asked.step,
        n=asked.n,
        code=failure.code,
        message=_said(failure),
        disposition=failure.disposition.value,
        retry_after=failure.retry_after,
        partial=failure.partial,
    )
    try:
        await held(lambda: append_run(world, record, fact))
    except TakenError:
        return
    except LegatoError as exc:
        if exc.code != "run_closed":
            raise


def _said(failure: ModelFailure) -> str:
    """Say what failed and, where the run ends with it, what to do."""
    if failure.disposition is Disposition.RETRY or not failure.next:
        return failure.message
    return f"{failure.message}: {failure.next}"


async def after_failure(
    world: World, record: Record, asked: ModelRequested, failure: ModelFailure
) -> StepResult:
    """Say what the engine does about a failed request."""
    match failure.disposition:
        case Disposition.RETRY:
            delay = timedelta(seconds=failure.retry_after) if failure.retry_after else None
            raise ApplicationError(
                failure.code, type=failure.code, next_retry_delay=delay
            ) from None
        case Disposition.CAPACITY:
            return await for_capacity(world, failure.code, failure.retry_after or 0.0)
        case Disposition.OVERFLOW:
            return _overflow(record, asked)
        case Disposition.FALLBACK:
            return FELL_BACK
        case Disposition.REFUSE:
            return StepResult("failed", failure.code)


def _overflow(record: Record, asked: ModelRequested) -> StepResult:
    """Have the conversation compacted, once a step and where something lies before the step."""
    last = record.run.compacted
    again = last is not None and (last.turn, last.step) == (asked.turn, asked.step)
    if again or plan_cut(record.transcript, asked.turn) is None:
        return StepResult("failed", TOO_LARGE)
    return StepResult("overflow", "context_overflow")


async def for_capacity(world: World, code: str, seconds: float) -> StepResult:
    """Say that the step waits so many seconds for capacity, from now by the ledger's clock."""
    with reaching():
        until = await clock(world.ledger) + timedelta(seconds=seconds)
    return StepResult("capacity", code, retry_after=seconds, until=until.isoformat())


async def append_run(world: World, record: Record, *facts: Fact) -> Appended:
    """Append facts to the run's own stream; raises what `append` does."""
    stream = run_stream(accepted_of(record).run_id)
    author = author_of(record, causation())
    return await append_own(world.ledger, record, author, Part(stream, facts))
