"""Holds an execution to the working time that its run has left: recorded first, then ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from activities.context import causation, end_working_time, is_over, worked
from activities.record import Record, accepted_of, append_own, author_of, refresh
from domain.budget_events import BudgetSpent
from domain.errors import LegatoError
from domain.ids import run_stream
from domain.runs.working import vouch
from ledger.append import Part, TakenError, VersionConflictError
from ledger.connect import reaching
from ledger.reads import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from activities.world import World

T = TypeVar("T")

PAUSE = 1.0
"""Seconds between two looks at a ledger that does not answer."""


async def within_working_time(
    world: World, record: Record, work: Callable[[], Coroutine[None, None, T]]
) -> T | None:
    """Do what an activity is asked; None where the run's working time was over, or ended in it.

    That it is over is recorded before the work is cancelled, and what runs then ends as it
    does in a stop. What raises a limit meanwhile is heard.
    """
    run_id = accepted_of(record).run_id
    if record.run.budget.seconds is None:
        return None if record.run.over is not None else await work()
    left = await _left(world, run_id)
    if left is None:
        return None
    task = asyncio.create_task(work())
    while not task.done():
        try:
            await asyncio.wait({task}, timeout=left)
            if not task.done() and not is_over():
                left = await _left(world, run_id)
                if left is None:
                    end_working_time()
                    task.cancel()
        except asyncio.CancelledError:
            task.cancel()
    if is_over() and task.cancelled():
        return None
    return task.result()


async def _left(world: World, run_id: str) -> float | None:
    """Seconds that the run may still work; None once it is recorded that there are none."""
    while True:
        try:
            record = await refresh(world.ledger, world.records, run_id)
            if record.run.over is not None or record.run.ended is not None:
                return None if record.run.ended is None else 3600.0
            hard = record.run.budget.seconds
            if hard is None:
                return 3600.0
            seconds = await worked_so_far(world, record)
            if seconds < hard:
                return hard - seconds
            fact = BudgetSpent(
                reason="budget_seconds", limit="seconds", spent=f"{seconds:.3f}", hard=f"{hard:g}"
            )
            with suppress(VersionConflictError, TakenError):
                await spend_out(world, record, fact)
        except LegatoError as exc:
            if exc.code != "ledger_unreachable":
                raise
            await asyncio.sleep(PAUSE)


async def worked_so_far(world: World, record: Record) -> float:
    """Seconds that the run has worked by now, this execution included."""
    with reaching():
        now = await moment(world.ledger)
    return vouch(record.work, now, worked()).seconds


async def spend_out(world: World, record: Record, fact: BudgetSpent) -> None:
    """Record that a limit is reached, asserting what it was decided on.

    A limit that is raised at the same moment makes it raise `version_conflict`.
    """
    part = Part(run_stream(accepted_of(record).run_id), (fact,), record.run.version)
    await append_own(world.ledger, record, author_of(record, causation()), part)
