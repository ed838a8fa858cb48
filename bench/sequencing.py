"""Sequencing passes beside whatever is measured, as a worker runs them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from workers.sequence import sequence

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from ledger.connect import Ledger


@asynccontextmanager
async def sequencing(ledger: Ledger) -> AsyncGenerator[None]:
    """Run the passes of a worker meanwhile, at its own pace."""
    stop = asyncio.Event()
    task = asyncio.create_task(sequence(ledger, stop))
    try:
        yield
    finally:
        stop.set()
        await task
