"""Reads what was said in a session before one of its runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import SessionTaken
from domain.ids import run_stream, session_stream
from domain.runs.transcript import Earlier
from ledger.reads import read_stream

if TYPE_CHECKING:
    from domain.events import RunAccepted
    from ledger.connect import Ledger


async def read_earlier(ledger: Ledger, accepted: RunAccepted) -> tuple[Earlier, ...]:
    """Read the session's runs before this one, the oldest first."""
    earlier: list[Earlier] = []
    for taken in await read_stream(ledger, session_stream(accepted.session)):
        if not isinstance(taken.fact, SessionTaken):
            continue
        if taken.fact.run_id == accepted.run_id:
            break
        stored = await read_stream(ledger, run_stream(taken.fact.run_id))
        facts = tuple(event.fact for event in stored)
        earlier.append(Earlier(f"{taken.fact.run_id[:8]}/", facts))
    return tuple(earlier)
