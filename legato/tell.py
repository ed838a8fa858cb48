"""Tells Temporal of a fact at once, where the relay would do it a moment later."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
from temporalio.service import RPCError

from domain.errors import LegatoError
from domain.events import event_id
from legato.client import HandOver, connect, hand_over

if TYPE_CHECKING:
    from domain.events import Fact
    from legato.door import Door

LIMIT = 2.0
"""Seconds given to it; after that the relay's turn is soon enough."""


async def tell_at_once(door: Door, fact: Fact, run_id: str) -> bool:
    """Hand over once; False where Temporal did not answer, which changes nothing."""
    try:
        async with asyncio.timeout(LIMIT):
            client = await connect(door.stack.temporal_address, door.stack.temporal_namespace)
            to = HandOver(client, door.ledger, door.settings.most_events)
            await hand_over(to, fact, event_id(fact), run_id)
    except (LegatoError, RPCError, OSError, TimeoutError, asyncpg.PostgresError):
        return False
    return True
