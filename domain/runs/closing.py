"""What ends with a run: open requests, calls and questions, and the session's next run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import (
    CallSettled,
    CallUnknown,
    Fact,
    InputAsked,
    InputSettled,
    ModelLost,
    OnCollision,
    RunAccepted,
    RunQueued,
    SummarySettled,
)
from domain.ids import CallAt, derived_run_id, workflow_id
from domain.runs.conversation import Usage
from domain.runs.inputs import How, InputKind
from domain.runs.run import Status
from domain.runs.sequence import Item
from domain.runs.slots import joined
from domain.runs.unknown import unknown_input, unknown_question
from domain.tools.registry import Effect, Writes
from domain.tools.results import not_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from domain.events import Asked, MessageAccepted, RunJoined
    from domain.runs.run import CallState, Run, StepState
    from domain.tools.registry import ToolSpec


def left_open(run: Run, specs: Mapping[str, ToolSpec]) -> tuple[Fact, ...]:
    """Close everything that a run leaves open.

    `specs` are the tools that are known here; of a call of another one that was under way
    nobody can tell whether it took effect.
    """
    return (*_open_request(run), *lost_summaries(run), *_open_calls(run, specs), *_open_inputs(run))


def _open_request(run: Run) -> tuple[Fact, ...]:
    step = run.step
    if step is None or step.open is None:
        return ()
    return (ModelLost(turn=step.turn, step=step.step, n=step.open.n),)


def lost_summaries(run: Run) -> tuple[SummarySettled, ...]:
    """Give up the summaries that were requested and nothing came of."""
    return tuple(
        SummarySettled(turn=held.turn, step=held.step, n=held.n, code="lost", usage=Usage())
        for held in run.account.reserved
        if held.what == "summary"
    )


def _open_calls(run: Run, specs: Mapping[str, ToolSpec]) -> tuple[Fact, ...]:
    """Give every call of the last response an outcome, or say that its effect is unknown."""
    step = run.step
    if step is None:
        return ()
    facts: list[Fact] = []
    for call in step.calls:
        if call.outcome is None and not call.unknown:
            facts.extend(_close_call(step, call, specs.get(call.tool or call.request.name)))
    return tuple(facts)


def _close_call(step: StepState, call: CallState, spec: ToolSpec | None) -> tuple[Fact, ...]:
    at = CallAt(step.turn, step.step, call.request.position)
    name = (call.tool or call.request.name)[:200]
    harmless = call.round == 0 or call.asks
    if spec is not None:
        kept = spec.writes in {Writes.NOTHING, Writes.LEDGER}
        harmless = harmless or spec.effect is Effect.READ or kept
    where = {"turn": at.turn, "step": at.step, "position": at.position}
    if harmless:
        outcome = not_run("run_ended", "The run ended before this call came to an outcome.")
        return (CallSettled.model_validate({**where, "name": name, "outcome": outcome}),)
    reason = "the run ended while it was under way"
    question = unknown_question(name, reason)
    return (
        CallUnknown.model_validate({**where, "round": call.round, "name": name, "reason": reason}),
        InputAsked.model_validate(
            {**where, "input_id": unknown_input(at, call.round), "question": question}
        ),
    )


def _open_inputs(run: Run) -> tuple[Fact, ...]:
    """Withdraw the questions that nobody needs answered any more; unknown effects stay."""
    return tuple(
        InputSettled(input_id=state.asked.input_id, how=How.WITHDRAWN, answer="", by="system")
        for state in run.inputs
        if state.settled is None and state.asked.question.kind is not InputKind.UNKNOWN
    )


def following(
    run: Run, asked: Asked, incoming: Mapping[int, MessageAccepted], *, stopped: bool
) -> RunQueued | None:
    """Give the session's next run, where messages wait: one item a message.

    `incoming` are the session's messages by version. Those for later wait by their sender's
    wish. One that was to steer and came too late to be read starts the next run as well,
    unless the run was stopped: then it stays for whoever goes on.
    """
    waiting = [
        message
        for version, message in sorted(incoming.items())
        if (message.later and version > asked.incoming)
        or (not message.later and version > run.incoming and not stopped)
    ]
    if not waiting:
        return None
    items = tuple(
        Item(kind="message", name=f"message {n}", text=message.text)
        for n, message in enumerate(waiting, start=1)
    )
    return RunQueued(
        run_id=following_id(asked),
        agent=asked.agent,
        entry=asked.entry,
        workspace=asked.workspace,
        session=asked.session,
        slot=asked.slot,
        queue=asked.queue,
        request=asked.request.model_copy(update={"items": items}),
        incoming=max(incoming),
        principal=asked.principal,
        holder=asked.run_id,
        on_collision=OnCollision.QUEUE,
    )


def following_id(asked: Asked) -> str:
    """Name the session's next run, known before there is one."""
    after = str(asked.n + 1) if isinstance(asked, RunAccepted) else asked.run_id
    return derived_run_id(asked.slot, after)


def accepted(queued: RunQueued, joining: Sequence[RunJoined], n: int) -> RunAccepted:
    """Accept a run as its slot's n-th holder, with all requests that became part of it."""
    requests = (queued.run_id, *(one.request_id for one in joining)) if joining else ()
    return RunAccepted(
        run_id=queued.run_id,
        workflow_id=workflow_id(queued.slot, n),
        agent=queued.agent,
        entry=queued.entry,
        workspace=queued.workspace,
        session=queued.session,
        slot=queued.slot,
        n=n,
        queue=queued.queue,
        request=joined(queued.request, [one.message for one in joining]),
        incoming=queued.incoming,
        resumes=queued.resumes,
        principal=queued.principal,
        requests=requests,
    )


def stop_status(run: Run, status: str, reason: str) -> tuple[str, str]:
    """Say how a run ends that may begin nothing more: its status and the code of why."""
    if status == "stopped" and run.stop is None and run.over is not None:
        return Status.OVER_BUDGET.value, run.over.reason
    if status != "stopped" or run.stop is None or run.stop.cause == "stop_requested":
        return status, reason
    return Status.SUPERSEDED.value, run.stop.cause
