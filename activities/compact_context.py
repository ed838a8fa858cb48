"""Puts a summary in the place of a conversation's beginning, where the whole was too long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from temporalio import activity

from activities.ask_model import MOST_SECONDS, within
from activities.context import causation, is_stop, temporal_run
from activities.held import held
from activities.models.prices import reserve
from activities.pace import await_turn, settle_turn, wanted
from activities.record import (
    Record,
    accepted_of,
    append_own,
    attach,
    author_of,
    check_version,
    defined_of,
    refresh,
)
from domain.errors import LegatoError
from domain.events import ContextCompacted
from domain.ids import run_stream
from domain.ports import ModelRequest
from domain.runs.budget import exceeded
from domain.runs.compaction import (
    INSTRUCTIONS,
    TOLD_SHARE,
    Cut,
    plan_cut,
    recorded_summary,
    still_open,
    told_of,
)
from domain.runs.conversation import Usage, UserMessage
from domain.runs.fallback import model_now
from domain.runs.model_name import Provider, parse_model
from domain.runs.steps import CompactInput, CompactResult, Written
from ledger.append import Part, TakenError

if TYPE_CHECKING:
    from activities.world import World
    from domain.ports import ModelAnswer

CompactContext = Callable[[CompactInput], Awaitable[CompactResult]]

FREE = Usage(input_tokens=0, output_tokens=0, cost="0")
"""What a summary uses that no model wrote."""

_SPOKEN = (Provider.SCRIPT, Provider.PIPELINE)
"""Models that say what they were given to say, and cannot sum up."""


def make_compact_context(world: World) -> CompactContext:
    """Bind the activity to its world."""

    @activity.defn(name="compact_context")
    async def run(arg: CompactInput) -> CompactResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        check_version(record, arg.version, arg.head)
        first = record.run.version
        outcome = await _compact(world, record, arg)
        record = await refresh(world.ledger, world.records, arg.run_id)
        spent = record.run.spent
        return CompactResult(
            outcome,
            spent_tokens=spent.tokens,
            spent_cost="" if spent.cost_unknown else spent.cost,
            written=Written(first, record.run.version, record.head),
        )

    return run


async def _compact(
    world: World, record: Record, arg: CompactInput
) -> Literal["compacted", "too_large", "stopped"]:
    done = record.run.compacted
    if done is not None and (done.turn, done.step) == (arg.turn, arg.step):
        return "compacted"
    if record.run.stop is not None or record.run.ended is not None:
        return "stopped"
    cut = plan_cut(record.transcript, arg.turn)
    if cut is None:
        return "too_large"
    name = model_now(record.run, defined_of(record).runtime, arg.turn)
    try:
        answer = await _asked(world, record, name, cut)
    except asyncio.CancelledError:
        if not is_stop():
            raise
        return "stopped"
    fact = _fact(record, arg, cut, answer)
    if answer is not None:
        fact = fact.model_copy(update={"model": name, "usage": answer.usage})
    await held(lambda: _record(world, record, arg, fact))
    return "compacted"


def _fact(
    record: Record, arg: CompactInput, cut: Cut, answer: ModelAnswer | None
) -> ContextCompacted:
    summary = recorded_summary(cut.old) if answer is None else answer.text
    left = still_open(record.run)
    return ContextCompacted(
        turn=arg.turn,
        step=arg.step,
        through_turn=cut.turn,
        through_step=cut.step,
        summary=f"{summary}\n{left}" if left else summary,
        kept=cut.kept,
        model="",
        usage=FREE,
    )


async def _record(world: World, record: Record, arg: CompactInput, fact: ContextCompacted) -> None:
    at = f"{fact.type}:{fact.key()}"
    world.kill(f"before:{at}")
    part = Part(run_stream(arg.run_id), (fact,))
    with suppress(TakenError):
        await append_own(world.ledger, record, author_of(record, causation()), part)
    world.kill(f"after:{at}")


async def _asked(world: World, record: Record, name: str, cut: Cut) -> ModelAnswer | None:
    """Have a model sum up, in one request; None where it cannot, or not be paid."""
    runtime = defined_of(record).runtime
    if not name or parse_model(name).provider in _SPOKEN:
        return None
    request = _request(record, name, cut)
    size = len(request.instructions) + sum(len(one.text.encode()) for one in request.messages)
    reserved = await asyncio.to_thread(reserve, name, size, runtime.max_tokens)
    if exceeded(runtime.budget, record.run.spent, reserved) is not None:
        return None
    want = wanted(world, name, accepted_of(record).workspace, reserved)
    if (await await_turn(world, name, want)).far:
        return None
    try:
        model = await asyncio.to_thread(world.model, name, "")
        answer = await within(MOST_SECONDS, model(request, _unheard), [])
    except LegatoError:
        return None
    await settle_turn(world, want, answer.usage)
    return answer if answer.text.strip() else None


def _unheard(_piece: str) -> None:
    """Show nobody a summary while it is written."""


def _request(record: Record, name: str, cut: Cut) -> ModelRequest:
    runtime = defined_of(record).runtime
    most = int(sum(len(one) for one in record.transcript.encoded) * TOLD_SHARE)
    return ModelRequest(
        model=name,
        instructions=INSTRUCTIONS,
        messages=(UserMessage(text=told_of(cut.old, most)),),
        tools=(),
        max_tokens=runtime.max_tokens,
        temperature=runtime.temperature,
        ordinal=record.run.ordinal,
    )
