"""Follows the feed and hands over to Temporal what it must hear of; needs no leader."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import structlog
from temporalio.service import RPCError, RPCStatusCode

from domain.errors import Kind, LegatoError
from domain.runs.hand_over import HANDED_OVER
from ledger.connect import UNREACHABLE
from ledger.feed import (
    Damaged,
    read_feed,
    read_feed_head,
    read_mark,
    write_mark,
)
from ledger.parked import park
from legato.client import RELAY, hand_over, run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.reads import Stored
    from legato.client import HandOver

log = structlog.get_logger()

IDLE = 0.3
"""Seconds between two looks at the ledger when there is nothing new."""

RETRY = 1.0
TOO_LARGE = "larger than max"


def _nothing(_name: str) -> None:
    """Pass each named place; a test may have the process killed there."""


async def relay(to: HandOver, stop: asyncio.Event, kill: Callable[[str], None] = _nothing) -> None:
    """Hand over until told to stop; the mark moves only when Temporal has answered."""
    while not stop.is_set():
        pause = IDLE
        try:
            if await hand_over_new(to, kill):
                continue
        except (LegatoError, RPCError, *UNREACHABLE) as exc:
            log.warning("relay_waits", error=type(exc).__name__)
            pause = RETRY
        except Exception as exc:
            log.exception("relay_failed", error=type(exc).__name__)
            pause = RETRY
        try:
            await asyncio.wait_for(stop.wait(), pause)
        except TimeoutError:
            continue


async def hand_over_new(to: HandOver, kill: Callable[[str], None] = _nothing) -> bool:
    """Hand over one batch; tells whether there was anything.

    The feed's head is read before the batch: whatever has a number up to there stays, so
    that the mark may pass what is of other types and need not be looked at again.
    """
    mark = await read_mark(to.ledger, RELAY)
    head = (await read_feed_head(to.ledger)).global_seq
    if head <= mark:
        return False
    batch = await read_feed(to.ledger, mark, HANDED_OVER, until=head)
    for numbered in batch:
        if isinstance(numbered, Damaged):
            await _leave(to, numbered, numbered.type, numbered.code)
        else:
            place = f"hand_over:{run_of(numbered.stored)}"
            kill(f"before:{place}")
            await _one(to, numbered.stored)
            kill(f"after:{place}")
        await write_mark(to.ledger, RELAY, numbered.global_seq)
    if not batch:
        await write_mark(to.ledger, RELAY, head)
    return bool(batch)


async def _one(to: HandOver, stored: Stored) -> None:
    """Hand one event over, or remember it as one that can never be and go on."""
    event, run_id = str(stored.envelope["event_id"]), run_of(stored)
    try:
        await hand_over(to, stored.fact, event, run_id)
    except (LegatoError, RPCError, TypeError, ValueError) as exc:
        code = final_code(exc)
        if not code:
            raise
        await _leave(to, stored, stored.fact.type, code)
        return
    log.info("handed_over", type=stored.fact.type, event_id=event, run_id=run_id)


async def _leave(to: HandOver, event: Stored | Damaged, type_name: str, code: str) -> None:
    """Remember an event as one that can never be handed over."""
    await park(to.ledger, RELAY, event, code)
    place = {"stream": event.stream, "version": event.version}
    log.error("parked", type=type_name, code=code, **place)


def final_code(exc: Exception) -> str:
    """Name what no repetition changes: a request that Temporal calls wrong, or ours broken.

    Ours are broken where the run's own record is damaged. Gives "" for everything that can
    pass: servers that are away, limits, rights, settings, events of another build.
    """
    if isinstance(exc, LegatoError):
        return exc.code if exc.kind is Kind.BUG and exc.code != "event_unknown" else ""
    if not isinstance(exc, RPCError):
        return type(exc).__name__
    too_large = exc.status is RPCStatusCode.RESOURCE_EXHAUSTED and TOO_LARGE in exc.message
    return exc.status.name if exc.status is RPCStatusCode.INVALID_ARGUMENT or too_large else ""
