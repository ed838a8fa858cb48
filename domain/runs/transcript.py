"""The conversation of a run, built from its facts: what each request is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.events import (
    BudgetWarned,
    CallSettled,
    ContextCompacted,
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


@dataclass(frozen=True)
class Mark:
    """Where a message comes from: which run of the session, and which of its steps.

    What is said to the agent belongs to the step that it is said for. `name` names what may
    be kept word for word, `unknown` tells that it is a call whose effect nobody can tell. A
    summary stands before every step, at 0.
    """

    run: int
    turn: int
    step: int
    name: str = ""
    unknown: bool = False


@dataclass
class Transcript:
    """A conversation under construction; facts are told in order, once each.

    Results wait until the step's calls are all settled and then stand in the order of the
    calls, whatever the order of recording. `encoded` holds each message's canonical bytes:
    a request is digested at every step, and its conversation only grows. `marks` says where
    each message comes from, `run` counts the session's runs. A compaction puts a summary in
    the place of all messages up to a step.
    """

    messages: list[Message] = field(default_factory=list[Message])
    encoded: list[bytes] = field(default_factory=list[bytes])
    marks: list[Mark] = field(default_factory=list["Mark"])
    run: int = 0
    _answered: ModelResponded | None = None
    _outcomes: dict[int, Outcome] = field(default_factory=dict[int, Outcome])
    prefix: str = ""

    def begin(self, prefix: str) -> None:
        """Go on to another run of the session; its results are named under a prefix."""
        self.prefix = prefix
        self.run += 1

    def tell(self, fact: Fact, incoming: Mapping[int, str]) -> None:
        """Take one fact; `incoming` holds the session's messages by their version."""
        match fact:
            case TurnStarted():
                mark = Mark(self.run, fact.turn, 1, f"turn.started:{fact.turn}")
                self._add(UserMessage(text=fact.text), mark)
            case BudgetWarned():
                self._add(UserMessage(text=fact.text), Mark(self.run, fact.turn, fact.step))
            case ModelRequested():
                for version in fact.delivered:
                    mark = Mark(self.run, fact.turn, fact.step, f"incoming:{version}")
                    self._add(UserMessage(text=incoming[version]), mark)
            case ModelResponded():
                message = AssistantMessage(text=fact.text, calls=fact.calls, native=fact.native)
                self._add(message, Mark(self.run, fact.turn, fact.step))
                self._answered, self._outcomes = fact, {}
            case CallSettled():
                self._settle(fact)
            case RunEnded():
                self._show()
            case ContextCompacted():
                self._compact(fact)
            case _:
                pass

    def _add(self, message: Message, mark: Mark) -> None:
        self.messages.append(message)
        self.encoded.append(message_bytes(message))
        self.marks.append(mark)

    def count_through(self, turn: int, step: int) -> int:
        """Count the messages up to a step of this run, all of earlier runs among them."""
        return sum(
            mark.run < self.run or (mark.turn, mark.step) <= (turn, step) for mark in self.marks
        )

    def _compact(self, fact: ContextCompacted) -> None:
        """Put the summary, and what is kept word for word, in the place of what was summed up."""
        count = self.count_through(fact.through_turn, fact.through_step)
        old = list(zip(self.messages[:count], self.marks[:count], strict=True))
        rest = list(zip(self.messages[count:], self.marks[count:], strict=True))
        self.messages, self.encoded, self.marks = [], [], []
        self._add(UserMessage(text=summary_text(fact)), Mark(self.run, 0, 0))
        for message, mark in old:
            if mark.name and mark.name in fact.kept:
                self._add(_alone(message, mark), mark)
        for message, mark in rest:
            self._add(message, mark)

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
                ),
                Mark(self.run, answered.turn, answered.step, result_id, outcome == UNKNOWN),
            )
        self._answered = None


def summary_text(fact: ContextCompacted) -> str:
    """Show a summary to the model: what it stands for before what it says."""
    until = f"up to turn {fact.through_turn}, step {fact.through_step}"
    where = until if fact.through_turn else "of this session's earlier runs"
    return (
        f"[The conversation {where} did not fit any more. This is a summary of it; what it was "
        f"made from is kept in the record.]\n{fact.summary}"
    )


def _alone(message: Message, mark: Mark) -> Message:
    """Give a message without what stood around it: a result cannot stand without its call."""
    if isinstance(message, ToolMessage):
        return UserMessage(text=f"Result of {message.name} ({mark.name}):\n{message.text}")
    return message


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
