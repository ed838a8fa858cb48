"""Runs one effectful call: intent before effect, outcome after, and unknown where it is unknown."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio import activity

from activities.calls import (
    MOST_ROUNDS,
    Asked,
    asked_calls,
    intend,
    keeps_failing,
    not_begun,
    run_counted_read,
    settle,
    tool_context,
)
from activities.context import causation, temporal_run
from activities.execute import (
    Came,
    Hung,
    Raised,
    acts_again,
    execute,
    probe,
    raised,
    repeatable_outcome,
    taken,
)
from activities.held import held, keep
from activities.record import Record, attach, author_of, check_version, refresh
from activities.working import within_working_time
from domain.errors import bug
from domain.events import CallSettled, CallUnknown, Fact, InputAsked, InputSettled
from domain.ids import run_stream
from domain.ports import Absent, Asks, Executed, Unclear
from domain.runs.inputs import How, InputKind
from domain.runs.steps import CallInput, CallResult, WaitOn, Written
from domain.runs.unknown import AGAIN, unknown_input, unknown_question
from domain.tools.registry import Effect, Writes
from domain.tools.results import Outcome, error, expired, not_run, ok
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.connect import reaching
from ledger.reads import clock

if TYPE_CHECKING:
    from activities.world import World
    from domain.runs.run import InputState

RunTool = Callable[[CallInput], Awaitable[CallResult]]


def make_run_tool(world: World) -> RunTool:
    """Bind the activity to its world."""

    @activity.defn(name="run_tool")
    async def run(arg: CallInput) -> CallResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        check_version(record, arg.version, arg.head)
        first = record.run.version
        done = _outcome_behind(record, arg)
        if done is not None:
            return _settled(done, record, first)
        asked = find_call(world, record, arg)
        if asked.state.outcome is None:
            await within_working_time(world, record, lambda: advance(world, record, asked))
        record = await refresh(world.ledger, world.records, arg.run_id)
        return _result(find_call(world, record, arg), record, first)

    return run


def _outcome_behind(record: Record, arg: CallInput) -> Outcome | None:
    """Find what a call of a step behind the run came to: a reset asks for it once more."""
    step, call = record.run.step, arg.call
    if step is not None and (step.turn, step.step) == (call.turn, call.step):
        return None
    at = (call.turn, call.step, call.position)
    for fact in reversed(record.facts):
        if isinstance(fact, CallSettled) and (fact.turn, fact.step, fact.position) == at:
            return fact.outcome
    return None


def find_call(world: World, record: Record, arg: CallInput) -> Asked:
    """Find the call in the step that is being taken; it is a bug where it is not."""
    call = arg.call
    for asked in asked_calls(world, record):
        if (asked.at.turn, asked.at.step, asked.at.position) == (
            call.turn,
            call.step,
            call.position,
        ):
            return asked
    raise bug("call_not_found", f"call {call.turn}.{call.step}.{call.position} is not open")


def _question(record: Record, asked: Asked) -> InputState | None:
    """The question that the call put to a person last, if it did."""
    at = (asked.at.turn, asked.at.step, asked.at.position)
    put = [
        state
        for state in record.run.inputs
        if (state.asked.turn, state.asked.step, state.asked.position) == at
    ]
    return put[-1] if put else None


def _settled(outcome: Outcome, record: Record, first: int) -> CallResult:
    written = Written(first, record.run.version, record.head)
    return CallResult("settled", outcome.tag.value, outcome.code, written=written)


def _result(asked: Asked, record: Record, first: int) -> CallResult:
    written = Written(first, record.run.version, record.head)
    if asked.state.outcome is not None:
        return _settled(asked.state.outcome, record, first)
    if record.run.stop is not None or record.run.ended is not None:
        return CallResult("stopped", written=written)
    if record.run.over is not None:
        return CallResult("over_budget", code=record.run.over.reason, written=written)
    put = _question(record, asked)
    on: WaitOn = "unknown_effect" if asked.state.unknown else "input"
    if put is not None and put.asked.question.kind is InputKind.APPROVAL:
        on = "approval"
    ref = put.asked.input_id if put is not None else ""
    return CallResult("waiting", wait_on=on, ref=ref, written=written)


async def advance(world: World, record: Record, asked: Asked) -> None:
    """Bring a call without an outcome as far as it can go now."""
    if record.run.halted and (asked.reads or asked.state.round == 0):
        await settle(world, record, asked, not_begun(record))
        return
    if asked.reads:
        outcome = await run_counted_read(world, record, asked)
        await held(lambda: settle(world, record, asked, outcome))
        return
    put = _question(record, asked)
    if put is not None and put.asked.question.kind is not InputKind.UNKNOWN:
        await _answered(world, record, asked, put)
        return
    if asked.state.unknown:
        again = put is not None and put.settled is not None and put.settled.answer == AGAIN
        if again and not record.run.halted:
            await _act(world, record, asked)
        return
    if asked.state.round and not _may_act(asked):
        await _look(world, record, asked)
    elif asked.state.round >= MOST_ROUNDS:
        await settle(world, record, asked, keeps_failing(asked.name))
    elif record.run.halted:
        text = "The run was ended while this call was under way; it may have taken effect."
        await settle(world, record, asked, error(record.run.halted, text))
    else:
        await _act(world, record, asked)


async def _answered(world: World, record: Record, asked: Asked, put: InputState) -> None:
    """Settle a call that asked a person, once the person's input is settled."""
    settled = put.settled
    if settled is None:
        return
    await settle(world, record, asked, answer_outcome(settled), by="person")


def answer_outcome(settled: InputSettled) -> Outcome:
    """Turn how a question ended into the outcome of the call that put it."""
    match settled.how:
        case How.ANSWERED:
            return ok(settled.answer)
        case How.EXPIRED if settled.answer:
            return ok(f"{settled.answer}\n[nobody answered in time; this was agreed for silence]")
        case How.EXPIRED:
            return expired("Nobody answered in time. Go on without the answer, or say so.")
        case How.WITHDRAWN:
            return not_run("withdrawn", "The question was withdrawn.")
        case How.DISMISSED:
            return error("dismissed", "The question was dismissed. Go on without the answer.")


def _may_act(asked: Asked) -> bool:
    """Tell whether an execution that finds another's intent may act all the same."""
    resolved = asked.resolved
    if isinstance(resolved, Outcome):
        return False
    return acts_again(resolved.spec.effect) or resolved.spec.writes is Writes.LEDGER


async def _act(world: World, record: Record, asked: Asked) -> None:
    """Intend, act, record."""
    resolved = asked.resolved
    if isinstance(resolved, Outcome) or not await intend(world, record, asked, uuid.uuid4().hex):
        return
    tool = world.tool_of(resolved.spec)
    context = tool_context(world, record, asked, resolved.spec.timeout)
    await asyncio.to_thread(Path(context.call_folder).mkdir, parents=True, exist_ok=True)
    came = await execute(
        tool,
        resolved.arguments,
        context,
        asked.stop,
        lambda future: keep(_record_late(world, record, asked, future)),
    )
    if isinstance(came, Raised | Hung) and tool.probe is not None:
        came = await probe(tool, resolved.arguments, context, asked.stop)
        if isinstance(came, Absent):
            came = Executed(raised(resolved.name, Raised("an error")))
    await held(lambda: _record(world, record, asked, came))


async def _record_late(
    world: World, record: Record, asked: Asked, future: asyncio.Future[Came]
) -> None:
    """Record the outcome of an execution that ends after it was given up."""
    await asyncio.wait({future})
    came = taken(future)
    if isinstance(came, Executed):
        await held(lambda: _record(world, record, asked, came))


async def _look(world: World, record: Record, asked: Asked) -> None:
    """Find out what became of an intent that another execution left without an outcome."""
    resolved = asked.resolved
    if isinstance(resolved, Outcome):
        return
    if resolved.spec.effect is Effect.ONCE:
        lost = Unclear("the worker that ran it was lost")
        await _record(world, record, asked, lost, by="probe")
        return
    if record.run.halted:
        asked.stop.set()
    context = tool_context(world, record, asked, resolved.spec.timeout)
    came = await probe(world.tool_of(resolved.spec), resolved.arguments, context, asked.stop)
    if isinstance(came, Absent):
        if record.run.halted:
            text = "The run was ended before this call took effect."
            outcome = not_run(record.run.halted, text)
            await settle(world, record, asked, outcome, by="probe")
        elif asked.state.round >= MOST_ROUNDS:
            await settle(world, record, asked, keeps_failing(asked.name), by="probe")
        else:
            await _act(world, record, asked)
        return
    await _record(world, record, asked, came, by="probe")


async def _record(
    world: World, record: Record, asked: Asked, came: Came, *, by: str = "execution"
) -> None:
    """Record what a call came to, decided on the run as it stands.

    Another execution may record at the same moment: then it is decided again, so that no
    question comes to stand beside an outcome.
    """
    while True:
        record = await refresh(world.ledger, world.records, asked.run_id)
        if _has_outcome(record, asked):
            return
        try:
            await _decide(world, record, asked, came, by)
        except VersionConflictError:
            continue
        return


def _has_outcome(record: Record, asked: Asked) -> bool:
    """Tell whether the call has come to an outcome, be it that the run went on since."""
    step = record.run.step
    if step is None or (step.turn, step.step) != (asked.at.turn, asked.at.step):
        return True
    return step.calls[asked.at.position].outcome is not None


async def _decide(world: World, record: Record, asked: Asked, came: Came, by: str) -> None:
    """Record what a call came to; an outcome closes the question that doubted it."""
    version = record.run.version
    round_ = asked.state.round + 1 if by == "execution" else asked.state.round
    match came:
        case Executed():
            facts = (*came.facts, *_doubts(record, asked))
            await settle(world, record, asked, came.outcome, by=by, facts=facts, expected=version)
        case Asks():
            await _ask(world, record, asked, came)
        case Unclear():
            await _unknown(world, record, asked, came.reason, round_)
        case Hung() | Raised() if _may_act(asked):
            outcome = repeatable_outcome(came, asked.name)
            facts = _doubts(record, asked)
            await settle(world, record, asked, outcome, by=by, facts=facts, expected=version)
        case Hung():
            await _unknown(world, record, asked, "it did not end within its limit", round_)
        case Raised():
            await _unknown(world, record, asked, f"it broke with {came.type_name}", round_)
        case Absent():
            raise bug("absent_after_act", "an execution cannot prove its own absence")


def _doubts(record: Record, asked: Asked) -> tuple[Fact, ...]:
    """Withdraw the question that was put when the call's effect was unknown."""
    put = _question(record, asked)
    if put is None or put.settled is not None or put.asked.question.kind is not InputKind.UNKNOWN:
        return ()
    return (
        InputSettled(input_id=put.asked.input_id, how=How.WITHDRAWN, answer="", by="execution"),
    )


async def _ask(world: World, record: Record, asked: Asked, came: Asks) -> None:
    """Put a call's question to a person."""
    question, version = came.question, record.run.version
    expires_at = None
    if question.expires_in is not None:
        with reaching():
            now = await clock(world.ledger)
        expires_at = (now + timedelta(seconds=question.expires_in)).isoformat()
    fact = InputAsked(
        input_id=f"ask-{asked.at.key}",
        turn=asked.at.turn,
        step=asked.at.step,
        position=asked.at.position,
        question=question,
        expires_at=expires_at,
    )
    await _append(world, record, asked, version, fact)


async def _unknown(world: World, record: Record, asked: Asked, reason: str, round_: int) -> None:
    """Record that the effect is unknown, and ask a person, in one append."""
    name, at, version = asked.name, asked.at, record.run.version
    unknown = CallUnknown(
        turn=at.turn, step=at.step, position=at.position, round=round_, name=name, reason=reason
    )
    put = InputAsked(
        input_id=unknown_input(at, round_),
        turn=at.turn,
        step=at.step,
        position=at.position,
        question=unknown_question(name, reason),
    )
    await _append(world, record, asked, version, unknown, put)


async def _append(world: World, record: Record, asked: Asked, version: int, *facts: Fact) -> None:
    try:
        part = Part(run_stream(asked.run_id), facts, version)
        await append(world.ledger, author_of(record, causation()), part)
    except TakenError:
        return
