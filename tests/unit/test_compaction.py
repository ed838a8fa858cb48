"""A conversation that is compacted stays a conversation: whole messages, calls with results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from domain.events import CallSettled, ContextCompacted, ModelRequested, ModelResponded
from domain.runs.compaction import Cut, plan_cut, recorded_summary, told_of
from domain.runs.conversation import (
    AssistantMessage,
    CallRequest,
    ToolMessage,
    Usage,
    UserMessage,
    message_bytes,
)
from domain.runs.transcript import Transcript, summary_text
from domain.tools.results import ok
from tests.support import facts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.events import Fact
    from domain.runs.conversation import Message

STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),  # calls
        st.integers(0, 2),  # messages that steer
        st.booleans(),  # the turn ends here
        st.booleans(),  # the request before it was too long
        st.integers(0, 300),  # size of what is said
    ),
    min_size=1,
    max_size=12,
)


@dataclass
class Session:
    """A conversation as it grows, with all that was ever said."""

    transcript: Transcript = field(default_factory=Transcript)
    incoming: dict[int, str] = field(default_factory=dict[int, str])
    turn: int = 0
    step: int = 0

    def tell(self, fact: Fact) -> None:
        """Take a fact and look at what became of the conversation."""
        self.transcript.tell(fact, self.incoming)
        whole(self.transcript)

    def take(self, calls: int, steering: int, size: int, *, too_long: bool) -> None:
        """Take one step, compacting before it where its request was too long."""
        if not self.step:
            self.turn += 1
            self.tell(facts.turn_started(turn=self.turn))
        self.step += 1
        delivered = tuple(range(len(self.incoming) + 1, len(self.incoming) + 1 + steering))
        self.incoming.update({n: f"message {n}" for n in delivered})
        self.tell(requested(self.turn, self.step, delivered))
        if too_long and (cut := plan_cut(self.transcript, self.turn)) is not None:
            self.tell(compacted(self.turn, self.step, cut))
            self.tell(requested(self.turn, self.step, ()))
        self.tell(responded(self.turn, self.step, calls, "x" * size))
        for position in reversed(range(calls)):
            self.tell(settled(self.turn, self.step, position, size))


def requested(turn: int, step: int, delivered: tuple[int, ...]) -> ModelRequested:
    """A request that delivers messages."""
    return facts.requested(step=step).model_copy(update={"turn": turn, "delivered": delivered})


def responded(turn: int, step: int, calls: int, text: str) -> ModelResponded:
    """An answer that asks for calls."""
    asked = tuple(
        CallRequest(position=n, provider_id="same", name=f"tool{n}", arguments="{}")
        for n in range(calls)
    )
    return facts.responded(step=step).model_copy(
        update={"turn": turn, "text": text, "calls": asked}
    )


def settled(turn: int, step: int, position: int, size: int) -> CallSettled:
    """A call's result."""
    return facts.settled(position=position).model_copy(
        update={"turn": turn, "step": step, "outcome": ok("r" * size)}
    )


def compacted(turn: int, step: int, cut: Cut) -> ContextCompacted:
    """What a compaction records."""
    return ContextCompacted(
        turn=turn,
        step=step,
        through_turn=cut.turn,
        through_step=cut.step,
        summary=recorded_summary(cut.old),
        kept=cut.kept,
        model="",
        usage=Usage(),
    )


def whole(transcript: Transcript) -> None:
    """Assert that no message is half and that no call lacks its result, save the newest."""
    messages = transcript.messages
    assert isinstance(messages[0], UserMessage)
    assert transcript.encoded == [message_bytes(one) for one in messages]
    assert len(transcript.marks) == len(messages)
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        assert not isinstance(message, ToolMessage), "a result without its call"
        if isinstance(message, AssistantMessage) and at < len(messages):
            results = messages[at : at + len(message.calls)]
            named = [one.name for one in results if isinstance(one, ToolMessage)]
            assert named == [call.name for call in message.calls], "a call without its result"
            at += len(message.calls)


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_a_conversation_stays_whole_wherever_it_is_compacted(
    steps: Sequence[tuple[int, int, bool, bool, int]],
) -> None:
    session = Session()
    for calls, steering, ends, too_long, size in steps:
        session.take(calls, steering, size, too_long=too_long)
        if ends:
            session.step = 0


@given(STEPS)
@settings(max_examples=100, deadline=None)
def test_what_was_said_in_the_running_turn_stays_word_for_word(
    steps: Sequence[tuple[int, int, bool, bool, int]],
) -> None:
    session = Session()
    for calls, steering, _, too_long, size in steps:
        session.take(calls, steering, size, too_long=too_long)

    said = [one.text for one in session.transcript.messages if isinstance(one, UserMessage)]
    assert [text for text in session.incoming.values() if text not in said] == []
    assert facts.turn_started().text in said


def long_talk(steps: int = 6) -> Session:
    """One turn of some steps, each with a call."""
    session = Session()
    for _ in range(steps):
        session.take(1, 0, 200, too_long=False)
    return session


def test_a_cut_leaves_the_newest_steps_and_loses_no_fact_of_the_others() -> None:
    session = long_talk()

    cut = plan_cut(session.transcript, 1)

    assert cut is not None
    assert (cut.turn, cut.step) == (1, 4)
    assert cut.kept == ("turn.started:1",)
    before = list(session.transcript.messages)
    session.tell(fact := compacted(1, 7, cut))
    after = session.transcript.messages
    assert after[0] == UserMessage(text=summary_text(fact))
    assert after[1] == before[0]
    assert after[2:] == before[len(cut.old) :]


def test_a_conversation_without_a_step_behind_it_cannot_be_cut() -> None:
    session = Session()
    session.tell(facts.turn_started())

    assert plan_cut(session.transcript, 1) is None


def test_a_summary_alone_is_not_summed_up_again() -> None:
    session = Session()
    session.take(0, 0, 10, too_long=False)
    cut = plan_cut(session.transcript, 1)
    assert cut is not None
    session.tell(compacted(1, 2, cut))

    assert plan_cut(session.transcript, 1) is None


def test_what_is_told_of_the_old_fits_and_names_every_call() -> None:
    messages: list[Message] = list(long_talk(40).transcript.messages)

    assert len(told_of(messages, 3000)) <= 3000
    assert told_of(messages, 100_000).count("agent calls tool0: {}") == 40
