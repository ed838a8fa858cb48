"""What a request sent is made again from the record, and it is seen when it is not the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.agents.profile import Profile
from domain.codec import digest
from domain.runs.conversation import UserMessage
from domain.runs.sent import sent_request
from domain.runs.transcript import conversation
from domain.tools.effective import EffectiveView, bindings_of, effective
from domain.tools.pinned import pinned_view
from domain.tools.policy import turn_policy
from domain.tools.render import render_request
from tests.support import facts as f
from tests.support.agents import a_registry, a_request, a_tool, built

if TYPE_CHECKING:
    from domain.agents.definition import AgentDefinition
    from domain.events import Fact, MessageAccepted, ModelRequested
    from domain.tools.registry import Registry

MESSAGE = "look after it"


def generic(profile: Profile | None = None) -> AgentDefinition:
    """Build the generic agent on the usual registry."""
    return built(a_request(profile=profile)).definition


def offered(
    registry: Registry, definition: AgentDefinition, confinement: str, *, attended: bool
) -> EffectiveView:
    """Derive the view as the worker does."""
    policy = turn_policy(definition, confinement=confinement, attended=attended)
    return effective(bindings_of(registry.specs), definition, policy)


def pinned(definition: AgentDefinition, view: EffectiveView, before: list[Fact]) -> ModelRequested:
    """Pin a request as the worker does before it is sent."""
    messages = [one.model_dump(mode="json") for one in conversation(before, {})]
    text = render_request(definition, view)
    return f.requested(
        view=view.names, view_digest=view.digest, request_digest=digest([text, *messages])
    )


@pytest.mark.parametrize("confinement", ["bubblewrap", "none"])
@pytest.mark.parametrize("attended", [True, False])
@pytest.mark.parametrize("profile", list(Profile))
def test_a_request_is_made_again_exactly_whatever_was_hidden(
    confinement: str, profile: Profile, *, attended: bool
) -> None:
    definition = generic(profile=profile)
    runtime = f.defined().runtime.model_copy(update={"attended": attended})
    defined = f.defined().model_copy(update={"confinement": confinement, "runtime": runtime})
    facts: list[Fact] = [f.accepted("r"), defined, f.turn_started(text=MESSAGE)]
    view = offered(a_registry(), definition, confinement, attended=attended)
    asked = pinned(definition, view, facts)

    sent = sent_request([*facts, asked, f.responded()], 1, definition, {}, a_registry().specs)

    assert sent is not None
    assert (sent.view_same, sent.request_same) == (True, True)
    assert sent.messages == (UserMessage(text=MESSAGE),)
    assert [tool.name for tool in sent.tools] == list(view.names)


def test_a_worker_that_had_lost_a_tool_or_had_it_changed_is_found_out() -> None:
    definition = generic()
    specs = dict(a_registry().specs)
    specs["read_file"] = a_tool("read_file", schema='{"type":"object"}')
    del specs["search_files"]
    policy = turn_policy(definition, confinement="bubblewrap", attended=True)
    view = effective(bindings_of(specs), definition, policy)

    found, same = pinned_view(
        definition, view.names, view.digest, confinement="bubblewrap", attended=True, known=specs
    )

    assert same
    assert found.hidden == view.hidden
    assert found.changed == {"read_file"}


def test_a_rendering_that_differs_from_what_was_recorded_says_so() -> None:
    definition = generic()
    facts: list[Fact] = [f.accepted("r"), f.defined(), f.turn_started(text=MESSAGE)]
    view = offered(a_registry(), definition, "none", attended=True)
    asked = pinned(definition, view, facts)
    other = definition.model_copy(update={"instructions": "Do something else."})

    sent = sent_request([*facts, asked], 1, other, {}, a_registry().specs)

    assert sent is not None
    assert (sent.view_same, sent.request_same) == (True, False)


def test_messages_that_the_request_delivered_stand_in_it() -> None:
    facts: list[Fact] = [f.accepted("r"), f.defined(), f.turn_started(text=MESSAGE)]
    message: MessageAccepted = f.message("s1", "another thing")
    asked = f.requested(delivered=(3,))

    sent = sent_request([*facts, asked], 1, generic(), {3: message.text})

    assert sent is not None
    assert [one.text for one in sent.messages if isinstance(one, UserMessage)] == [
        MESSAGE,
        "another thing",
    ]


@pytest.mark.parametrize("number", [0, 2, 7])
def test_there_is_no_request_outside_of_those_that_were_made(number: int) -> None:
    facts: list[Fact] = [f.accepted("r"), f.defined(), f.turn_started(), f.requested()]

    assert sent_request(facts, number, generic(), {}) is None
