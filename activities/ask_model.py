"""One model request: decided on the record, pinned before it is sent, recorded once."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from activities.budgeting import halted, over_by, warning
from activities.context import causation, is_over, is_stop
from activities.failed_requests import (
    FELL_BACK,
    after_failure,
    append_run,
    decided,
    for_capacity,
    record_failure,
)
from activities.held import held
from activities.models.prices import has_list_to_load, reserve
from activities.pace import RATE_KEPT, await_turn, settle_turn, wanted
from activities.record import (
    Record,
    accepted_of,
    append_own,
    author_of,
    defined_of,
    definition_of,
    refresh,
)
from activities.shown import shown
from activities.view import view_of
from activities.working import spend_out
from domain.budget_events import BudgetWarned
from domain.codec import canonical, canonical_list, digest_bytes
from domain.errors import LegatoError
from domain.events import (
    ContinuationDropped,
    Fact,
    ItemCompleted,
    ModelDiscarded,
    ModelFailed,
    ModelLost,
    ModelRequested,
    ModelResponded,
    TurnCompleted,
    TurnStarted,
)
from domain.ids import incoming_stream, run_stream
from domain.ports import Disposition, ModelFailure, ModelRequest
from domain.runs.checks import repair_message
from domain.runs.conversation import Message, UserMessage, message_bytes
from domain.runs.cursor import Request
from domain.runs.fallback import foreign_natives, model_now
from domain.runs.malformed import MALFORMED_CALLS, MOST_TOLD_BACK
from domain.runs.steps import StepInput, StepResult
from domain.tools.render import native_tools, render_request
from ledger.append import Part, TakenError, VersionConflictError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from activities.world import World
    from domain.ports import ModelAnswer
    from domain.runs.run import StepState
    from ledger.pace import Wanted

MOST_FAILURES = 8
"""So many requests of one step that failed or were lost end the run: with the last failure's
code, or as `model_keeps_failing` where the last one was lost."""

MOST_SECONDS = 600.0
"""Seconds that one request may take in all, however steadily its answer arrives."""


@dataclass(frozen=True)
class Prepared:
    """A request that can be sent: the facts that pin it, and the request itself."""

    facts: tuple[Fact, ...]
    requested: ModelRequested
    request: ModelRequest
    version: int
    session: str
    item: int


def _opening(record: Record, arg: StepInput) -> TurnStarted | None:
    """The turn's first message, where the turn has not begun."""
    turn = record.run.turn
    if turn is not None and turn.turn >= arg.turn:
        return None
    item = defined_of(record).items[arg.item]
    check = record.run.check
    if check is not None and check.item == arg.item and not check.ok:
        text = repair_message(item.name, check.failures, check.attempt + 1, item.repairs)
        return TurnStarted(turn=arg.turn, item=arg.item, origin="repair", text=text)
    return TurnStarted(turn=arg.turn, item=arg.item, origin="item", text=item.text)


def _messages(record: Record, told: tuple[Told, ...]) -> tuple[list[Message], list[int]]:
    """The conversation as this request sends it, and the steering messages it delivers."""
    messages = list(record.transcript.messages)
    messages.extend(UserMessage(text=one.text) for one in told)
    delivered = [
        version
        for version, message in sorted(record.incoming.items())
        if version > record.run.incoming and not message.later
    ]
    messages.extend(UserMessage(text=record.incoming[version].text) for version in delivered)
    return messages, delivered


def _sent(record: Record, request: ModelRequest) -> bytes:
    """The text of a request as it is digested; what the transcript holds is encoded already."""
    known = record.transcript.encoded
    new = (message_bytes(message) for message in request.messages[len(known) :])
    return canonical_list((canonical(request.instructions), *known, *new))


Told: TypeAlias = TurnStarted | BudgetWarned


def prepare(
    world: World, record: Record, arg: StepInput, owner: str, warned: BudgetWarned | None = None
) -> Prepared:
    """Decide what to send, on what the record says now; `warned` is told with it."""
    runtime, definition = defined_of(record).runtime, definition_of(record)
    model = model_now(record.run, runtime, arg.turn)
    view = view_of(world, record)
    told = tuple(one for one in (_opening(record, arg), warned) if one is not None)
    messages, delivered = _messages(record, told)
    request = ModelRequest(
        model=model,
        instructions=render_request(definition, view),
        messages=tuple(messages),
        tools=native_tools(view),
        max_tokens=runtime.max_tokens,
        temperature=runtime.temperature,
        ordinal=record.run.ordinal,
    )
    step = record.run.step
    here = step is not None and (step.turn, step.step) == (arg.turn, arg.step)
    n = len(step.requested) + 1 if here and step is not None else 1
    sent = _sent(record, request)
    size = len(sent) + sum(len(tool.schema.encode()) for tool in request.tools)
    requested = ModelRequested(
        turn=arg.turn, step=arg.step, n=n, owner=owner, model=model, view=view.names,
        view_digest=view.digest, request_digest=digest_bytes(sent),
        incoming=record.incoming_version, delivered=tuple(delivered),
        reserved=reserve(model, size, runtime.max_tokens),
        ordinal=record.run.ordinal,
        fallback_from=runtime.model if model != runtime.model else "",
    )  # fmt: skip
    lost: tuple[Fact, ...] = ()
    if here and step is not None and step.open is not None:
        lost = (ModelLost(turn=arg.turn, step=arg.step, n=step.open.n),)
    facts = (*lost, *told, requested, *_dropped(record, requested, messages))
    session = accepted_of(record).session
    return Prepared(facts, requested, request, record.run.version, session, arg.item)


def _dropped(
    record: Record, requested: ModelRequested, messages: Sequence[Message]
) -> tuple[Fact, ...]:
    """Say what a request to another model than the last one cannot take along."""
    answers = foreign_natives(messages, requested.model)
    if not answers or record.run.asked == requested.model:
        return ()
    return (
        ContinuationDropped(
            turn=requested.turn,
            step=requested.step,
            n=requested.n,
            model=requested.model,
            answers=answers,
        ),
    )


async def ask_model(world: World, record: Record, arg: StepInput) -> StepResult | None:
    """Get the step's response recorded; None once it is, else why the step must end.

    `record` has just been read.
    """
    owner, paced = uuid.uuid4().hex, False
    runtime = defined_of(record).runtime
    for name in filter(None, {runtime.model, runtime.fallback}):
        if has_list_to_load(name):  # never on the loop
            await asyncio.to_thread(reserve, name, 0, 0)
    while True:
        ended = await _must_end(world, record, arg)
        if ended is not None:
            return ended
        step = record.run.step
        if step is not None and (step.turn, step.step) == (arg.turn, arg.step) and step.answered:
            return None
        prepared = prepare(world, record, arg, owner)
        over = over_by(record, prepared.requested.reserved)
        if over is not None:
            with suppress(VersionConflictError, TakenError):
                await spend_out(world, record, over)
            record = await refresh(world.ledger, world.records, arg.run_id)
            continue
        prepared = await _warned(world, record, arg, prepared)
        want = None if paced else turn_wanted(world, record, prepared)
        turn = await await_turn(world, prepared.request.model, want)
        if turn.far:
            return await for_capacity(world, RATE_KEPT, turn.far)
        paced = True
        if not turn.slept and await _pin(world, record, prepared):
            came = await _send(world, record, prepared)
            if came is not FELL_BACK:
                return came
            paced = False
        record = await refresh(world.ledger, world.records, arg.run_id)


def turn_wanted(world: World, record: Record, prepared: Prepared) -> Wanted | None:
    """Say which turn a request wants at its model's rate."""
    asked = prepared.requested
    return wanted(world, asked.model, accepted_of(record).workspace, asked.reserved)


async def _warned(world: World, record: Record, arg: StepInput, plain: Prepared) -> Prepared:
    """Tell the agent to wrap up with its request, where it is time to and it still fits."""
    warned = await warning(world, record, arg, plain.requested.reserved)
    if warned is None:
        return plain
    prepared = prepare(world, record, arg, plain.requested.owner, warned)
    return plain if over_by(record, prepared.requested.reserved) is not None else prepared


async def _must_end(world: World, record: Record, arg: StepInput) -> StepResult | None:
    if record.run.ended is not None:
        return StepResult("stopped", "run_closed")
    if record.run.halted:
        return halted(record)
    if record.run.malformed > MOST_TOLD_BACK:
        return StepResult("failed", MALFORMED_CALLS)
    step = record.run.step
    if step is None or (step.turn, step.step) != (arg.turn, arg.step) or step.answered:
        return None
    if step.failures + (step.open is not None) < MOST_FAILURES:
        return None
    if step.open is None and step.failed is not None:
        return StepResult("failed", step.failed.code)
    return await _give_up(world, record, step)


async def _give_up(world: World, record: Record, step: StepState) -> StepResult:
    """Record why no other request is made after so many that were lost."""
    n = step.requested[-1].n
    lost = (ModelLost(turn=step.turn, step=step.step, n=n),) if step.open is not None else ()
    failed = ModelFailed(
        turn=step.turn,
        step=step.step,
        n=n,
        code="model_keeps_failing",
        message=(
            f"{MOST_FAILURES} requests of one step failed, the last of them with its worker: "
            "look into the worker's log, or choose another model for the run"
        ),
        disposition=Disposition.REFUSE.value,
    )
    with suppress(TakenError):
        await append_run(world, record, *lost, failed)
    return StepResult("failed", failed.code)


async def _pin(world: World, record: Record, prepared: Prepared) -> bool:
    """Append the request, asserting all it was decided on; False where that has changed."""
    stream = run_stream(accepted_of(record).run_id)
    at = f"{prepared.requested.type}:{prepared.requested.key()}"
    world.kill(f"before:{at}")
    parts = (
        Part(stream, prepared.facts, prepared.version),
        Part(incoming_stream(prepared.session), (), prepared.requested.incoming),
    )
    try:
        await append_own(world.ledger, record, author_of(record, causation()), *parts)
    except (VersionConflictError, TakenError):
        return False
    world.kill(f"after:{at}")
    return True


async def _send(world: World, record: Record, prepared: Prepared) -> StepResult | None:
    """Send the pinned request, shown to viewers meanwhile, and record what it came to."""
    asked = prepared.requested
    at = Request(asked.turn, asked.step, asked.n)
    async with shown(world.ledger, accepted_of(record).run_id, at) as show:
        return await _sent_and_recorded(world, record, prepared, show)


async def _sent_and_recorded(
    world: World, record: Record, prepared: Prepared, show: Callable[[str], None]
) -> StepResult | None:
    pieces: list[str] = []
    first = asyncio.Event()

    def on_text(piece: str) -> None:
        pieces.append(piece)
        show(piece)
        if not first.is_set():
            first.set()
            world.kill(f"in:{prepared.requested.type}:{prepared.requested.key()}")

    pipeline = defined_of(record).runtime.pipeline
    try:
        model = await asyncio.to_thread(world.model, prepared.request.model, pipeline)
        answer = await within(MOST_SECONDS, model(prepared.request, on_text), pieces)
    except asyncio.CancelledError:
        if not is_stop():
            raise
        code, said = "stopped", "the run was stopped"
        if is_over():
            code, said = "over_budget", "the working time of the run was over"
        failure = ModelFailure(code, said, Disposition.REFUSE, partial="".join(pieces))
        await record_failure(world, record, prepared.requested, failure)
        if is_over():
            return StepResult("over_budget", "budget_seconds")
        return StepResult("stopped", "stop_requested")
    except ModelFailure as raised:
        failure = decided(record, prepared.requested, raised)
        await record_failure(world, record, prepared.requested, failure)
        return await after_failure(world, record, prepared.requested, failure)
    except LegatoError as exc:
        await record_failure(
            world,
            record,
            prepared.requested,
            ModelFailure(exc.code, exc.message, Disposition.REFUSE, next=exc.next),
        )
        return StepResult("failed", exc.code)
    result = await held(lambda: _respond(world, record, prepared, answer))
    await settle_turn(world, turn_wanted(world, record, prepared), answer.usage)
    return result


async def within(
    seconds: float, asking: Awaitable[ModelAnswer], pieces: Sequence[str]
) -> ModelAnswer:
    """Await an answer for so many seconds; raises ModelFailure `model_timeout` after them."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            return await asking
    except TimeoutError:
        if not limit.expired():
            raise
    raise ModelFailure(
        "model_timeout",
        f"the model's answer was not complete after {seconds:.0f} seconds",
        Disposition.RETRY,
        partial="".join(pieces),
        next="nothing to do: it is sent again, a few times",
    )


async def _respond(
    world: World, record: Record, prepared: Prepared, answer: ModelAnswer
) -> StepResult | None:
    """Record the response; one that comes second, or after the end, is kept for its usage."""
    asked = prepared.requested
    fact = ModelResponded(
        turn=asked.turn,
        step=asked.step,
        n=asked.n,
        text=answer.text,
        calls=answer.calls,
        usage=answer.usage,
        finish=answer.finish,
        native=answer.native,
    )
    discarded = ModelDiscarded(turn=asked.turn, step=asked.step, n=asked.n, usage=answer.usage)
    at = f"{fact.type}:{fact.key()}"
    world.kill(f"before:{at}")
    try:
        if answer.calls or not await _respond_and_end(world, record, prepared, fact):
            await append_run(world, record, fact)
    except TakenError:
        await append_run(world, record, discarded)
    except LegatoError as exc:
        if exc.code != "run_closed":
            raise
        await append_run(world, record, discarded)
        return StepResult("stopped", "run_closed")
    world.kill(f"after:{at}")
    return None


async def _respond_and_end(
    world: World, record: Record, prepared: Prepared, fact: ModelResponded
) -> bool:
    """Record a last response and the turn's end at once, unless a message came meanwhile."""
    stream = run_stream(accepted_of(record).run_id)
    ending = turn_ending(record, fact.turn, prepared.item, prepared.requested.incoming)
    guard = Part(incoming_stream(prepared.session), (), prepared.requested.incoming)
    author = author_of(record, causation())
    try:
        await append_own(world.ledger, record, author, Part(stream, (fact, *ending)), guard)
    except VersionConflictError:
        return False
    return True


def turn_ending(record: Record, turn: int, item: int, incoming: int) -> tuple[Fact, ...]:
    """The facts that end a turn; an item without checks is done with its turn."""
    facts: tuple[Fact, ...] = (TurnCompleted(turn=turn, incoming=incoming),)
    if defined_of(record).items[item].checks:
        return facts
    return (*facts, ItemCompleted(item=item))
