"""The conversation of a run, built from its facts: what each request is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.events import (
    CallSettled,
    Fact,
    ModelRequested,
    ModelResponded,
    TurnStarted,
)
from domain.runs.conversation import (
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    message_bytes,
)
from domain.tools.results import Outcome, Tag, bounded

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass
class Transcript:
    """A conversation under construction; facts are told in order, once each.

    Results wait until the step's calls are all settled and then stand in the order of the
    calls, whatever the order of recording. `encoded` holds each message's canonical bytes:
    a request is digested at every step, and its conversation only grows.
    """

    messages: list[Message] = field(default_factory=list[Message])
    encoded: list[bytes] = field(default_factory=list[bytes])
    _answered: ModelResponded | None = None
    _outcomes: dict[int, Outcome] = field(default_factory=dict[int, Outcome])

    def tell(self, fact: Fact, incoming: Mapping[int, str]) -> None:
        """Take one fact; `incoming` holds the session's messages by their version."""
        match fact:
            case TurnStarted():
                self._add(UserMessage(text=fact.text))
            case ModelRequested():
                for version in fact.delivered:
                    self._add(UserMessage(text=incoming[version]))
            case ModelResponded():
                self._add(AssistantMessage(text=fact.text, calls=fact.calls, native=fact.native))
                self._answered, self._outcomes = fact, {}
            case CallSettled():
                self._settle(fact)
            case _:
                pass

    def _add(self, message: Message) -> None:
        self.messages.append(message)
        self.encoded.append(message_bytes(message))

    def _settle(self, fact: CallSettled) -> None:
        answered = self._answered
        if answered is None or (answered.turn, answered.step) != (fact.turn, fact.step):
            return
        self._outcomes[fact.position] = fact.outcome
        if len(self._outcomes) < len(answered.calls):
            return
        for call in answered.calls:
            outcome = self._outcomes[call.position]
            result_id = f"{fact.turn}.{fact.step}.{call.position}"
            self._add(
                ToolMessage(
                    provider_id=call.provider_id,
                    name=call.name,
                    text=result_text(outcome, result_id),
                    failed=outcome.tag is not Tag.OK,
                )
            )
        self._answered = None


def result_text(outcome: Outcome, result_id: str) -> str:
    """Show an outcome to a model: the tag and code before the text of all that is not ok."""
    text = bounded(outcome.text, result_id).text
    if outcome.tag is Tag.OK:
        return text
    return f"[{outcome.tag.value}: {outcome.code}] {text}"


def conversation(facts: Iterable[Fact], incoming: Mapping[int, str]) -> tuple[Message, ...]:
    """Build a run's whole conversation."""
    transcript = Transcript()
    for fact in facts:
        transcript.tell(fact, incoming)
    return tuple(transcript.messages)
