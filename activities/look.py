"""Reads what the ledger says of a stop and of a wait, and records a wait's beginning and end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from temporalio import activity

from activities.budgeting import halted
from activities.context import causation, temporal_run
from activities.record import Record, attach, author_of, refresh
from domain.events import Fact, InputSettled, RunResumed, RunWaiting
from domain.ids import run_stream
from domain.runs.inputs import How
from domain.runs.steps import LookInput, LookResult, Written
from ledger.append import Part, TakenError, append
from ledger.connect import reaching
from ledger.reads import clock

if TYPE_CHECKING:
    from activities.world import World
    from domain.runs.run import InputState

Look = Callable[[LookInput], Awaitable[LookResult]]


@dataclass(frozen=True)
class Left:
    """How many seconds a wait still lasts, below 0 for ever; `until` where nothing else says."""

    seconds: float
    until: str = ""


def make_look(world: World) -> Look:
    """Bind the activity to its world."""

    @activity.defn(name="look")
    async def run(arg: LookInput) -> LookResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        first = record.run.version
        if record.run.ended is not None:
            return LookResult(stop=True, reason="run_closed")
        if record.run.halted:
            return LookResult(stop=True, reason=halted(record).code)
        if not arg.ref:
            return LookResult()
        left = await _expire(world, record, arg)
        record = await refresh(world.ledger, world.records, arg.run_id)
        resolved = await _mark(world, record, arg, left)
        record = await refresh(world.ledger, world.records, arg.run_id)
        written = Written(first, record.run.version, record.head)
        return LookResult(resolved=resolved, expires_in=left.seconds, written=written)

    return run


def _state(record: Record, ref: str) -> InputState | None:
    return next((s for s in record.run.inputs if s.asked.input_id == ref), None)


async def _expire(world: World, record: Record, arg: LookInput) -> Left:
    """Say how long the wait still lasts; settles a question whose time is over."""
    state = _state(record, arg.ref)
    if state is None:
        return await _until(world, record, arg)
    if state.settled is not None or state.asked.expires_at is None:
        return Left(-1.0)
    left = await _left(world, state.asked.expires_at)
    if left > 0:
        return Left(left)
    question = state.asked.question
    fact = InputSettled(
        input_id=arg.ref, how=How.EXPIRED, answer=question.on_expiry, by="ledger-clock"
    )
    await _append(world, record, fact)
    return Left(-1.0)


async def _until(world: World, record: Record, arg: LookInput) -> Left:
    """Say how long a wait without a question lasts: its end is recorded as it begins."""
    if arg.seconds <= 0:
        return Left(-1.0)
    begun = _standing(record, arg)
    if begun is None and not arg.begin:
        return Left(0.0)
    if begun is None and arg.until:
        return Left(max(0.0, await _left(world, arg.until)), arg.until)
    if begun is None:
        with reaching():
            until = await clock(world.ledger) + timedelta(seconds=arg.seconds)
        return Left(arg.seconds, until.isoformat())
    if not begun.until:
        return Left(0.0 if arg.due else arg.seconds)
    return Left(max(0.0, await _left(world, begun.until)), begun.until)


async def _left(world: World, until: str) -> float:
    with reaching():
        now = await clock(world.ledger)
    return (datetime.fromisoformat(until) - now).total_seconds()


async def _mark(world: World, record: Record, arg: LookInput, left: Left) -> bool:
    """Tell whether the wait is over, and record its beginning or its end.

    Waits are numbered by the ledger: a Temporal run that begins anew counts its own.
    """
    state = _state(record, arg.ref)
    resolved = state.settled is not None if state is not None else left.seconds == 0
    standing = _standing(record, arg)
    if not resolved and record.run.waiting is None:
        await _append(world, record, _waiting(record, arg, left))
    if resolved and standing is not None:
        await _append(world, record, RunResumed(n=standing.n))
    return resolved


def _standing(record: Record, arg: LookInput) -> RunWaiting | None:
    """Give the wait that stands, if it is the one that is asked about."""
    standing = record.run.waiting
    if standing is None or (standing.on, standing.ref) != (arg.on, arg.ref):
        return None
    return standing


def _waiting(record: Record, arg: LookInput, left: Left) -> RunWaiting:
    n = record.run.waits + 1
    return RunWaiting(n=n, on=arg.on, ref=arg.ref, until=left.until, why=arg.why)


async def _append(world: World, record: Record, fact: Fact) -> None:
    stream = run_stream(record.run.accepted.run_id if record.run.accepted else "")
    try:
        await append(world.ledger, author_of(record, causation()), Part(stream, (fact,)))
    except TakenError:
        return
