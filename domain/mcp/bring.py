"""A server's accepted tools as contracts: their names here, their effect class, what they write."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from domain.mcp.declared import HINTED, Server
from domain.mcp.snapshot import McpAccepted
from domain.tools.registry import Effect, ToolSpec, Writes, spec_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from domain.mcp.snapshot import OfferedTool

SOURCE = "mcp:"
"""What the source of every tool of a server begins with."""

MOST_DESCRIPTION = 16 * 1024
MOST_SCHEMA = 64 * 1024
"""Bytes of a tool's texts that are offered to a model; a longer one is not fit."""

_LONGEST_NAME = 64
"""Characters of a name that every provider takes."""


@dataclass(frozen=True)
class ServerSource:
    """A server as a build finds it: declared or not, and accepted or not.

    `server` is None where it cannot be used, for `problem`; `accepted` is what stands in the
    ledger of it, None where nobody has accepted it yet.
    """

    name: str
    server: Server | None
    accepted: McpAccepted | None
    problem: str = ""


def server_of(spec: ToolSpec) -> str:
    """Name the server that a tool belongs to, "" where it belongs to none."""
    return spec.source.removeprefix(SOURCE) if spec.source.startswith(SOURCE) else ""


def asked_servers(mcp: Iterable[str], tools: Iterable[str]) -> tuple[str, ...]:
    """Name the servers that a request speaks of, in its `mcp` and by its tools' names."""
    named = [one.partition("/")[0] for one in mcp]
    parts = [one.split("__", 2) for one in tools if one.startswith("mcp__")]
    return tuple(dict.fromkeys([*named, *(part[1] for part in parts if len(part) > 1)]))


def asks_for(mcp: Iterable[str], spec: ToolSpec) -> bool:
    """Tell whether the servers asked for bring a tool."""
    server = server_of(spec)
    return any(one in {server, f"{server}/{spec.remote}"} for one in mcp)


def given_name(server: Server, tool: str) -> str:
    """Name a server's tool here: as declared, else `mcp__SERVER__TOOL`."""
    if tool in server.names:
        return server.names[tool]
    return f"mcp__{server.name}__{re.sub('[^A-Za-z0-9_-]', '_', tool)}"


def spec_of(server: Server, tool: OfferedTool) -> ToolSpec:
    """Give the contract of a server's tool.

    It is of class `once` and writes lastingly, unless the declaration vouches for less. What
    the server says of it can only make that stricter.
    """
    hints = tool.hints
    reads = _vouched(server.reads, tool, hinted=hints.read_only is True)
    reads = reads and hints.read_only is not False and hints.destructive is not True
    repeats = _vouched(server.repeats, tool, hinted=hints.idempotent is True)
    repeats = repeats and hints.idempotent is not False
    effect = Effect.READ if reads else Effect.IDEMPOTENT if repeats else Effect.ONCE
    return ToolSpec(
        name=given_name(server, tool.name),
        description=tool.description or tool.title,
        schema=tool.argument_schema,
        effect=effect,
        writes=Writes.NOTHING if reads else Writes.LASTING,
        timeout=server.timeout,
        resource=f"{SOURCE}{server.name}",
        source=f"{SOURCE}{server.name}",
        remote=tool.name,
        accepted=tool.hash,
    )


def _vouched(patterns: Sequence[str], tool: OfferedTool, *, hinted: bool) -> bool:
    """Tell whether a person vouches for a tool by its name, or by taking the server's word."""
    return any(
        hinted if pattern == HINTED else fnmatchcase(tool.name, pattern) for pattern in patterns
    )


def unfit(server: Server, tool: OfferedTool) -> list[str]:
    """List everything that makes a server's tool unfit to be offered to a model."""
    spec = spec_of(server, tool)
    found = [problem.removeprefix(f"tool {spec.name!r}: ") for problem in spec_problems(spec)]
    if len(spec.name) > _LONGEST_NAME:
        found.append(
            f"its name {spec.name} has more than {_LONGEST_NAME} characters; declare a shorter "
            f"one in names"
        )
    if not tool.name.strip() or len(tool.name) > 2 * _LONGEST_NAME:
        found.append("its own name is empty or too long")
    if len(tool.description.encode()) > MOST_DESCRIPTION:
        found.append(f"its description has more than {MOST_DESCRIPTION} bytes")
    if len(tool.argument_schema.encode()) > MOST_SCHEMA:
        found.append(f"its schema has more than {MOST_SCHEMA} bytes")
    return found


def clashes(server: Server, tools: Sequence[OfferedTool]) -> list[str]:
    """List the tools of one server that would have one name here."""
    taken: dict[str, list[str]] = {}
    for tool in tools:
        taken.setdefault(given_name(server, tool.name), []).append(tool.name)
    return [
        f"{' and '.join(names)} would both be called {name}; give one another name in names"
        for name, names in sorted(taken.items())
        if len(names) > 1
    ]
