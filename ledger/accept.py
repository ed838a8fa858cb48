"""What people and programs submit to a run: messages, answers, stops; validated, then appended."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from domain.errors import refused
from domain.events import (
    CallIntended,
    CallSettled,
    Fact,
    InputAsked,
    InputLate,
    InputSettled,
    MessageAccepted,
    RunEnded,
    StopRequested,
    event_id,
)
from domain.ids import incoming_stream, run_stream
from domain.runs.inputs import CLOCK, How, InputKind, check_answer
from domain.runs.run import InputState, Run, Status, evolve, fold
from domain.runs.unknown import AGAIN, settled_by_person
from ledger.append import Part, TakenError, VersionConflictError, append, closed_error
from ledger.closing import Parts, leave
from ledger.reads import clock, read_event, read_slot, read_stream

if TYPE_CHECKING:
    from domain.errors import LegatoError
    from ledger.append import Appended
    from ledger.connect import Ledger
    from ledger.encode import Author


MOST_SUBMISSION = 200


@dataclass(frozen=True)
class Accepted:
    """What was accepted: the event's id in its stream, and the run it concerns."""

    run: Run
    stream: str
    event: str
    version: int


async def load_run(ledger: Ledger, run_id: str) -> tuple[Run, list[Fact]]:
    """Fold a run; raises `run_not_found`."""
    stored = await read_stream(ledger, run_stream(run_id))
    if not stored:
        raise refused(
            "run_not_found",
            f"there is no run {run_id}",
            next="list the runs with `legato runs`",
        )
    facts = [event.fact for event in stored]
    return fold(facts), facts


def _accepted(run: Run, stream: str, fact: Fact, appended: Appended) -> Accepted:
    return Accepted(run, stream, event_id(fact), appended.heads[stream][0])


async def accept_message(
    ledger: Ledger, author: Author, run_id: str, submission: str, text: str, *, later: bool
) -> Accepted:
    """Accept a message: delivered at the run's next step, or the next run for `later`.

    Raises `run_not_found`, `message_empty`, `submission_invalid`, and `run_closed` where the
    run has ended, which the same append asserts it has not, or is being stopped and reads
    nothing more but for later. A repeated submission of equal content gives the first
    result even then.
    """
    check_submission(submission)
    if not text.strip():
        raise refused("message_empty", "the message is empty", next="send some text")
    run, _ = await load_run(ledger, run_id)
    if run.asked_for is None:
        raise closed_error(run_stream(run_id))
    stream = incoming_stream(run.asked_for.session)
    fact = MessageAccepted(submission=submission, text=text, later=later, run_id=run_id)
    deaf = run.stop is not None and run.ended is None and not later
    if deaf and await read_event(ledger, stream, event_id(fact)) is None:
        raise _stopping(run_id)
    guard = Part(run_stream(run_id), (), open_only=True)
    appended = await append(ledger, author, Part(stream, (fact,)), guard)
    return _accepted(run, stream, fact, appended)


def _stopping(run_id: str) -> LegatoError:
    return refused(
        "run_closed",
        f"the run {run_id} is being stopped and reads nothing more",
        next="send it with --later to start the session's next run, or start a new run",
    )


async def accept_stop(
    ledger: Ledger, author: Author, run_id: str, submission: str, reason: str
) -> Accepted:
    """Accept a stop; one of a run that waits in its slot's line ends it in the same append.

    Raises `run_not_found`, `submission_invalid`, and `run_closed` at the end.
    """
    check_submission(submission)
    fact = StopRequested(submission=submission, reason=reason, by=author.actor)
    stream = run_stream(run_id)
    while True:
        run, _ = await load_run(ledger, run_id)
        if not run.in_line or run.queued is None:
            appended = await append(ledger, author, Part(stream, (fact,)))
            return _accepted(run, stream, fact, appended)
        parts = Parts()
        ended = RunEnded(
            status=Status.STOPPED.value,
            reason="stop_requested",
            by=author.actor,
            message=reason,
            items_done=0,
        )
        slot = await read_slot(ledger, run.queued.slot)
        if not await leave(ledger, parts, slot, run_id, fact, ended):
            continue
        with suppress(VersionConflictError, TakenError):
            appended = await append(ledger, author, *parts.made())
            stopped = evolve(evolve(run, fact), ended)
            return Accepted(stopped, stream, event_id(fact), appended.heads[stream][0] - 1)


async def accept_answer(  # noqa: PLR0913 - a submission's own parts
    ledger: Ledger, author: Author, run_id: str, submission: str, input_id: str, answer: str,
    *, owner: bool,
) -> Accepted:  # fmt: skip
    """Accept an answer; the first wins, and whoever gave it may give it again.

    Raises `run_not_found`, `submission_invalid`, `input_not_found`, `answer_not_allowed`,
    `answer_unclear`, `run_again_too_early`, `run_closed` for 'run it again' after the end
    and, for who comes too late, `input_settled` or `input_expired` after keeping what was
    said as `input.late`. Whether the time is over is told by the ledger's clock: the first
    who comes after it has the question settled as expired.
    """
    check_submission(submission)
    run, facts = await load_run(ledger, run_id)
    state = _find(run, input_id)
    stream, by = run_stream(run_id), author.actor
    fact = InputSettled(
        input_id=input_id, how=How.ANSWERED, answer=answer, by=by, submission=submission
    )
    expired = await _expired(ledger, state)
    standing = state.settled or expired
    problem = check_answer(state.asked.question, answer, by, owner=owner)
    if problem is not None and (standing is None or problem.code == "answer_not_allowed"):
        raise problem
    if standing is None or standing == fact:
        if standing is None and answer == AGAIN and _is_unknown(state):
            await _check_again(ledger, run, state, facts)
        settling = (fact, *_consequence(state, answer, facts))
        with suppress(TakenError):
            appended = await append(ledger, author, Part(stream, settling))
            return _accepted(run, stream, fact, appended)
    late = InputLate(input_id=input_id, submission=submission, answer=answer, by=by)
    await _keep_late(ledger, author, stream, late, expired)
    raise await _too_late(ledger, stream, state, run_id)


async def _expired(ledger: Ledger, state: InputState) -> InputSettled | None:
    """Tell how a question ends whose time is over; None where it is open or settled."""
    asked = state.asked
    if state.settled is not None or asked.expires_at is None:
        return None
    if await clock(ledger) < datetime.fromisoformat(asked.expires_at):
        return None
    silence = asked.question.on_expiry
    return InputSettled(input_id=asked.input_id, how=How.EXPIRED, answer=silence, by=CLOCK)


def check_submission(submission: str) -> None:
    """Refuse what cannot be part of an event's id."""
    if submission.isprintable() and 0 < len(submission) <= MOST_SUBMISSION:
        return
    raise refused(
        "submission_invalid",
        f"a submission id is 1 to {MOST_SUBMISSION} printable characters",
        next="make one id for each new command, and reuse it only to repeat that command",
    )


def _is_unknown(state: InputState) -> bool:
    return state.asked.question.kind is InputKind.UNKNOWN


def _find(run: Run, input_id: str) -> InputState:
    for state in run.inputs:
        if state.asked.input_id == input_id:
            return state
    known = ", ".join(s.asked.input_id for s in run.inputs if s.settled is None) or "none"
    raise refused(
        "input_not_found",
        f"the run asks nothing under {input_id!r}",
        cause=f"open questions: {known}",
        next="list open questions with `legato inbox`",
    )


async def _check_again(ledger: Ledger, run: Run, state: InputState, facts: list[Fact]) -> None:
    """Offer 'run it again' only to an open run, after the call's own limit has passed."""
    if run.ended is not None:
        raise closed_error(run_stream(run.accepted.run_id if run.accepted else ""))
    asked = state.asked
    limit = max((intent.limit for intent in _intents(facts, asked)), default=0.0)
    stream = run_stream(run.accepted.run_id) if run.accepted else ""
    stored = await read_event(ledger, stream, event_id(asked))
    if stored is None:
        return
    left = limit - ((await clock(ledger)) - stored.recorded_at).total_seconds()
    if left > 0:
        raise refused(
            "run_again_too_early",
            f"the call's own limit has not passed: it may still be running for {left:.0f} s",
            next=f"answer again in {left:.0f} seconds, or say what became of it",
        )


def _intents(facts: list[Fact], asked: InputAsked) -> list[CallIntended]:
    at = (asked.turn, asked.step, asked.position)
    return [
        fact
        for fact in facts
        if isinstance(fact, CallIntended) and (fact.turn, fact.step, fact.position) == at
    ]


def _consequence(state: InputState, answer: str, facts: list[Fact]) -> tuple[Fact, ...]:
    """What a person says of an unknown call settles the call in the same append."""
    if not _is_unknown(state) or answer == AGAIN:
        return ()
    asked = state.asked
    name = next((intent.name for intent in _intents(facts, asked)), "")
    settled = CallSettled(
        turn=asked.turn,
        step=asked.step,
        position=asked.position,
        name=name,
        outcome=settled_by_person(answer),
        by="person",
    )
    return (settled,)


async def _keep_late(
    ledger: Ledger, author: Author, stream: str, late: InputLate, expired: InputSettled | None
) -> None:
    """Keep an answer that lost, with the question's end where nobody has recorded that."""
    if expired is not None:
        with suppress(TakenError):
            await append(ledger, author, Part(stream, (expired, late)))
            return
    await append(ledger, author, Part(stream, (late,)))


async def _too_late(ledger: Ledger, stream: str, state: InputState, run_id: str) -> LegatoError:
    """Say how the question was settled before the answer came."""
    asked = state.asked
    stored = await read_event(ledger, stream, f"input.settled:{asked.input_id}")
    first = stored.fact if stored is not None else None
    if isinstance(first, InputSettled) and first.how is How.EXPIRED:
        agreed = f", and {first.answer!r} was taken for silence" if first.answer else ""
        return refused(
            "input_expired",
            "the time for an answer was over; yours is kept beside the question",
            cause=f"it was open until {asked.expires_at}{agreed}",
            next=f"see `legato show {run_id}`; `legato send` can still tell an open run",
        )
    how = f"{first.how.value} by {first.by}" if isinstance(first, InputSettled) else "settled"
    return refused(
        "input_settled",
        "the question was settled before your answer came; yours is kept beside it",
        cause=f"it was {how}",
        next=f"see `legato show {run_id}`",
    )
