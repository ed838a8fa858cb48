"""Brings the tools of MCP servers into what one agent is built from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.agents.profile import may_have
from domain.agents.request import Sources
from domain.mcp.bring import asked_servers, clashes, server_of, spec_of, unfit
from domain.tools.registry import INTRINSIC, Registry, ToolSpec

if TYPE_CHECKING:
    from domain.agents.profile import Profile
    from domain.agents.request import AgentRequest
    from domain.agents.role import Role
    from domain.mcp.bring import ServerSource


@dataclass(frozen=True)
class Brought:
    """The sources with the servers' tools among the registered ones, and what is refused."""

    sources: Sources
    problems: tuple[str, ...] = ()


def with_servers(request: AgentRequest, sources: Sources) -> Brought:
    """Put the tools of the servers that the sources hold beside those of the deployment.

    What is wrong with a server that the request asks for is a problem; of the others only
    what can be had is brought.
    """
    asked = asked_servers(request.mcp, request.tools or ())
    brought: dict[str, ToolSpec] = {}
    found: list[str] = []
    for one in sources.servers:
        specs, wrong = _specs(one)
        taken = {**sources.registry.specs, **brought}
        wrong += [_taken(spec, taken) for spec in specs if _is_taken(spec.name, taken)]
        if one.name in asked:
            found += wrong
        brought.update({s.name: s for s in specs if not _is_taken(s.name, taken)})
    if brought:
        registry = Registry({**sources.registry.specs, **brought})
        sources = replace(sources, registry=registry)
    return Brought(sources, tuple(found))


def _specs(one: ServerSource) -> tuple[list[ToolSpec], list[str]]:
    """Give a server's contracts and what is wrong with it."""
    if one.server is None:
        return [], [f"mcp_undeclared: {one.problem}"]
    again = f"`legato mcp check {one.name}` shows its tools, `legato mcp accept {one.name}`"
    if one.accepted is None:
        says = f"mcp_not_accepted: nobody has accepted the tools of {one.name} yet"
        return [], [f"{says}; {again} accepts them"]
    if one.accepted.address != one.server.address:
        says = f"mcp_moved: {one.name} was accepted at {one.accepted.address} and is declared at "
        return [], [f"{says}{one.server.address}; {again} accepts it there"]
    tools = one.accepted.tools
    wrong = [
        f"mcp_tool_unfit: {tool.name} of {one.name}: {problem}"
        for tool in tools
        for problem in unfit(one.server, tool)
    ]
    wrong += [f"mcp_name_taken: {one.name}: {problem}" for problem in clashes(one.server, tools)]
    return ([] if wrong else [spec_of(one.server, tool) for tool in tools]), wrong


def _is_taken(name: str, taken: dict[str, ToolSpec]) -> bool:
    return name in taken or name in INTRINSIC


def _taken(spec: ToolSpec, taken: dict[str, ToolSpec]) -> str:
    owner = taken[spec.name].source if spec.name in taken else "every agent"
    server = server_of(spec)
    return (
        f"mcp_name_taken: {spec.remote} of {server} would be called {spec.name}, which belongs "
        f"to {owner}; give it another name under [servers.{server}.names]"
    )


def server_problems(
    role: Role, request: AgentRequest, profile: Profile, sources: Sources
) -> list[str]:
    """List what is wrong with the servers that are asked for, once their tools are there."""
    found = [
        f"name_duplicate: the server {name} is asked for twice"
        for name in sorted({name for name in request.mcp if request.mcp.count(name) > 1})
    ]
    found += [
        f"environment_forbidden: {name} is a secret of an MCP server and is given to no command; "
        "take it out of [environment] names in .legato/workspace.toml"
        for name in sorted(sources.server_secrets.intersection(request.environment))
    ]
    if request.mcp and not role.plugins:
        found.append(f"mcp_not_of_role: {role.name} has no tools of MCP servers; leave out mcp")
        return found
    specs = [spec for spec in sources.registry.specs.values() if spec.remote]
    for asked in dict.fromkeys(request.mcp):
        server, _, tool = asked.partition("/")
        there = {spec.remote: spec for spec in specs if server_of(spec) == server}
        if not there or not tool:
            continue
        if tool not in there:
            listed = ", ".join(sorted(there))
            found.append(f"mcp_tool_missing: {server} has no accepted tool {tool}, only {listed}")
        elif not may_have(profile, there[tool].writes):
            found.append(f"tool_not_of_profile: {asked} changes what a Reader may not change")
    return found
