"""What one model request sent, made again from the record by the functions that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.codec import digest
from domain.events import ModelRequested, RunDefined
from domain.runs.conversation import Message
from domain.runs.transcript import Earlier, conversation
from domain.tools.pinned import pinned_view
from domain.tools.registry import ToolSpec
from domain.tools.render import native_tools, render_request

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from domain.agents.definition import AgentDefinition
    from domain.events import Fact


@dataclass(frozen=True)
class Sent:
    """One request. `number` counts the run's requests from 1, `of` how many there are.

    `view_same` and `request_same` tell whether what is shown has the digests that were
    recorded before it was sent: with both true it is exactly what the model was given.
    """

    number: int
    of: int
    requested: ModelRequested
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    hidden: Mapping[str, str]
    view_same: bool
    request_same: bool


def sent_request(
    facts: Sequence[Fact],
    number: int,
    definition: AgentDefinition,
    incoming: Mapping[int, str],
    known: Collection[str] = (),
    earlier: Sequence[Earlier] = (),
) -> Sent | None:
    """Make the run's request of a number again; None where there is none of it.

    `incoming` are the session's messages by version, `known` names of tools outside the
    definition, `earlier` the session's runs before this one.
    """
    at = [n for n, fact in enumerate(facts) if isinstance(fact, ModelRequested)]
    defined = next((fact for fact in facts if isinstance(fact, RunDefined)), None)
    if defined is None or not 1 <= number <= len(at):
        return None
    requested = facts[at[number - 1]]
    if not isinstance(requested, ModelRequested):
        return None
    view, view_same = pinned_view(
        definition,
        requested.view,
        requested.view_digest,
        confinement=defined.confinement,
        attended=defined.runtime.attended,
        known=known,
    )
    system = render_request(definition, view)
    messages = conversation(facts[: at[number - 1] + 1], incoming, earlier)
    dumped = [message.model_dump(mode="json") for message in messages]
    return Sent(
        number=number,
        of=len(at),
        requested=requested,
        system=system,
        messages=messages,
        tools=native_tools(view),
        hidden=view.hidden,
        view_same=view_same,
        request_same=digest([system, *dumped]) == requested.request_digest,
    )
