"""The conversation of a run, built from its facts: what each request is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.events import (
    CallSettled,
    Fact,
    ModelRequested,
    ModelResponded,
    RunEnded,
    TurnStarted,
)
from domain.runs.conversation import (
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    message_bytes,
)
from domain.tools.results import Outcome, Tag, bounded, error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


UNKNOWN = error(
    "unknown", "Nobody can tell whether this call took effect. It is not run again by itself."
)
"""What a call without an outcome is shown as once its run has ended."""


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
    prefix: str = ""

    def begin(self, prefix: str) -> None:
        """Go on to another run of the session; its results are named under a prefix."""
        self.prefix = prefix

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
            case RunEnded():
                self._show()
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
        if len(self._outcomes) == len(answered.calls):
            self._show()

    def _show(self) -> None:
        """Add the results of the last response; at a run's end some may never be known."""
        answered = self._answered
        if answered is None:
            return
        for call in answered.calls:
            outcome = self._outcomes.get(call.position, UNKNOWN)
            result_id = f"{self.prefix}{answered.turn}.{answered.step}.{call.position}"
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


@dataclass(frozen=True)
class Earlier:
    """The facts of one earlier run of a session; results of its calls are read under `prefix`."""

    prefix: str
    facts: tuple[Fact, ...]


def tell_earlier(
    transcript: Transcript, earlier: Iterable[Earlier], incoming: Mapping[int, str]
) -> None:
    """Begin a run's conversation with what its session said before."""
    for one in earlier:
        transcript.begin(one.prefix)
        for fact in one.facts:
            transcript.tell(fact, incoming)
    transcript.begin("")


def conversation(
    facts: Iterable[Fact], incoming: Mapping[int, str], earlier: Iterable[Earlier] = ()
) -> tuple[Message, ...]:
    """Build a run's whole conversation, what its session said before it included."""
    transcript = Transcript()
    tell_earlier(transcript, earlier, incoming)
    for fact in facts:
        transcript.tell(fact, incoming)
    return tuple(transcript.messages)
