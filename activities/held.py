"""Keeps what an execution holds in its hand until the ledger takes it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

T = TypeVar("T")

PAUSE = 0.5
"""Seconds between two tries."""

MOMENT = 1.0
"""Seconds in which a ledger that answers has taken an outcome."""

_kept: set[asyncio.Task[Any]] = set()
"""The event loop itself holds its tasks only weakly."""

log = structlog.get_logger()


async def held(record: Callable[[], Awaitable[T]]) -> T:
    """Record an outcome, trying again while the ledger does not answer.

    An activity that failed here would be run again without what this execution knows: an
    effect would become unknown, an answer would be paid for twice. So the recording also
    goes on where the activity is cancelled; that waits for it a moment, since what comes
    next had better know.
    """
    task = keep(_until_taken(record))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task}, timeout=MOMENT)
        raise


def keep(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start work that goes on whatever becomes of the activity that began it."""
    task = asyncio.create_task(work)
    _kept.add(task)
    task.add_done_callback(_ended)
    return task


def _ended(task: asyncio.Task[Any]) -> None:
    _kept.discard(task)
    if not task.cancelled() and (failed := task.exception()) is not None:
        log.warning("record_failed", error=type(failed).__name__)


async def _until_taken(record: Callable[[], Awaitable[T]]) -> T:
    while True:
        try:
            return await record()
        except LegatoError as exc:
            if exc.code != "ledger_unreachable":
                raise
        await asyncio.sleep(PAUSE)
