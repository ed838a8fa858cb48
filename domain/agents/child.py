"""What a child of a run is asked to be: its parent's role and surface, or a role of its own."""

from __future__ import annotations

from dataclasses import dataclass

from domain.agents.definition import AgentDefinition, DefinedTool
from domain.agents.profile import Profile, may_have
from domain.agents.request import AgentRequest
from domain.errors import problems
from domain.mcp.bring import server_of


@dataclass(frozen=True)
class Parent:
    """The run that asks for a child: what it was asked to be, and what it was built to be."""

    request: AgentRequest
    definition: AgentDefinition


@dataclass(frozen=True)
class ChildAsk:
    """What a parent asks for. `role` "" inherits its own role, and with it its surface.

    `profile` None takes the parent's for an inherited role, and for another role the
    lesser of that role's own and the parent's.
    """

    message: str
    role: str = ""
    profile: Profile | None = None
    model: str = ""


def child_request(parent: Parent, ask: ChildAsk) -> AgentRequest:
    """Ask for a child; it goes through the one constructor as every other request does.

    A child that inherits has exactly its parent's tools and skills; a Reader child of a
    Writer lacks the lasting tools and nothing else. Raises `child_refused` with everything
    that is wrong.
    """
    held = parent.definition.profile
    found: list[str] = []
    if not ask.message.strip():
        found.append("message_missing: a child does what its message asks and none is given")
    if ask.profile is Profile.WRITER and held is Profile.READER:
        found.append("profile_wider: a Reader has no Writer for a child")
    if found:
        raise problems(
            "child_refused", "no child was started", found, next="mend what is named and ask again"
        )
    inherits = ask.role in {"", parent.request.role}
    profile = ask.profile or _own(held, inherits=inherits)
    kept = _kept(parent.definition, profile or held) if inherits else ()
    return parent.request.model_copy(
        update={
            "role": ask.role or parent.request.role,
            "message": ask.message,
            "items": (),
            "profile": profile,
            "tools": tuple(tool.name for tool in kept) if inherits else None,
            "mcp": _by_server(kept),
            "skills": _skills(parent.definition) if inherits else None,
            "model": ask.model or parent.request.model,
            "step_file": "",
            "step": "",
        }
    )


def _own(held: Profile, *, inherits: bool) -> Profile | None:
    """Give the profile where none is asked for; None leaves it to the other role."""
    return held if inherits or held is Profile.READER else None


def _kept(definition: AgentDefinition, profile: Profile) -> tuple[DefinedTool, ...]:
    return tuple(tool for tool in definition.tools if may_have(profile, tool.writes))


def _by_server(kept: tuple[DefinedTool, ...]) -> tuple[str, ...]:
    """Ask for the servers' tools one by one: a server alone could bring more than there were."""
    return tuple(f"{server_of(tool.spec())}/{tool.remote}" for tool in kept if tool.remote)


def _skills(definition: AgentDefinition) -> tuple[str, ...]:
    return tuple(skill.name for skill in definition.skills)
