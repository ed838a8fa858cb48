"""The one constructor of an agent: a request and its sources in, a whole definition out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.definition import AgentDefinition, RuntimeConfig, defined_tool
from domain.agents.imported.apply_step import with_step
from domain.agents.imported.loss import FieldReport, bounded
from domain.agents.profile import Profile, may_have
from domain.agents.reach import outside, skills_of, surface_of
from domain.agents.refusals import (
    promise_problems,
    request_problems,
    role_problems,
    sequence_problems,
    skill_problems,
    tool_problems,
)
from domain.agents.roles import ROLES
from domain.agents.servers import server_problems, with_servers
from domain.errors import problems
from domain.mcp.bring import asks_for
from domain.runs.sequence import Item
from domain.tools.mentions import mentioned

if TYPE_CHECKING:
    from domain.agents.request import AgentRequest, Sources
    from domain.agents.role import Role
    from domain.tools.registry import ToolSpec


@dataclass(frozen=True)
class Built:
    """A whole agent: what it is, what it runs with, its sequence, and what to tell of it.

    `step` says what became of each field of the saved step that it was built from.
    """

    definition: AgentDefinition
    runtime: RuntimeConfig
    items: tuple[Item, ...]
    notes: tuple[str, ...]
    step: tuple[FieldReport, ...] = ()


def build_definition(request: AgentRequest, sources: Sources) -> Built:
    """Build an agent from a request and all bytes that it is made from; pure.

    Raises `definition_refused` with every problem at once, each as `code: sentence`.
    """
    role = ROLES.get(request.role)
    if role is None:
        raise _refused(
            [
                f"role_unknown: there is no role {request.role!r}, only {', '.join(ROLES)}",
                *request_problems(request, sources),
            ]
        )
    brought = with_servers(request, sources)
    sources = brought.sources
    applied = with_step(role, request, sources)
    request = applied.request
    definition = _definition(role, request, sources)
    items = request.items or role.items(request)
    found = [
        *brought.problems,
        *applied.problems,
        *request_problems(request, sources),
        *role_problems(role, request, sources),
        *tool_problems(role, request, definition, sources),
        *server_problems(role, request, definition.profile, sources),
        *skill_problems(role, request, sources),
        *sequence_problems(role, request, items),
        *promise_problems(role, request, definition, sources),
    ]
    if found:
        raise _refused(found)
    runtime = _runtime(role, request)
    notes = _notes(role, request, definition, sources)
    return Built(definition, runtime, items, notes, bounded(applied.rows))


def _refused(found: list[str]) -> Exception:
    return problems(
        "definition_refused",
        "the agent cannot be built",
        list(dict.fromkeys(found)),
        next="mend every problem named, then start the run again",
    )


def _definition(role: Role, request: AgentRequest, sources: Sources) -> AgentDefinition:
    profile = request.profile or role.default_profile
    surface = surface_of(role, sources.registry.specs)
    tools = [
        defined_tool(spec)
        for name, spec in sorted(sources.registry.specs.items())
        if name in surface and may_have(profile, spec.writes) and _is_asked_for(request, spec)
    ]
    skills = sorted(skills_of(role, request, sources), key=lambda skill: skill.name)
    held = {tool.name for tool in tools}
    return AgentDefinition(
        instructions=role.instructions,
        skills=tuple(skills),
        tools=tuple(tools),
        profile=profile,
        pinned=tuple(sorted(held.intersection(role.pinned))),
    )


def _is_asked_for(request: AgentRequest, spec: ToolSpec) -> bool:
    """Tell whether a request lets a tool in: one of a server only where it is asked for."""
    named = spec.name in (request.tools or ())
    if spec.remote:
        return named or asks_for(request.mcp, spec)
    return named or request.tools is None


def _runtime(role: Role, request: AgentRequest) -> RuntimeConfig:
    return RuntimeConfig(
        model=request.model if role.needs_model else "",
        max_tokens=request.max_tokens,
        temperature=request.temperature,
        workspace=request.workspace,
        stores=request.stores,
        attended=request.attended,
        budget=request.budget,
        pipeline=role.pipeline(request),
        environment=request.environment,
        network=request.network,
        fallback=request.fallback if role.needs_model else "",
        max_wait=request.max_wait,
    )


def _notes(
    role: Role, request: AgentRequest, definition: AgentDefinition, sources: Sources
) -> tuple[str, ...]:
    others = outside(definition, sources)
    own = {skill.name for skill in role.skills}
    skills = [skill for skill in definition.skills if skill.name not in own]
    texts = [(f"skill {skill.name}", skill.text) for skill in skills]
    texts += [(f"item {item.name}", item.text) for item in request.items]
    notes = [
        f"{where} speaks of {name}, which this agent does not have"
        for where, text in texts
        for name in mentioned(text, others)
    ]
    if not role.needs_model and request.model:
        notes.append(f"{role.name} uses no model: {request.model} is not asked")
    missing = [n for n in role.surface if n not in sources.registry.specs]
    if missing:
        notes.append(f"not registered in this deployment: {', '.join(missing)}")
    if definition.profile is not role.default_profile:
        given = "Writer" if definition.profile is Profile.WRITER else "Reader"
        notes.append(f"the request makes this {role.name} a {given}")
    return tuple(notes)
