"""Keeps the newest root of the feed outside the database, beside a worker."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog

from ledger.anchors import newest_checkpoint, write_anchor
from ledger.connect import UNREACHABLE

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.connect import Ledger

log = structlog.get_logger()

LOOK = 10.0
"""Seconds between two looks for a new checkpoint, of which there is one a minute."""


async def anchor(ledger: Ledger, folder: Path, stop: asyncio.Event) -> None:
    """Write each new checkpoint to the folder until told to stop."""
    while not stop.is_set():
        try:
            newest = await newest_checkpoint(ledger)
            if newest is not None:
                await asyncio.to_thread(write_anchor, folder, newest)
        except UNREACHABLE as exc:
            log.warning("anchoring_waits", error=type(exc).__name__)
        except Exception as exc:
            log.exception("anchoring_failed", error=type(exc).__name__)
        try:
            await asyncio.wait_for(stop.wait(), LOOK)
        except TimeoutError:
            continue
