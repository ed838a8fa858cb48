"""What a definition leaves of the authority that a call has to give: it narrows, and never adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.agents.files.tool_names import DELEGATING, matches
from domain.agents.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.agents.files.agent_file import AgentFile


def profile_of(agent: AgentFile, asked: Profile) -> Profile:
    """Give the profile of a call: `plan` caps it at Reader, nothing raises it."""
    return Profile.READER if agent.permission_mode == "plan" else asked


@dataclass(frozen=True, slots=True)
class Scope:
    """The tools that a definition leaves of those offered, and its rules that met none."""

    tools: tuple[str, ...]
    unmatched: tuple[str, ...] = ()
    unmatched_denials: tuple[str, ...] = ()


def scope_of(agent: AgentFile, offered: Sequence[str]) -> Scope:
    """Narrow the tools that a call offers: allow list, deny list, then no delegation.

    Nothing is added that was not offered. Sorted, each once. A rule without a match is for
    whoever starts the agent to tell; a denial among them may be a misspelt name.
    """
    allowed, deny = agent.tools, agent.disallowed_tools or ()
    chosen = {
        name
        for name in offered
        if (allowed is None or any(matches(rule, name) for rule in allowed))
        and not any(matches(rule, name) for rule in deny)
        and name.casefold().replace("_", "") not in DELEGATING
    }
    return Scope(
        tuple(sorted(chosen)),
        _idle(allowed or (), offered),
        _idle(deny, offered),
    )


def _idle(rules: Sequence[str], offered: Sequence[str]) -> tuple[str, ...]:
    return tuple(rule for rule in rules if not any(matches(rule, name) for name in offered))
