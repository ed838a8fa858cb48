"""Tells what one MCP server offers now: a program that prints one JSON document."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from activities.mcp.ask import connected, offered
from activities.mcp.run import Talk, converse, unavailable
from activities.mcp.servers import Servers, open_server
from domain.errors import LegatoError, refused
from domain.mcp.bring import clashes, unfit
from domain.mcp.declared import find_server
from legato.leave import leave
from legato.log import configure_log
from legato.mcp_servers import read_file
from legato.settings import environment, load_settings, secret

if TYPE_CHECKING:
    from domain.mcp.declared import Server
    from domain.mcp.snapshot import OfferedTool

LIMIT = 60.0
"""Seconds in which a server must have told its tools."""


def main() -> None:
    """Ask the server that the first argument names."""
    configure_log()
    home = load_settings(environment()).home
    servers = Servers(lambda: read_file(home), secret)
    try:
        said = offer(servers, sys.argv[1])
    except LegatoError as exc:
        parts = {"code": exc.code, "message": exc.message, "cause": exc.cause, "next": exc.next}
        said = {"error": {**parts, "kind": exc.kind.value}}
    sys.stdout.write(json.dumps(said) + "\n")
    sys.stdout.flush()
    leave(0)


def offer(servers: Servers, name: str) -> dict[str, object]:
    """Ask a server; gives its `tools` and which of them are `unfit`, raises what is wrong with it.

    Raises `server_unavailable` and `server_refused`, and what `open_server` raises.
    """
    server = find_server(servers.declared(), name)
    talk = Talk(open_server(servers, server))
    found: list[OfferedTool] = []

    async def ask() -> None:
        async with connected(talk.opened, talk.trace, LIMIT) as session:
            found.extend(await offered(session, talk.opened))
            listed.append(True)

    listed: list[bool] = []
    converse(talk, ask(), LIMIT)
    if not listed:
        outcome = unavailable(talk)
        message, _, step = outcome.text.partition("\nNext: ")
        raise LegatoError(outcome.code, message, next=step)
    return told(server, found)


def told(server: Server, found: list[OfferedTool]) -> dict[str, object]:
    """Part what can be had from what cannot."""
    problems = {tool.name: unfit(server, tool) for tool in found}
    fit = [tool for tool in found if not problems[tool.name]]
    clashing = clashes(server, fit)
    if clashing:
        raise refused(
            "mcp_name_taken",
            f"tools of {server.name} would have one name: {'; '.join(clashing)}",
            next="give them other names in mcp.toml",
        )
    return {
        "tools": [tool.model_dump(mode="json") for tool in sorted(fit, key=lambda one: one.name)],
        "unfit": {name: why for name, why in sorted(problems.items()) if why},
    }


if __name__ == "__main__":
    main()
