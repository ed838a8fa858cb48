"""The view that a request pinned, found again from its names and digest alone."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from domain.tools.effective import CHANGED, EffectiveView, effective
from domain.tools.policy import UNCONFINED, TurnPolicy, turn_policy

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from domain.agents.definition import AgentDefinition

MOST_TRIED = 64


def pinned_view(
    definition: AgentDefinition,
    names: Collection[str],
    digest: str,
    *,
    confinement: str,
    attended: bool,
    known: Collection[str] = (),
) -> tuple[EffectiveView, bool]:
    """Derive the view of a request again; tells whether it has the digest that was pinned.

    A definition and its surroundings give the view. What the request does not say of the
    worker that sent it is tried: its level of confinement, and why a tool was not callable.
    `known` are names of tools outside the definition that the worker knew.
    """
    first: EffectiveView | None = None
    levels = dict.fromkeys((confinement, UNCONFINED, "confined"))
    for level in levels:
        policy = turn_policy(definition, confinement=level, attended=attended)
        for bindings in _bindings(definition, names, policy, known):
            view = effective(bindings, definition, policy)
            if view.digest == digest:
                return view, True
            first = first or view
    return first or effective({}, definition, TurnPolicy()), False


def _bindings(
    definition: AgentDefinition, names: Collection[str], policy: TurnPolicy, known: Collection[str]
) -> Iterator[dict[str, str]]:
    """Give the registries that the worker may have had: each tool there, gone or changed."""
    own = {tool.name: tool.spec().binding for tool in definition.tools}
    open_ = [name for name in own if name not in names and name not in policy.hidden]
    others = {name: "" for name in known if name not in own}
    for number, states in enumerate(product(("", CHANGED), repeat=len(open_))):
        if number >= MOST_TRIED:
            return
        missing = dict(zip(open_, states, strict=True))
        there = {name: missing.get(name) or binding for name, binding in own.items()}
        yield others | {name: b for name, b in there.items() if missing.get(name) != ""}
