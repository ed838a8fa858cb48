"""What a launch asks for, and the bytes that a build is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import Field

from domain.agents.definition import MOST_WAIT, Skill
from domain.agents.imported.step_file import StepFile
from domain.agents.profile import Profile
from domain.mcp.bring import ServerSource
from domain.runs.budget import Budget
from domain.runs.conversation import Frozen
from domain.runs.sequence import Item
from domain.tools.registry import Registry


class AgentRequest(Frozen):
    """What a front door asks for. The role selects instructions, tools and profile.

    `profile` None takes the role's default; `items` empty takes the role's own sequence
    around `message`. `checks` are commands that prevalidation runs. `tools` None takes the
    role's surface, () none. `skills` None takes the role's own, () none, names add those of
    the workspace to the role's own. `model` is a name that `docs/models.md` lists; a role without
    a model leaves it "". `max_wait` is how many seconds a step may wait for its capacity.
    `step_file` is the absolute path of a file of saved plan steps, "" for none, and `step` the id
    of the one that the agent is built from, "" for the only one. `mcp` names MCP servers whose
    tools it has beside those, each `SERVER` or, for one tool only, `SERVER/TOOL`.
    """

    role: str
    message: str = ""
    items: tuple[Item, ...] = ()
    model: str = ""
    profile: Profile | None = None
    workspace: str = ""
    stores: str = ""
    checks: tuple[str, ...] = ()
    fixers: tuple[str, ...] = ()
    attended: bool = True
    tools: tuple[str, ...] | None = None
    skills: tuple[str, ...] | None = None
    budget: Budget = Budget()
    max_tokens: int = 4096
    temperature: float | None = None
    environment: tuple[str, ...] = ()
    network: bool = False
    fallback: str = ""
    max_wait: float = Field(default=MOST_WAIT, ge=0)
    step_file: str = ""
    step: str = ""
    mcp: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sources:
    """All bytes that a build is made from, read once before it begins.

    `skills` are those of the workspace, `skill_problems` what is wrong with their files.
    `prices_known` tells whether the request's model has a price; `model_problem` is why
    the model's name cannot be used, "" where it can; `confinement` is the level of the
    machine that the run works on, "" where the build does not ask. `steps` is the file of
    saved plan steps that the request names, None where it names none or `steps_problem` tells
    why it could not be read. `servers` are the MCP servers that the request may have tools of,
    `server_secrets` the variables that hold secrets of any server here.
    """

    registry: Registry
    skills: tuple[Skill, ...] = field(default=())
    skill_problems: tuple[str, ...] = ()
    prices_known: bool = True
    model_problem: str = ""
    confinement: str = ""
    steps: StepFile | None = None
    steps_problem: str = ""
    servers: tuple[ServerSource, ...] = ()
    server_secrets: frozenset[str] = frozenset()
