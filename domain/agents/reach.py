"""Which tools and skills a role reaches, and which tools lie outside a definition."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.roles import ROLES
from domain.tools.registry import INTRINSIC, ToolSpec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from domain.agents.definition import AgentDefinition, Skill
    from domain.agents.request import AgentRequest, Sources
    from domain.agents.role import Role

_ADDED = ("plugin:", "mcp:")
"""Where tools come from that a role may have without naming them."""


def surface_of(role: Role, specs: Mapping[str, ToolSpec]) -> frozenset[str]:
    """Name the tools that a role may have, whether or not they are registered."""
    added = (n for n, spec in specs.items() if role.plugins and spec.source.startswith(_ADDED))
    return frozenset(role.surface).union(added)


def skills_of(role: Role, request: AgentRequest, sources: Sources) -> tuple[Skill, ...]:
    """Give a role's own skills and those asked for; without a model none can be read."""
    if not role.needs_model or request.skills == ():
        return ()
    asked = request.skills or ()
    return (*role.skills, *(skill for skill in sources.skills if skill.name in asked))


def _callable_names(definition: AgentDefinition) -> frozenset[str]:
    """Name what an agent of this definition can ever call, intrinsic tools included."""
    own = frozenset(tool.name for tool in definition.tools)
    if own:
        return own.union(name for name in INTRINSIC if name != "read_skill" or definition.skills)
    return frozenset({"read_skill", "read_result"} if definition.skills else ())


def outside(definition: AgentDefinition, sources: Sources) -> frozenset[str]:
    """Name every tool known anywhere that this definition does not give."""
    surfaces = (name for role in ROLES.values() for name in role.surface)
    known = frozenset(sources.registry.specs).union(INTRINSIC, surfaces)
    return known - _callable_names(definition)
