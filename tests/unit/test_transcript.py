"""The conversation a model is sent: results in the order of the calls, one for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from domain.runs.conversation import AssistantMessage, ToolMessage, UserMessage
from domain.runs.transcript import conversation
from domain.tools.results import HEAD_BYTES, TAIL_BYTES, error, ok
from tests.support import facts
from tests.support.histories import OUTCOMES, PROPERTY, runs

if TYPE_CHECKING:
    from domain.events import Fact
    from domain.runs.conversation import Message
    from domain.tools.results import Outcome

NOTHING: dict[int, str] = {}


@st.composite
def settlings(draw: st.DrawFn) -> tuple[list[Outcome], list[int]]:
    """Outcomes of a response's calls, and the order in which they were recorded."""
    outcomes = draw(st.lists(OUTCOMES, min_size=1, max_size=6))
    return outcomes, draw(st.permutations(range(len(outcomes))))


@PROPERTY
@given(settlings())
def test_results_stand_in_the_order_of_the_calls(settling: tuple[list[Outcome], list[int]]) -> None:
    """Whatever the order in which they were recorded."""
    outcomes, order = settling
    told: list[Fact] = [facts.turn_started(), facts.requested()]
    told.append(facts.responded(calls=len(outcomes)))
    told += [facts.settled(position=at, outcome=outcomes[at]) for at in order]

    results = [m for m in conversation(told, NOTHING) if isinstance(m, ToolMessage)]

    assert [m.provider_id for m in results] == [f"p{n}" for n in range(len(outcomes))]
    assert [m.failed for m in results] == [outcome.tag.value != "ok" for outcome in outcomes]
    assert all(o.text in m.text for o, m in zip(outcomes, results, strict=True))


@PROPERTY
@given(settlings())
def test_results_wait_until_the_last_one_is_there(
    settling: tuple[list[Outcome], list[int]],
) -> None:
    """A provider refuses a conversation in which some calls have no result."""
    outcomes, order = settling
    told: list[Fact] = [facts.turn_started(), facts.requested()]
    told.append(facts.responded(calls=len(outcomes)))
    told += [facts.settled(position=at, outcome=outcomes[at]) for at in order[:-1]]

    assert isinstance(conversation(told, NOTHING)[-1], AssistantMessage)


@PROPERTY
@given(runs())
def test_every_call_of_a_finished_step_has_one_result(told: list[Fact]) -> None:
    """Directly after the response that asked for it; only the last response may lack them."""
    messages = conversation(told, NOTHING)
    for n, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            after = results_after(messages, n)
            wanted = [call.provider_id for call in message.calls]
            assert [result.provider_id for result in after] in (wanted, [])
            assert after or not wanted or n == len(messages) - 1


def results_after(messages: tuple[Message, ...], n: int) -> list[ToolMessage]:
    """The results that stand right after a message."""
    found: list[ToolMessage] = []
    for message in messages[n + 1 :]:
        if not isinstance(message, ToolMessage):
            break
        found.append(message)
    return found


def test_delivered_messages_stand_before_the_answer_to_their_request() -> None:
    """In the order of the session."""
    told: list[Fact] = [
        facts.turn_started(),
        facts.requested(delivered=(3, 5)),
        facts.responded(text="yes"),
    ]

    messages = conversation(told, {3: "first", 4: "for later", 5: "second"})

    assert [m.text for m in messages] == ["look after it", "first", "second", "yes"]
    assert all(isinstance(m, UserMessage) for m in messages[:3])


def test_an_outcome_that_is_not_ok_says_so_before_its_text() -> None:
    """By tag and code."""
    told: list[Fact] = [
        facts.turn_started(),
        facts.requested(),
        facts.responded(calls=1),
        facts.settled(outcome=error("file_missing", "there is no such file")),
    ]

    assert conversation(told, NOTHING)[-1].text == "[error: file_missing] there is no such file"


def test_a_large_result_is_cut_and_says_how_to_read_on() -> None:
    """Head and tail are shown; the whole stays in the ledger."""
    told: list[Fact] = [
        facts.turn_started(),
        facts.requested(),
        facts.responded(calls=1),
        facts.settled(outcome=ok("a line\n" * 100_000)),
    ]

    shown = conversation(told, NOTHING)[-1].text

    assert len(shown.encode()) < HEAD_BYTES + TAIL_BYTES + 300
    assert 'read_result(id="1.1.0"' in shown


def test_a_late_outcome_of_an_earlier_step_changes_nothing_that_was_said() -> None:
    """The model has gone on."""
    told: list[Fact] = [*facts.short_run("r")[:-2], facts.settled(outcome=ok("late"))]

    assert conversation(told, NOTHING) == conversation(told[:-1], NOTHING)
