"""The commands `mcp list`, `mcp check` and `mcp accept`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from domain.errors import refused
from domain.mcp.bring import spec_of
from domain.mcp.declared import find_server
from ledger.mcp import read_accepted
from legato.cli.console import Call, json_option, run_async
from legato.cli.screens.mcp import accepted_screen, check_screen, list_screen
from legato.mcp_servers import accept_server, check_server, read_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.mcp.declared import Server
    from domain.mcp.snapshot import McpAccepted, OfferedTool
    from ledger.mcp import Accepted
    from legato.mcp_servers import Checked

_WAITS = 5
_LEAST_DIGEST = 8


@click.group("mcp")
@json_option
def mcp_command() -> None:
    """Look at the MCP servers declared in LEGATO_HOME/mcp.toml, and accept their tools."""


@mcp_command.command("list")
@json_option
@click.pass_obj
def list_command(call: Call) -> int:
    """List the declared servers and what was accepted of each; asks no server.

    Exit status 3 where one cannot be used.
    """

    async def work() -> list[dict[str, object]]:
        declared = read_file(call.settings().home)
        if not declared.servers:
            return _broken(declared.problems)
        async with call.door() as door:
            rows = [
                _row(server, await read_accepted(door.ledger, name))
                for name, server in sorted(declared.servers.items())
            ]
        return [*rows, *_broken(declared.problems)]

    rows = run_async(work())
    ok = not any(row["problems"] for row in rows)
    call.show({"ok": ok, "servers": rows}, lambda: list_screen(rows))
    return 0 if ok else 3


def _row(server: Server, accepted: Accepted | None) -> dict[str, object]:
    state = "not accepted"
    if accepted is not None:
        state = "accepted" if accepted.fact.address == server.address else "moved"
    return {
        "name": server.name,
        "address": server.address,
        "state": state,
        "tools": len(accepted.fact.tools) if accepted is not None else 0,
        "accepted": _stands(accepted),
        "problems": [],
    }


def _broken(problems: Mapping[str, tuple[str, ...]]) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "address": "",
            "state": "invalid",
            "tools": 0,
            "accepted": None,
            "problems": list(wrong),
        }
        for name, wrong in sorted(problems.items())
    ]


@mcp_command.command("check")
@click.argument("name")
@json_option
@click.pass_obj
def check_command(call: Call, name: str) -> int:
    """Ask server NAME for its tools and compare them with what was accepted.

    Exit status 0 where nothing differs, 5 where a person has to accept something.
    """
    find_server(read_file(call.settings().home), name)

    async def work() -> Checked:
        async with call.door() as door:
            return await check_server(door, name)

    checked = run_async(work())
    document = {"ok": checked.same, **_document(checked)}
    call.show(document, lambda: check_screen(checked))
    return 0 if checked.same else _WAITS


@mcp_command.command("accept")
@click.argument("name")
@click.option(
    "--digest", default="", metavar="HEX", help="Accept only what `mcp check` showed with it."
)
@json_option
@click.pass_obj
def accept_command(call: Call, name: str, digest: str) -> int:
    """Accept the tools of server NAME as it offers them now, for agents built from now on."""
    find_server(read_file(call.settings().home), name)

    async def work() -> tuple[Checked, McpAccepted]:
        async with call.door() as door:
            checked = await check_server(door, name)
            _require_digest(checked, digest)
            return checked, await accept_server(door, checked)

    checked, fact = run_async(work())
    document = {"ok": True, "n": fact.n, **_document(checked)}
    call.show(document, lambda: accepted_screen(checked, fact))
    return 0


def _require_digest(checked: Checked, digest: str) -> None:
    """Refuse to accept something else than what was looked at."""
    if not digest:
        return
    if len(digest) < _LEAST_DIGEST or not checked.digest.startswith(digest.lower()):
        name = checked.server.name
        raise refused(
            "mcp_digest_differs",
            f"{name} does not offer what has the digest {digest}",
            cause=f"what it offers now has {checked.digest}",
            next=f"look at `legato mcp check {name}` again",
        )


def _document(checked: Checked) -> dict[str, object]:
    return {
        "server": checked.server.name,
        "address": checked.server.address,
        "digest": checked.digest,
        "same": checked.same,
        "moved": checked.moved,
        "changes": [change.model_dump(mode="json") for change in checked.changes],
        "tools": [_tool(checked.server, tool) for tool in checked.offered.tools],
        "unfit": checked.offered.unfit,
        "accepted": _stands(checked.accepted),
    }


def _tool(server: Server, tool: OfferedTool) -> dict[str, object]:
    spec = spec_of(server, tool)
    return {
        "name": spec.name,
        "hash": tool.hash,
        "effect": spec.effect.value,
        "writes": spec.writes.value,
        "offered": tool.model_dump(mode="json"),
    }


def _stands(accepted: Accepted | None) -> dict[str, object] | None:
    if accepted is None:
        return None
    return {
        "n": accepted.fact.n,
        "digest": accepted.fact.digest,
        "by": accepted.by,
        "at": accepted.at.isoformat(),
    }
