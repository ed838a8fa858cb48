"""Shows the text of a response to viewers while it is still coming."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

import asyncpg
import structlog

from domain.runs.cursor import Piece, Request
from ledger.connect import UNREACHABLE
from ledger.live import drop_pieces, write_piece

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from ledger.connect import Ledger

EVERY = 0.1
"""Seconds of text in one piece. An answer that is complete before is never written."""

AGAIN = 1.0
"""Seconds until a ledger that did not take a piece is tried again."""

log = structlog.get_logger()


@dataclass(frozen=True)
class Coming:
    """Text that has come and is not shown yet; `written` once any has been."""

    waiting: list[str] = field(default_factory=list[str])
    some: asyncio.Event = field(default_factory=asyncio.Event)
    written: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, text: str) -> None:
        """Take some more text."""
        self.waiting.append(text)
        self.some.set()

    def take(self) -> str:
        """Give all that waits, as text that Postgres can hold."""
        text = "".join(self.waiting).replace("\0", "\N{REPLACEMENT CHARACTER}")
        self.waiting.clear()
        self.some.clear()
        return text


@asynccontextmanager
async def shown(
    ledger: Ledger, run_id: str, request: Request
) -> AsyncGenerator[Callable[[str], None]]:
    """Give what takes each bit of text; all that was shown is dropped at the end.

    Viewers are a comfort: a ledger that does not answer fails neither the request nor its
    record, the text waits for the next piece.
    """
    coming = Coming()
    writing = asyncio.create_task(_write(ledger, run_id, request, coming))
    try:
        yield coming.add
    finally:
        writing.cancel()
        with suppress(asyncio.CancelledError):
            await writing
        if coming.written.is_set():
            with suppress(*UNREACHABLE, asyncpg.PostgresError):
                await drop_pieces(ledger, run_id)


async def _write(ledger: Ledger, run_id: str, request: Request, coming: Coming) -> None:
    """Write what has gathered, until cancelled."""
    for seq in count(1):
        await coming.some.wait()
        await asyncio.sleep(EVERY)
        piece = Piece(request, seq, coming.take())
        await _written(ledger, run_id, piece, coming.written)


async def _written(ledger: Ledger, run_id: str, piece: Piece, written: asyncio.Event) -> None:
    """Write one piece, the first of them after what an earlier worker left."""
    while True:
        try:
            if not written.is_set():
                await drop_pieces(ledger, run_id)
                written.set()
            await write_piece(ledger, run_id, piece)
        except (*UNREACHABLE, asyncpg.PostgresError) as exc:
            log.info("piece_not_written", error=type(exc).__name__)
            await asyncio.sleep(AGAIN)
        else:
            return
