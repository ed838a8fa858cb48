"""Follows the ledger and hands over to Temporal what it must hear of; needs no leader."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from temporalio.service import RPCError

from domain.errors import LegatoError
from ledger.reads import read_mark, read_since, write_mark
from legato.client import HANDED_OVER, hand_over, run_of

if TYPE_CHECKING:
    from ledger.reads import Stored
    from legato.client import HandOver

log = structlog.get_logger()

RELAY = "temporal"
IDLE = 0.3
"""Seconds between two looks at the ledger when there is nothing new."""

RETRY = 1.0


async def relay(to: HandOver, stop: asyncio.Event) -> None:
    """Hand over until told to stop; the mark moves only when Temporal has answered."""
    while not stop.is_set():
        pause = IDLE
        try:
            if await _pass(to):
                continue
        except (LegatoError, RPCError, OSError) as exc:
            log.warning("relay_waits", error=type(exc).__name__)
            pause = RETRY
        except Exception as exc:
            log.exception("relay_failed", error=type(exc).__name__)
            pause = RETRY
        try:
            await asyncio.wait_for(stop.wait(), pause)
        except TimeoutError:
            continue


async def _pass(to: HandOver) -> bool:
    """Hand over one batch; tells whether there was anything."""
    mark = await read_mark(to.ledger, RELAY)
    batch = await read_since(to.ledger, mark, HANDED_OVER)
    for stored in batch:
        await _one(to, stored)
        await write_mark(to.ledger, RELAY, (stored.order_key, stored.pos))
    return bool(batch)


async def _one(to: HandOver, stored: Stored) -> None:
    event = str(stored.envelope["event_id"])
    await hand_over(to, stored.fact, event, run_of(stored))
    log.info("handed_over", type=stored.fact.type, event_id=event, run_id=run_of(stored))
