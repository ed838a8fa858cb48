"""What was accepted of MCP servers: read, and appended when a person accepts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from domain.errors import refused
from domain.events import McpAccepted
from domain.ids import mcp_stream
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.reads import read_last

if TYPE_CHECKING:
    from ledger.connect import Ledger
    from ledger.encode import Author


@dataclass(frozen=True)
class Accepted:
    """What stands of a server: the fact, who accepted it, and when."""

    fact: McpAccepted
    by: str
    at: datetime


async def read_accepted(ledger: Ledger, server: str) -> Accepted | None:
    """Read what was accepted of a server last, None where nothing was."""
    stored = await read_last(ledger, mcp_stream(server))
    if stored is None or not isinstance(stored.fact, McpAccepted):
        return None
    return Accepted(stored.fact, str(stored.envelope.get("actor", "")), stored.recorded_at)


async def accept(ledger: Ledger, author: Author, fact: McpAccepted) -> None:
    """Append what a person accepts as the server's n-th; raises `mcp_accepted_meanwhile`."""
    part = Part(mcp_stream(fact.server), (fact,), fact.n - 1)
    try:
        await append(ledger, author, part)
    except (VersionConflictError, TakenError):
        raise refused(
            "mcp_accepted_meanwhile",
            f"somebody else accepted tools of {fact.server} in this moment",
            next=f"look at `legato mcp check {fact.server}` again",
        ) from None
