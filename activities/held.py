"""Keeps what an execution holds in its hand until the ledger takes it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

T = TypeVar("T")

PAUSE = 0.5
"""Seconds between two tries."""


async def held(record: Callable[[], Awaitable[T]]) -> T:
    """Record an outcome, trying again while the ledger does not answer.

    An activity that failed here would be run again, without what this execution knows: an
    effect would become unknown, an answer would be paid for twice. The activity's own
    limit and its cancellation end the wait.
    """
    while True:
        try:
            return await record()
        except LegatoError as exc:
            if exc.code != "ledger_unreachable":
                raise
        await asyncio.sleep(PAUSE)
