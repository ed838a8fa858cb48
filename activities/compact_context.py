"""Puts a summary in the place of a conversation's beginning, where the whole was too long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from temporalio import activity

from activities.budgeting import halted, over_by
from activities.context import causation, is_over, is_stop, temporal_run
from activities.held import held
from activities.pace import await_turn
from activities.record import (
    Record,
    accepted_of,
    append_own,
    attach,
    author_of,
    check_version,
    refresh,
)
from activities.summarise import (
    Summary,
    ask_for,
    prepared_summary,
    record_settled,
    reserve_summary,
    settled,
    turn_of,
)
from activities.working import spend_out, within_working_time
from domain.errors import LegatoError
from domain.events import ContextCompacted, SummarySettled
from domain.ids import run_stream
from domain.runs.account import NOTHING
from domain.runs.closing import lost_summaries
from domain.runs.compaction import Cut, plan_cut, recorded_summary, still_open
from domain.runs.steps import CompactInput, CompactResult, Written
from ledger.append import Part, TakenError, VersionConflictError

if TYPE_CHECKING:
    from activities.world import World

CompactContext = Callable[[CompactInput], Awaitable[CompactResult]]


def make_compact_context(world: World) -> CompactContext:
    """Bind the activity to its world."""

    @activity.defn(name="compact_context")
    async def run(arg: CompactInput) -> CompactResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        check_version(record, arg.version, arg.head)
        first = record.run.version
        result = await within_working_time(world, record, lambda: _until_stop(world, record, arg))
        now = await refresh(world.ledger, world.records, arg.run_id)
        spent = now.run.spent
        return replace(
            result or _halted(now),
            spent_tokens=spent.tokens,
            spent_cost="" if spent.cost_unknown else spent.cost,
            written=Written(first, now.run.version, now.head),
        )

    return run


async def _until_stop(world: World, record: Record, arg: CompactInput) -> CompactResult:
    try:
        return await _compact(world, record, arg)
    except asyncio.CancelledError:
        if not is_stop():
            raise
    if is_over():
        return CompactResult("over_budget", "budget_seconds")
    return CompactResult("stopped", "stop_requested")


async def _compact(world: World, record: Record, arg: CompactInput) -> CompactResult:
    """Have it summed up; decided anew on what the record says whenever that has moved."""
    paced = False
    while True:
        ended = _ended(record, arg)
        if ended is not None:
            return ended
        cut = plan_cut(record.transcript, arg.turn)
        if cut is None:
            return CompactResult("too_large")
        summary = await prepared_summary(record, arg, cut)
        if summary is None:
            await _from_record(world, record, arg, cut)
        elif not await _spent_out(world, record, summary):
            want = None if paced else turn_of(world, record, summary)
            turn, paced = await await_turn(world, summary.requested.model, want), True
            if turn.far:
                await _from_record(world, record, arg, cut)
            elif not turn.slept and await reserve_summary(world, record, summary):
                await _by_model(world, record, cut, summary)
        record = await refresh(world.ledger, world.records, arg.run_id)


def _ended(record: Record, arg: CompactInput) -> CompactResult | None:
    """Say how it ended, None where it is still to be done."""
    run, done = record.run, record.run.compacted
    if done is not None and (done.turn, done.step) == (arg.turn, arg.step):
        return CompactResult("compacted")
    return _halted(record) if run.halted or run.ended is not None else None


def _halted(record: Record) -> CompactResult:
    """Say why nothing is summed up in a run that was stopped, or spent its budget."""
    why = halted(record)
    return CompactResult("over_budget" if why.outcome == "over_budget" else "stopped", why.code)


async def _spent_out(world: World, record: Record, summary: Summary) -> bool:
    """Tell whether the summary would pass a limit; records it, where nothing has moved."""
    over = over_by(record, summary.requested.reserved)
    if over is None:
        return False
    with suppress(VersionConflictError, TakenError):
        await spend_out(world, record, over)
    return True


async def _from_record(world: World, record: Record, arg: CompactInput, cut: Cut) -> None:
    """Take the summary from the record; what was asked of a model before is given up."""
    fact = _fact(record, (arg.turn, arg.step), cut, recorded_summary(cut.old))
    await held(lambda: _append(world, record, *lost_summaries(record.run), fact))


async def _by_model(world: World, record: Record, cut: Cut, summary: Summary) -> None:
    """Have a model asked and record what came of it: its summary, or one from the record."""
    asked = summary.requested
    came = await ask_for(world, record, summary)
    fact = _fact(record, (asked.turn, asked.step), cut, recorded_summary(cut.old))
    facts: tuple[SummarySettled | ContextCompacted, ...]
    if isinstance(came, SummarySettled):
        left, facts = came, (came, fact)
    else:
        fact = _fact(record, (asked.turn, asked.step), cut, came.text)
        by = {"model": asked.model, "n": asked.n, "usage": came.usage}
        left, facts = settled(asked, "discarded", came.usage), (fact.model_copy(update=by),)
    if not await held(lambda: _append(world, record, *facts)):
        await record_settled(world, record, left)


def _fact(record: Record, at: tuple[int, int], cut: Cut, summary: str) -> ContextCompacted:
    left = still_open(record.run)
    return ContextCompacted(
        turn=at[0],
        step=at[1],
        through_turn=cut.turn,
        through_step=cut.step,
        summary=f"{summary}\n{left}" if left else summary,
        kept=cut.kept,
        model="",
        usage=NOTHING,
    )


async def _append(world: World, record: Record, *facts: SummarySettled | ContextCompacted) -> bool:
    """Append a summary; False where there is one already, or the run has ended."""
    at = f"{facts[-1].type}:{facts[-1].key()}"
    world.kill(f"before:{at}")
    part = Part(run_stream(accepted_of(record).run_id), facts)
    try:
        await append_own(world.ledger, record, author_of(record, causation()), part)
    except TakenError:
        return False
    except LegatoError as exc:
        if exc.code != "run_closed":
            raise
        return False
    world.kill(f"after:{at}")
    return True
