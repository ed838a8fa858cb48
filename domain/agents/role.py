"""What a role decides about an agent: one row of the table of roles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from domain.agents.definition import Skill
from domain.agents.profile import Profile
from domain.agents.request import AgentRequest
from domain.runs.sequence import Item


@dataclass(frozen=True)
class Role:
    """One row. The fields are all that a role decides.

    `surface` names the tools that it may have, `attended_tools` those among them that only
    work where a person can answer (they stay in the definition; the turn policy hides
    them), `required` those without which the role is refused, `plugins` whether tools that
    plug-ins brought belong to it too. `items` makes its sequence from a request, `pipeline`
    the declared pipeline (JSON) of a role without a model, "" for others. `takes_steps` tells
    whether it may be launched from a saved plan step.
    """

    name: str
    summary: str
    default_profile: Profile
    instructions: str
    surface: tuple[str, ...]
    items: Callable[[AgentRequest], tuple[Item, ...]]
    skills: tuple[Skill, ...] = ()
    attended_tools: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    pinned: tuple[str, ...] = ()
    plugins: bool = False
    needs_model: bool = True
    needs_checks: bool = False
    needs_workspace: bool = False
    takes_steps: bool = False
    pipeline: Callable[[AgentRequest], str] = lambda _request: ""


def message_only(request: AgentRequest) -> tuple[Item, ...]:
    """Make the sequence of a role that does what its message asks: that message alone."""
    return (Item(kind="message", name="message", text=request.message),)
