"""A named specialist as one immutable value: what crosses from any source to any consumer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from domain.agents.files.caps import MOST_BODY, MOST_DESCRIPTION, cut, id_of, one_line
from domain.codec import clean_text, digest

if TYPE_CHECKING:
    from domain.codec import Json


class Origin(StrEnum):
    """Where a definition was admitted from, for people to see. Sources stamp it, files cannot."""

    EXPLICIT = "explicit"
    PROJECT = "project"
    USER = "user"
    DRIVER = "driver"


def origin_of(label: str) -> Origin:
    """Read a label; one that is not known counts as the least trusted."""
    return next((one for one in Origin if one.value == label), Origin.DRIVER)


@dataclass(frozen=True, slots=True)
class HeaderRef:
    """A header of a server by reference: `scheme` (may be "") and the variable of the secret.

    There is no field for a secret, so none can be shown, stored or sent on.
    """

    name: str
    scheme: str
    variable: str

    @property
    def template(self) -> str:
        """Write it as a file would."""
        return f"{self.scheme} ${{{self.variable}}}".strip()


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: a configured one by its name, or one of its own where `url` is not ""."""

    name: str
    url: str = ""
    headers: tuple[HeaderRef, ...] = ()

    @property
    def is_reference(self) -> bool:
        """Tell whether only the name of a configured server is given."""
        return not self.url


@dataclass(frozen=True, slots=True)
class Hook:
    """A command of a phase; `matcher` limits it to calls of some tools, "" to none."""

    phase: str
    command: str
    matcher: str = ""


@dataclass(frozen=True, slots=True)
class AgentFile:
    """One definition. It knows no path: where it came from is its source's affair.

    `name` is for people, `id` for calls. `description` is one line of at most 2,000 bytes,
    `body` has at most 32,768. `tools` None takes the tools of the call, () none; entries of
    it and of `disallowed_tools` are names of Legato's, or patterns with `*`. Texts that are
    "" and numbers that are None were left out. `memory` is "", "user" or "project".
    """

    name: str
    description: str
    body: str = ""
    tools: tuple[str, ...] | None = None
    disallowed_tools: tuple[str, ...] | None = None
    model: str = ""
    provider: str = ""
    permission_mode: str = ""
    max_turns: int | None = None
    max_tool_calls: int | None = None
    skills: tuple[str, ...] | None = None
    mcp_servers: tuple[McpServer, ...] | None = None
    hooks: tuple[Hook, ...] | None = None
    memory: str = ""
    color: str = ""
    origin: Origin = Origin.EXPLICIT
    id: str = field(init=False)

    def __post_init__(self) -> None:
        """Derive the id: it is the name's, always."""
        object.__setattr__(self, "id", id_of(self.name))


KEYS = (
    "name", "description", "tools", "disallowedTools", "model", "provider", "permissionMode",
    "maxTurns", "maxToolCalls", "skills", "mcpServers", "hooks", "memory", "color",
)  # fmt: skip
"""What a header may say, as files spell it."""


def to_json(agent: AgentFile) -> dict[str, Json]:
    """Write a definition as the wire and documents have it: a header's keys, and `body`.

    What was left out is left out; nothing in it is secret.
    """
    document: dict[str, Json] = {"name": agent.name, "description": agent.description}
    given: dict[str, Json | None] = {
        "tools": _listed(agent.tools),
        "disallowedTools": _listed(agent.disallowed_tools),
        "model": agent.model or None,
        "provider": agent.provider or None,
        "permissionMode": agent.permission_mode or None,
        "maxTurns": agent.max_turns,
        "maxToolCalls": agent.max_tool_calls,
        "skills": _listed(agent.skills),
        "mcpServers": None if agent.mcp_servers is None else [*map(_server, agent.mcp_servers)],
        "hooks": None if agent.hooks is None else _hooks(agent.hooks),
        "memory": agent.memory or None,
        "color": agent.color or None,
    }
    document |= {key: value for key, value in given.items() if value is not None}
    return {**document, "body": agent.body}


def _listed(names: tuple[str, ...] | None) -> Json | None:
    return None if names is None else list(names)


def _server(one: McpServer) -> Json:
    if one.is_reference:
        return one.name
    document: dict[str, Json] = {"name": one.name, "url": one.url}
    if one.headers:
        document["headers"] = {header.name: header.template for header in one.headers}
    return document


def _hooks(hooks: tuple[Hook, ...]) -> Json:
    """Write hooks as phase to command where that says all, else as lists with matchers."""
    phases: dict[str, list[Hook]] = {}
    for hook in hooks:
        phases.setdefault(hook.phase, []).append(hook)
    return {
        phase: inner[0].command
        if len(inner) == 1 and not inner[0].matcher
        else [
            {"matcher": hook.matcher, "hooks": [{"type": "command", "command": hook.command}]}
            for hook in inner
        ]
        for phase, inner in phases.items()
    }


def digest_of(agent: AgentFile) -> str:
    """Take the digest that a run stores a definition by; its origin does not count."""
    return digest(to_json(agent))


def within_caps(agent: AgentFile) -> AgentFile:
    """Hold a definition's texts to their caps again, as whoever takes one from outside does."""
    description = cut(one_line(clean_text(agent.description)), MOST_DESCRIPTION)
    body = cut(clean_text(agent.body), MOST_BODY)
    if (description, body) == (agent.description, agent.body):
        return agent
    return replace(agent, description=description, body=body)
