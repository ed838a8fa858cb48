"""What is submitted to a run: accepted once, refused with advice, never lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from domain.errors import Kind, LegatoError
from domain.events import InputAsked, InputLate, MessageAccepted, StopRequested
from domain.ids import incoming_stream, run_stream
from domain.runs.inputs import CLOCK, OPERATOR, How, InputKind
from domain.runs.unknown import AGAIN, HAPPENED, NOT_HAPPENED, unknown_question
from domain.tools.results import Tag
from ledger.accept import Accepted, accept_answer, accept_message, accept_stop, load_run
from ledger.encode import Author
from ledger.reads import read_event, read_head
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import begin_run, events_of, put

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from domain.events import Fact
    from ledger.connect import Ledger

RUN = "11111111-aaaa"
STREAM, INCOMING = run_stream(RUN), incoming_stream(RUN)
ANN = Author("person:ann", "person:ann", "cli", correlation=RUN)
BOB = Author("person:bob", "person:bob", "cli", correlation=RUN)
SIGNAL = Author(OPERATOR, OPERATOR, "signal", correlation=RUN)
LONG_AGO, FAR_AHEAD = "2020-01-01T00:00:00+00:00", "2999-01-01T00:00:00+00:00"
AWAITED = (facts.attached(), facts.turn_started(), facts.requested(), facts.responded(calls=1))


@pytest.fixture
async def run(ledger: Ledger) -> Ledger:
    """A ledger with a run whose one call is not settled."""
    await begin_run(ledger, RUN, *AWAITED)
    return ledger


async def answer(
    ledger: Ledger, author: Author, text: str, submission: str = "s1", *, owner: bool = True
) -> Accepted:
    """Answer the one question."""
    return await accept_answer(ledger, author, RUN, submission, "q1", text, owner=owner)


async def refusal(submitting: Awaitable[object]) -> LegatoError:
    """Give the error with which a submission is refused; each names a next step."""
    with pytest.raises(LegatoError) as caught:
        await submitting
    assert caught.value.kind is Kind.REFUSED
    assert caught.value.next
    return caught.value


async def late_of(ledger: Ledger) -> list[tuple[str, str]]:
    """List the late answers that were kept: who, what."""
    return [(f.by, f.answer) for f in await events_of(ledger, STREAM) if isinstance(f, InputLate)]


def expired_before(input_id: str = "q1", **question: object) -> InputAsked:
    """Ask what nobody has answered in time, and no worker has looked at since."""
    return facts.asked(input_id, **question).model_copy(update={"expires_at": LONG_AGO})


async def test_the_first_answer_wins_and_the_late_one_is_kept_and_told(run: Ledger) -> None:
    """The loser learns by whom it was settled."""
    await put(run, STREAM, facts.asked())

    first = await answer(run, ANN, "red")
    late = await refusal(answer(run, BOB, "blue", "s2"))

    assert first.event == "input.settled:q1"
    assert (late.code, late.cause) == ("input_settled", "it was answered by person:ann")
    assert await late_of(run) == [("person:bob", "blue")]
    state = (await load_run(run, RUN))[0].inputs[0]
    assert state.settled == facts.answered("q1", "red", "person:ann", "s1")


async def test_of_many_answers_at_once_one_wins(run: Ledger) -> None:
    """Every other is kept beside it."""
    await put(run, STREAM, facts.asked())
    authors = [Author(f"person:{n}", f"person:{n}", "cli") for n in range(8)]

    ends = await asyncio.gather(
        *(answer(run, author, f"by {author.actor}", f"s-{author.actor}") for author in authors),
        return_exceptions=True,
    )

    assert sum(isinstance(end, Accepted) for end in ends) == 1
    assert {end.code for end in ends if isinstance(end, LegatoError)} == {"input_settled"}
    assert len(await late_of(run)) == 7
    assert (await verify(run)).problems == ()


async def test_an_answer_that_is_given_again_is_accepted_again(run: Ledger) -> None:
    """A client that heard nothing may repeat itself; nothing is added."""
    await put(run, STREAM, facts.asked())

    first, again = await answer(run, ANN, "red"), await answer(run, ANN, "red")

    assert (again.event, again.version) == (first.event, first.version)
    assert await late_of(run) == []


async def test_a_late_answer_that_is_given_again_is_kept_once(run: Ledger) -> None:
    """And under the same id nothing else is kept."""
    await put(run, STREAM, facts.asked())
    await answer(run, ANN, "red")

    codes = [
        (await refusal(answer(run, BOB, text, "s2"))).code for text in ("blue", "blue", "green")
    ]

    assert codes == ["input_settled", "input_settled", "idempotency_mismatch"]
    assert await late_of(run) == [("person:bob", "blue")]


@pytest.mark.parametrize(("on_expiry", "text"), [("", "blue"), ("red", "blue"), ("red", "pink")])
async def test_an_answer_after_the_time_is_kept_late_though_no_worker_has_looked(
    run: Ledger, on_expiry: str, text: str
) -> None:
    """By the ledger's clock; in that append the question is settled as it was agreed."""
    await put(run, STREAM, expired_before(choices=("red", "blue"), on_expiry=on_expiry))

    told = [await refusal(answer(run, ANN, text)) for _ in range(2)]
    other = await refusal(answer(run, BOB, "red", "s2"))

    assert [error.code for error in (*told, other)] == ["input_expired"] * 3
    assert LONG_AGO in told[0].cause
    assert on_expiry in told[0].cause
    state = (await load_run(run, RUN))[0].inputs[0]
    assert state.settled == facts.answered("q1", on_expiry, CLOCK).model_copy(
        update={"how": How.EXPIRED}
    )
    assert await late_of(run) == [("person:ann", text), ("person:bob", "red")]


async def test_an_answer_before_the_time_counts_and_may_be_given_again_after_it(
    run: Ledger,
) -> None:
    """Only the question's end is judged by the clock."""
    await put(run, STREAM, facts.asked().model_copy(update={"expires_at": FAR_AHEAD}))
    await put(run, STREAM, expired_before("q2"), facts.answered("q2", "red", "person:ann", "s9"))

    first = await answer(run, ANN, "red")
    again = await accept_answer(run, ANN, RUN, "s9", "q2", "red", owner=True)

    assert (first.event, again.event) == ("input.settled:q1", "input.settled:q2")
    assert await late_of(run) == []


async def test_the_wrong_person_does_not_settle_what_has_expired(run: Ledger) -> None:
    """Nothing of theirs is kept either."""
    await put(run, STREAM, expired_before(who=("person:ann",)))

    error = await refusal(answer(run, BOB, "red"))

    assert error.code == "answer_not_allowed"
    assert (await load_run(run, RUN))[0].inputs[0].settled is None


@pytest.mark.parametrize(
    ("text", "choices"), [("maybe", ("yes", "no")), ("Yes", ("yes",)), (" ", ())]
)
async def test_an_unclear_answer_is_refused_and_settles_nothing(
    run: Ledger, text: str, choices: tuple[str, ...]
) -> None:
    """The refusal names the choices."""
    await put(run, STREAM, facts.asked(choices=choices))

    error = await refusal(answer(run, ANN, text))

    assert error.code == "answer_unclear"
    assert all(choice in error.cause for choice in choices)
    assert (await load_run(run, RUN))[0].inputs[0].settled is None


@pytest.mark.parametrize(
    ("author", "owner", "question"),
    [
        (BOB, False, {}),
        (BOB, True, {"who": ("person:ann",)}),
        (SIGNAL, False, {}),
        (SIGNAL, False, {"who": (OPERATOR,), "kind": InputKind.APPROVAL, "choices": ("yes",)}),
    ],
    ids=["not the owner", "not named", "a plain signal", "a signal that approves"],
)
async def test_the_wrong_person_is_refused(
    run: Ledger,
    author: Author,
    owner: bool,  # noqa: FBT001 - a row of the table
    question: dict[str, object],
) -> None:
    """Also after the question is settled: nothing of theirs is kept."""
    await put(run, STREAM, facts.asked("q1", **question))

    early = await refusal(answer(run, author, "yes", owner=owner))
    await put(run, STREAM, facts.answered())
    late = await refusal(answer(run, author, "yes", owner=owner))

    assert (early.code, late.code) == ("answer_not_allowed", "answer_not_allowed")
    assert await late_of(run) == []


async def test_a_named_operator_may_answer_by_a_plain_signal(run: Ledger) -> None:
    """Where the question names it."""
    await put(run, STREAM, facts.asked(who=(OPERATOR,)))

    accepted = await answer(run, SIGNAL, "go on", owner=False)

    assert accepted.event == "input.settled:q1"


async def test_a_question_that_was_never_asked_is_not_found(run: Ledger) -> None:
    """The refusal lists what is open."""
    await put(run, STREAM, facts.asked("q2"))

    error = await refusal(answer(run, ANN, "red"))

    assert error.code == "input_not_found"
    assert "q2" in error.cause


async def test_a_person_settles_an_unknown_call_by_looking(run: Ledger) -> None:
    """The call's outcome is in the same append as the answer."""
    await put(run, STREAM, facts.intended(), facts.unknown(), asked_unknown())

    accepted = await answer(run, ANN, HAPPENED)

    folded = (await load_run(run, RUN))[0]
    assert folded.step is not None
    outcome = folded.step.calls[0].outcome
    assert outcome is not None
    assert (outcome.tag, folded.unknown) == (Tag.OK, ())
    assert accepted.version == folded.version
    assert (await answer(run, ANN, HAPPENED)).version == accepted.version


def asked_unknown() -> Fact:
    """Ask what became of the call."""
    return facts.asked("q1", **unknown_question("deploy", "worker lost").model_dump())


async def test_running_an_unknown_call_again_must_wait_for_its_limit(run: Ledger) -> None:
    """By the ledger's clock; then it is accepted and settles only the question."""
    await put(run, STREAM, facts.intended(), facts.unknown(), asked_unknown())

    early = await refusal(answer(run, ANN, AGAIN))
    await run.pool.execute("update ledger.clock_offset set ahead = interval '11 seconds'")
    accepted = await answer(run, ANN, AGAIN)

    assert early.code == "run_again_too_early"
    assert (await events_of(run, STREAM))[-1] == facts.answered("q1", AGAIN, "person:ann", "s1")
    assert accepted.event == "input.settled:q1"


async def test_an_ended_run_runs_no_call_again_but_hears_what_became_of_it(run: Ledger) -> None:
    """The late word settles the call and changes no status."""
    await put(run, STREAM, facts.intended(), facts.unknown(), asked_unknown(), facts.run_ended())

    again = await refusal(answer(run, ANN, AGAIN))
    await answer(run, ANN, NOT_HAPPENED)

    folded = (await load_run(run, RUN))[0]
    assert again.code == "run_closed"
    assert (folded.unknown, folded.status.value) == ((), "completed")
    assert (await verify(run)).ok


async def test_a_message_waits_in_its_session(run: Ledger) -> None:
    """With the run it was sent to, and whether it may steer."""
    await accept_message(run, ANN, RUN, "s1", "look here", later=False)
    second = await accept_message(run, ANN, RUN, "s2", "and then", later=True)

    told = [
        (f.text, f.later) for f in await events_of(run, INCOMING) if isinstance(f, MessageAccepted)
    ]
    assert told == [("look here", False), ("and then", True)]
    assert (second.stream, second.version) == (INCOMING, 2)
    stored = await read_event(run, INCOMING, second.event)
    assert stored is not None
    assert stored.envelope["actor"] == "person:ann"


async def test_an_ended_run_takes_no_stop_and_no_message(run: Ledger) -> None:
    """The refusal names the run and says what to do instead."""
    await put(run, STREAM, facts.run_ended())

    stop = await refusal(accept_stop(run, ANN, RUN, "s1", "enough"))
    message = await refusal(accept_message(run, ANN, RUN, "s2", "hello", later=False))

    assert (stop.code, message.code) == ("run_closed", "run_closed")
    assert RUN in stop.message
    assert RUN in message.message
    assert (await read_head(run, INCOMING)).version == 0


async def test_a_run_that_is_being_stopped_takes_messages_for_later_only(run: Ledger) -> None:
    """It reads nothing more: whoever would steer it is told so, and what to do."""
    first = await accept_message(run, ANN, RUN, "s1", "in time", later=False)
    await accept_stop(run, ANN, RUN, "s2", "enough")

    again = await accept_message(run, ANN, RUN, "s1", "in time", later=False)
    steering = await refusal(accept_message(run, ANN, RUN, "s3", "too late", later=False))
    later = await accept_message(run, ANN, RUN, "s4", "after it", later=True)

    assert again.version == first.version
    assert steering.code == "run_closed"
    assert "is being stopped" in steering.message
    assert "--later" in steering.next
    assert later.version == first.version + 1


async def test_a_repeated_submission_gives_the_first_result_even_after_the_end(
    run: Ledger,
) -> None:
    """Nothing is added by the repetition."""
    message = await accept_message(run, ANN, RUN, "s1", "hello", later=False)
    await accept_message(run, ANN, RUN, "s2", "more", later=False)
    stop = await accept_stop(run, ANN, RUN, "s1", "enough")
    await put(run, STREAM, facts.run_ended())

    stop_again = await accept_stop(run, ANN, RUN, "s1", "enough")
    message_again = await accept_message(run, ANN, RUN, "s1", "hello", later=False)

    assert (stop_again.event, stop_again.version) == (stop.event, stop.version)
    assert (message_again.event, message_again.version) == (message.event, message.version)
    assert (await read_head(run, INCOMING)).version == 2


async def test_an_id_reused_for_another_command_is_refused(run: Ledger) -> None:
    """Other text, or another person's word."""
    await accept_message(run, ANN, RUN, "s1", "hello", later=False)
    await accept_stop(run, ANN, RUN, "s1", "enough")

    codes = [
        (await refusal(accept_stop(run, ANN, RUN, "s1", "more than enough"))).code,
        (await refusal(accept_stop(run, BOB, RUN, "s1", "enough"))).code,
        (await refusal(accept_message(run, ANN, RUN, "s1", "bye", later=False))).code,
        (await refusal(accept_message(run, ANN, RUN, "s1", "hello", later=True))).code,
    ]

    assert set(codes) == {"idempotency_mismatch"}
    assert sum(isinstance(f, StopRequested) for f in await events_of(run, STREAM)) == 1


@pytest.mark.parametrize("submission", ["", "a\0b", "a\nb", "x" * 201])
async def test_a_submission_id_that_cannot_be_kept_is_refused(run: Ledger, submission: str) -> None:
    """At each of the three doors."""
    await put(run, STREAM, facts.asked())

    errors = [
        await refusal(accept_stop(run, ANN, RUN, submission, "enough")),
        await refusal(accept_message(run, ANN, RUN, submission, "hello", later=False)),
        await refusal(answer(run, ANN, "red", submission)),
    ]

    assert {error.code for error in errors} == {"submission_invalid"}


async def test_an_empty_message_and_an_unknown_run_are_refused(run: Ledger) -> None:
    """By their own codes."""
    empty = await refusal(accept_message(run, ANN, RUN, "s1", " \n", later=False))
    nowhere = await refusal(accept_stop(run, ANN, "none", "s1", "enough"))

    assert (empty.code, nowhere.code) == ("message_empty", "run_not_found")
