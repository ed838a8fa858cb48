"""Moves the projections on beside a worker: batches without end, as the feed grows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from domain.errors import LegatoError
from ledger.connect import UNREACHABLE
from ledger.projections.project import Projector, project_once

if TYPE_CHECKING:
    from ledger.connect import Ledger

log = structlog.get_logger()

IDLE = 0.1
"""Seconds after a look that found nothing, or another process at it."""

BATCH = 250
"""Events of one batch: the worker's other work waits while it is projected."""

BUSY = 0.01
RETRY = 5.0
"""Seconds after a refusal: it is said again in the log until somebody does its next step."""


async def project(ledger: Ledger, stop: asyncio.Event) -> None:
    """Move the rows on until told to stop; any number of workers may do so at once."""
    projector = Projector()
    while not stop.is_set():
        pause = RETRY
        try:
            taken = await project_once(ledger.pool, projector, limit=BATCH)
            pause = BUSY if taken else IDLE
        except LegatoError as exc:
            log.error("projections_stand", code=exc.code, cause=exc.cause, next=exc.next)  # noqa: TRY400 - the code says it all
        except UNREACHABLE as exc:
            log.warning("projecting_waits", error=type(exc).__name__)
        except Exception as exc:
            log.exception("projecting_failed", error=type(exc).__name__)
        try:
            await asyncio.wait_for(stop.wait(), pause)
        except TimeoutError:
            continue
