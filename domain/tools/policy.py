"""What one turn may use of a definition: the tools it is narrowed to, and why others are hidden."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.agents.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Collection

    from domain.agents.definition import AgentDefinition

NO_PERSON = "nobody can answer in this run"
NO_CONFINEMENT = "commands cannot be confined on this machine"
NO_COPY = "a Reader runs commands in a throw-away copy only, and this run has none"

UNCONFINED = "none"
"""The level of confinement that confines nothing."""


def _nothing_hidden() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True)
class TurnPolicy:
    """`allowed` None is all of the definition, empty is none; `hidden` gives name and reason."""

    allowed: frozenset[str] | None = None
    hidden: Mapping[str, str] = field(default_factory=_nothing_hidden)


def turn_policy(
    definition: AgentDefinition,
    *,
    confinement: str,
    attended: bool,
    allowed: Collection[str] | None = None,
    worktree: bool = False,
) -> TurnPolicy:
    """Derive a turn's policy from what the surroundings can give.

    `confinement` is the level of the machine ("none" confines nothing), `attended` tells
    whether a person can answer, `worktree` whether a Reader has a throw-away copy to run
    commands in; `allowed` narrows (None is all, empty is none).
    """
    unmet = {} if attended else {"person": NO_PERSON}
    if confinement == UNCONFINED:
        unmet["confinement"] = NO_CONFINEMENT
    elif definition.profile is Profile.READER and not worktree:
        unmet["confinement"] = NO_COPY
    hidden = {
        tool.name: unmet[need]
        for tool in definition.tools
        for need in reversed(tool.needs)
        if need in unmet
    }
    narrowed = None if allowed is None else frozenset(allowed)
    return TurnPolicy(narrowed, MappingProxyType(hidden))
