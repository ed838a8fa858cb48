"""Reads, for a build, the servers that a request may have tools of: declared and accepted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.mcp.bring import ServerSource, asked_servers
from domain.mcp.declared import find_server
from ledger.connect import reaching
from ledger.mcp import read_accepted

if TYPE_CHECKING:
    from activities.mcp.servers import Servers
    from domain.agents.request import AgentRequest
    from domain.mcp.declared import Declared
    from ledger.connect import Ledger


async def read_servers(
    ledger: Ledger, servers: Servers, request: AgentRequest
) -> tuple[ServerSource, ...]:
    """Read those that the request names, and with a saved step all that are declared."""
    names = asked_servers(request.mcp, request.tools or ())
    if not names and not request.step_file:
        return ()
    declared = await asyncio.to_thread(servers.declared)
    more = sorted(declared.servers) if request.step_file else []
    return tuple([await _read(ledger, declared, name) for name in dict.fromkeys([*names, *more])])


async def _read(ledger: Ledger, declared: Declared, name: str) -> ServerSource:
    try:
        server = find_server(declared, name)
    except LegatoError as exc:
        return ServerSource(name, None, None, f"{exc.message}; {exc.next}")
    with reaching():
        stands = await read_accepted(ledger, name)
    return ServerSource(name, server, stands.fact if stands is not None else None)
