"""Reads, for a build, the servers that a request may have tools of: declared and accepted."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.mcp.bring import ServerSource, asked_servers
from domain.mcp.declared import find_server, secret_names
from ledger.connect import reaching
from ledger.mcp import read_accepted

if TYPE_CHECKING:
    from activities.mcp.servers import Servers
    from domain.agents.request import AgentRequest, Sources
    from domain.mcp.declared import Declared
    from ledger.connect import Ledger


async def with_servers_read(
    ledger: Ledger, servers: Servers, request: AgentRequest, sources: Sources
) -> Sources:
    """Add the servers that the request names, and with a saved step all that are declared."""
    names = asked_servers(request.mcp, request.tools or ())
    if not names and not request.step_file and not request.environment:
        return sources
    declared = await asyncio.to_thread(servers.declared)
    more = sorted(declared.servers) if request.step_file else []
    read = [await _read(ledger, declared, name) for name in dict.fromkeys([*names, *more])]
    return replace(sources, servers=tuple(read), server_secrets=secret_names(declared))


async def _read(ledger: Ledger, declared: Declared, name: str) -> ServerSource:
    try:
        server = find_server(declared, name)
    except LegatoError as exc:
        return ServerSource(name, None, None, f"{exc.message}; {exc.next}")
    with reaching():
        stands = await read_accepted(ledger, name)
    return ServerSource(name, server, stands.fact if stands is not None else None)
