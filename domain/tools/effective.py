"""The one view of a request's tools, from which everything else about them is derived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from domain.codec import digest
from domain.tools.intrinsic import (
    CALL_TOOL,
    GET_API_SPEC,
    INTRINSIC_SPECS,
    READ_RESULT,
    READ_SKILL,
)
from domain.tools.mentions import mentioned
from domain.tools.registry import ToolSpec

if TYPE_CHECKING:
    from domain.agents.definition import AgentDefinition
    from domain.tools.policy import TurnPolicy

NATIVE_LIMIT = 40
"""Up to so many effective tools go to the provider with their full schemas."""

NOT_IN_TURN = "it is not offered in this turn"
NO_EXECUTOR = "this worker has nothing that runs it"
CHANGED = "its contract has changed since this agent was built"


@dataclass(frozen=True)
class EffectiveView:
    """(registry and definition and turn policy) plus the intrinsic tools that apply.

    `tools` is the native list sent to the provider, by name; with `lazy` it holds only
    the intrinsic and pinned ones. `specs` holds every callable tool by name. `hidden` gives
    the reason for each tool of the definition that is not callable, `changed` those among
    them whose binding differs. `known` names all that exists here, callable or not: it
    tells an unknown name from one that is not allowed. `absent` names tools that the
    agent's texts speak of and its definition does not hold. `digest` covers all that is
    sent because of the view.
    """

    tools: tuple[ToolSpec, ...]
    lazy: bool
    specs: Mapping[str, ToolSpec]
    hidden: Mapping[str, str]
    changed: frozenset[str]
    known: frozenset[str]
    absent: tuple[str, ...]
    digest: str

    @property
    def names(self) -> tuple[str, ...]:
        """All callable names, sorted: what a request pins as offered."""
        return tuple(self.specs)


def bindings_of(specs: Mapping[str, ToolSpec]) -> dict[str, str]:
    """Give each registered name with its binding."""
    return {name: spec.binding for name, spec in specs.items()}


def effective(
    bindings: Mapping[str, str],
    definition: AgentDefinition,
    policy: TurnPolicy,
    *,
    limit: int = NATIVE_LIMIT,
) -> EffectiveView:
    """Derive the view from a worker's bindings (name to digest), a definition and a policy."""
    own = {tool.name: tool.spec() for tool in definition.tools}
    hidden = {name: why for name in own if (why := _why_hidden(own[name], bindings, policy))}
    callable_now = {name: spec for name, spec in own.items() if name not in hidden}
    for name in _intrinsic(callable_now, skills=bool(definition.skills)):
        callable_now[name] = INTRINSIC_SPECS[name]
    specs = {name: callable_now[name] for name in sorted(callable_now)}
    lazy = len(specs) > limit
    native = tuple(spec for spec in specs.values() if not lazy or _stays(spec, definition))
    known = frozenset(bindings) | frozenset(own) | frozenset(INTRINSIC_SPECS)
    absent = _absent(definition, known - frozenset(own) - frozenset(specs))
    return EffectiveView(
        tools=native,
        lazy=lazy,
        specs=MappingProxyType(specs),
        hidden=MappingProxyType(dict(sorted(hidden.items()))),
        changed=frozenset(name for name, why in hidden.items() if why == CHANGED),
        known=known,
        absent=absent,
        digest=_digest(specs, native, hidden, absent),
    )


def _why_hidden(spec: ToolSpec, bindings: Mapping[str, str], policy: TurnPolicy) -> str:
    """Say why a tool of the definition cannot be called now, "" where it can."""
    if spec.name not in bindings:
        return NO_EXECUTOR
    if bindings[spec.name] != spec.binding:
        return CHANGED
    if spec.name in policy.hidden:
        return policy.hidden[spec.name]
    if policy.allowed is not None and spec.name not in policy.allowed:
        return NOT_IN_TURN
    return ""


def _intrinsic(own: Mapping[str, ToolSpec], *, skills: bool) -> list[str]:
    """Name the intrinsic tools that apply beside an agent's own callable ones."""
    names = [READ_SKILL] if skills else []
    if own:
        names += [GET_API_SPEC, CALL_TOOL]
    return [*names, READ_RESULT] if names else []


def _stays(spec: ToolSpec, definition: AgentDefinition) -> bool:
    return spec.name in INTRINSIC_SPECS or spec.name in definition.pinned


def _absent(definition: AgentDefinition, outside: frozenset[str]) -> tuple[str, ...]:
    texts = [definition.instructions, *(skill.text for skill in definition.skills)]
    return mentioned("\n".join(texts), outside)


def _digest(
    specs: Mapping[str, ToolSpec],
    native: tuple[ToolSpec, ...],
    hidden: Mapping[str, str],
    absent: tuple[str, ...],
) -> str:
    callable_ = [[s.name, s.description, s.schema] for s in specs.values()]
    return digest([callable_, [s.name for s in native], dict(hidden), list(absent)])
