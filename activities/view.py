"""The effective view of a run now: registry and definition and what this place allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from activities.record import definition_of
from domain.tools.effective import EffectiveView, bindings_of, effective
from domain.tools.policy import turn_policy

if TYPE_CHECKING:
    from activities.record import Record
    from activities.world import World


def view_of(world: World, record: Record) -> EffectiveView:
    """Derive the run's view, the same function for offering and for executing.

    A record keeps it: registry and definition stay while it lives, the policy may not. A tool
    of a server belongs to the definition and is bound by it; what is wrong with its server
    shows in the call.
    """
    definition = definition_of(record)
    defined = record.run.defined
    policy = turn_policy(
        definition,
        confinement=world.confinement,
        attended=defined is not None and defined.runtime.attended,
    )
    if record.view is None or record.view[0] != policy:
        bindings = bindings_of(world.registry.specs)
        own = (tool.spec() for tool in definition.tools if tool.remote)
        bindings |= {spec.name: spec.binding for spec in own}
        record.view = policy, effective(bindings, definition, policy)
    return record.view[1]
