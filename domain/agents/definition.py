"""What an agent is, content-addressed: its definition, and the runtime config beside it."""

from __future__ import annotations

from pydantic import Field

from domain.agents.profile import Profile
from domain.codec import digest
from domain.runs.budget import Budget
from domain.runs.conversation import Frozen
from domain.tools.registry import Effect, ToolSpec, Writes


class Skill(Frozen):
    """A named text that an agent can read when it needs it."""

    name: str
    description: str
    text: str


class DefinedTool(Frozen):
    """A tool as it stands in a definition: the contract that was current at build time.

    `remote` and `accepted` are those of the contract, "" for tools that no server has.
    """

    name: str
    description: str
    argument_schema: str
    timeout: float
    source: str
    effect: Effect
    writes: Writes
    resource: str
    needs: tuple[str, ...] = ()
    remote: str = ""
    accepted: str = ""

    def spec(self) -> ToolSpec:
        """Give the contract back in the registry's form."""
        return ToolSpec(
            self.name,
            self.description,
            self.argument_schema,
            self.effect,
            self.writes,
            self.timeout,
            self.resource,
            self.source,
            self.needs,
            self.remote,
            self.accepted,
        )


class AgentDefinition(Frozen):
    """Immutable identity of an agent. Tools and skills are sorted by name, names unique.

    `pinned` names the tools whose schemas stay with every request where the others are
    fetched on demand: presentation, not identity.
    """

    instructions: str
    skills: tuple[Skill, ...]
    tools: tuple[DefinedTool, ...]
    profile: Profile
    pinned: tuple[str, ...] = ()


MOST_WAIT = 86400.0
"""Seconds that a step waits for a model's capacity where a request names no other limit."""


class RuntimeConfig(Frozen):
    """Infrastructure of one run: never identity, never in the fingerprint.

    `workspace` is an absolute folder or "" for a run without one; `stores` the folder of
    the workspace's stores. `attended` tells whether a person can answer a blocking
    question, `network` whether confined commands may use the network. `pipeline` is the
    declared pipeline (JSON) of a run without a model. `fallback` is the model that is asked
    where the first one cannot answer, "" for none. `max_wait` is how many seconds a step
    may wait for a model's capacity.
    """

    model: str
    max_tokens: int = Field(default=4096, gt=0)
    temperature: float | None = None
    workspace: str = ""
    stores: str = ""
    attended: bool = True
    budget: Budget = Budget()
    pipeline: str = ""
    environment: tuple[str, ...] = ()
    network: bool = False
    fallback: str = ""
    max_wait: float = Field(default=MOST_WAIT, ge=0)


def defined_tool(spec: ToolSpec) -> DefinedTool:
    """Copy a contract into a definition."""
    return DefinedTool(
        name=spec.name,
        description=spec.description,
        argument_schema=spec.schema,
        timeout=spec.timeout,
        source=spec.source,
        effect=spec.effect,
        writes=spec.writes,
        resource=spec.resource,
        needs=spec.needs,
        remote=spec.remote,
        accepted=spec.accepted,
    )


def fingerprint(definition: AgentDefinition) -> str:
    """Take the identity's digest: instructions, skills, tools, hooks and profile, no more."""
    skills = [[s.name, digest([s.description, s.text])] for s in definition.skills]
    tools = [
        [t.name, t.description, t.argument_schema, t.timeout, t.source, t.effect.value]
        + ([t.remote, t.accepted] if t.remote else [])
        for t in definition.tools
    ]
    identity = {
        "instructions": definition.instructions,
        "skills": sorted(skills),
        "tools": sorted(tools),
        "hooks": [],
        "profile": definition.profile.value,
    }
    return digest(identity)
