"""Ends a run in one append: what was left open, the terminal event, the slot and the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from temporalio import activity

from activities.context import causation, temporal_run
from activities.record import Record, accepted_of, attach, author_of, refresh
from domain.events import (
    CallSettled,
    CallUnknown,
    Fact,
    InputAsked,
    InputSettled,
    ModelLost,
    RunEnded,
    SessionReleased,
    SessionTaken,
    SlotReleased,
    SlotTaken,
)
from domain.ids import (
    CallAt,
    derived_run_id,
    incoming_stream,
    run_stream,
    session_stream,
    slot_stream,
    workflow_id,
)
from domain.runs.inputs import How, InputKind
from domain.runs.sequence import Item
from domain.runs.steps import CloseInput, CloseResult, Ending, Written
from domain.runs.unknown import unknown_input, unknown_question
from domain.runs.views import final_card
from domain.tools.registry import Effect, Writes
from domain.tools.results import not_run
from ledger.append import Part, TakenError, VersionConflictError, append

if TYPE_CHECKING:
    from activities.world import World
    from domain.events import RunAccepted
    from domain.runs.run import CallState, StepState

CloseRun = Callable[[CloseInput], Awaitable[CloseResult]]


def make_close_run(world: World) -> CloseRun:
    """Bind the activity to its world."""

    @activity.defn(name="close_run")
    async def run(arg: CloseInput) -> CloseResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        first = record.run.version
        while record.run.ended is None:
            world.kill("before:run.ended")
            try:
                parts = closing_parts(world, record, arg.ending)
                await append(world.ledger, author_of(record, causation()), *parts)
            except (VersionConflictError, TakenError):
                pass
            world.kill("after:run.ended")
            record = await refresh(world.ledger, world.records, arg.run_id)
        written = Written(first, record.run.version, record.head)
        return CloseResult(record.run.ended.status, final_card(record.facts), written)

    return run


def closing_parts(world: World, record: Record, ending: Ending) -> tuple[Part, ...]:
    """Decide the whole end on what the record says now; all heads are asserted."""
    accepted, run = accepted_of(record), record.run
    by = run.stop.by if run.stop is not None and ending.status == "stopped" else ending.by
    ended = RunEnded(
        status=ending.status,
        reason=ending.reason,
        by=by,
        message=_message(record, ending),
        items_done=run.items_done,
    )
    left = (*_open_request(record), *_open_calls(world, record), *_open_inputs(record))
    released = (SlotReleased(run_id=accepted.run_id, n=accepted.n),)
    freed = (SessionReleased(run_id=accepted.run_id),)
    session = incoming_stream(accepted.session)
    own = Part(run_stream(accepted.run_id), (*left, ended), run.version)
    asserted = Part(session, (), record.incoming_version)
    following = _following(record, accepted, ending)
    if following is None:
        return (
            own,
            asserted,
            Part(slot_stream(accepted.slot), released),
            Part(session_stream(accepted.session), freed),
        )
    taken = SlotTaken(run_id=following.run_id, n=following.n)
    return (
        own,
        asserted,
        Part(slot_stream(accepted.slot), (*released, taken)),
        Part(session_stream(accepted.session), (*freed, SessionTaken(run_id=following.run_id))),
        Part(run_stream(following.run_id), (following,), 0),
    )


def _message(record: Record, ending: Ending) -> str:
    """Say in one sentence why the run ended; the ledger knows more than the workflow."""
    run = record.run
    if run.refused is not None:
        return "; ".join(run.refused.problems)
    if run.stop is not None and ending.status == "stopped":
        return run.stop.reason
    failed = run.step.failed if run.step is not None else None
    if ending.status == "failed" and failed is not None and failed.code == ending.reason:
        return failed.message
    if ending.reason in {"checks_failed", "check_cannot_run"} and run.check is not None:
        return run.check.report
    return ending.message


def _open_request(record: Record) -> tuple[Fact, ...]:
    step = record.run.step
    if step is None or step.open is None:
        return ()
    return (ModelLost(turn=step.turn, step=step.step, n=step.open.n),)


def _open_calls(world: World, record: Record) -> tuple[Fact, ...]:
    """Give every call of the last response an outcome, or say that its effect is unknown."""
    step = record.run.step
    if step is None:
        return ()
    facts: list[Fact] = []
    for call in step.calls:
        if call.outcome is None and not call.unknown:
            facts.extend(_close_call(world, step, call))
    return tuple(facts)


def _close_call(world: World, step: StepState, call: CallState) -> tuple[Fact, ...]:
    at = CallAt(step.turn, step.step, call.request.position)
    spec = world.registry.specs.get(call.request.name)
    harmless = call.round == 0 or call.asks
    if spec is not None:
        harmless = harmless or spec.effect is Effect.READ or spec.writes is not Writes.LASTING
    where = {"turn": at.turn, "step": at.step, "position": at.position}
    if harmless:
        outcome = not_run("run_ended", "The run ended before this call came to an outcome.")
        name = call.request.name
        return (CallSettled.model_validate({**where, "name": name, "outcome": outcome}),)
    reason = "the run ended while it was under way"
    question = unknown_question(call.request.name, reason)
    return (
        CallUnknown.model_validate(
            {**where, "round": call.round, "name": call.request.name, "reason": reason}
        ),
        InputAsked.model_validate(
            {**where, "input_id": unknown_input(at, call.round), "question": question}
        ),
    )


def _open_inputs(record: Record) -> tuple[Fact, ...]:
    """Withdraw the questions that nobody needs answered any more; unknown effects stay."""
    return tuple(
        InputSettled(input_id=state.asked.input_id, how=How.WITHDRAWN, answer="", by="system")
        for state in record.run.inputs
        if state.settled is None and state.asked.question.kind is not InputKind.UNKNOWN
    )


def _following(record: Record, accepted: RunAccepted, ending: Ending) -> RunAccepted | None:
    """The session's next run, where messages wait: one item a message.

    Messages for later wait by their sender's wish. One that was to steer and came too late
    to be read starts the next run as well, unless the run was stopped: then it stays for
    whoever goes on.
    """
    waiting = [
        message
        for version, message in sorted(record.incoming.items())
        if (message.later and version > accepted.incoming)
        or (not message.later and version > record.run.incoming and ending.status != "stopped")
    ]
    if not waiting:
        return None
    items = tuple(
        Item(kind="message", name=f"message {n}", text=message.text)
        for n, message in enumerate(waiting, start=1)
    )
    n = accepted.n + 1
    return accepted.model_copy(
        update={
            "run_id": derived_run_id(accepted.slot, str(n)),
            "workflow_id": workflow_id(accepted.slot, n),
            "n": n,
            "request": accepted.request.model_copy(update={"items": items}),
            "incoming": record.incoming_version,
            "resumes": "",
        }
    )
