"""Numbers the feed beside a worker: passes without end, as fast as there is something new."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from domain.errors import LegatoError
from ledger.connect import UNREACHABLE
from ledger.sequence import PASS, sequence_once

if TYPE_CHECKING:
    from ledger.connect import Ledger

log = structlog.get_logger()

BUSY = 0.02
"""Seconds after a pass that found something: more often costs the writers throughput."""

IDLE = 0.04
"""Seconds after a pass that found nothing: commit to number stays well below 100 ms."""

RETRY = 1.0


async def sequence(ledger: Ledger, stop: asyncio.Event) -> None:
    """Run sequencing passes until told to stop; any number of workers may do so at once."""
    while not stop.is_set():
        try:
            taken = await sequence_once(ledger.pool)
            pause = 0.0 if taken == PASS else BUSY if taken else IDLE
        except LegatoError as exc:
            log.error("feed_stands", code=exc.code, cause=exc.cause, next=exc.next)  # noqa: TRY400 - the code says it all
            pause = RETRY
        except UNREACHABLE as exc:
            log.warning("sequencing_waits", error=type(exc).__name__)
            pause = RETRY
        except Exception as exc:
            log.exception("sequencing_failed", error=type(exc).__name__)
            pause = RETRY
        if pause:
            await _wait(stop, pause)


async def _wait(stop: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return
