"""Ends a run in one append: what was left open, the terminal event, the slot and the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from temporalio import activity

from activities.calls import asked_calls
from activities.context import causation, temporal_run
from activities.record import Record, accepted_of, attach, author_of, refresh
from activities.run_tool import advance
from activities.stop_commands import stop_commands
from domain.events import RunEnded
from domain.ids import run_stream
from domain.runs.budget_texts import over_message
from domain.runs.closing import following, left_open, stop_status
from domain.runs.malformed import MALFORMED_CALLS, SAID
from domain.runs.position import TOO_LARGE
from domain.runs.steps import CloseInput, CloseResult, Ending, Written
from domain.runs.views import final_card
from ledger.closing import append_end, closing_parts

if TYPE_CHECKING:
    from activities.world import World
    from ledger.append import Part

CloseRun = Callable[[CloseInput], Awaitable[CloseResult]]


def make_close_run(world: World) -> CloseRun:
    """Bind the activity to its world."""

    @activity.defn(name="close_run")
    async def run(arg: CloseInput) -> CloseResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        first = record.run.version
        if record.run.ended is None:
            await _end_begun(world, record, arg.run_id)
            record = await refresh(world.ledger, world.records, arg.run_id)
        while record.run.ended is None:
            world.kill("before:run.ended")
            parts = await _parts(world, record, arg.ending)
            author = author_of(record, causation())
            await append_end(world.ledger, author, run_stream(arg.run_id), parts)
            world.kill("after:run.ended")
            record = await refresh(world.ledger, world.records, arg.run_id)
        written = Written(first, record.run.version, record.head)
        card = final_card(record.facts, record.work.seconds)
        return CloseResult(record.run.ended.status, card, written)

    return run


async def _end_begun(world: World, record: Record, run_id: str) -> None:
    """End commands that outlived their worker; after a stop, find out what calls came to."""
    await stop_commands(world, run_id)
    if not record.run.halted:
        return
    for asked in asked_calls(world, record):
        if asked.state.outcome is None:
            await advance(world, record, asked)


async def _parts(world: World, record: Record, ending: Ending) -> tuple[Part, ...]:
    """Decide the whole end on what the record says now; all heads are asserted."""
    accepted, run = accepted_of(record), record.run
    by = run.stop.by if run.stop is not None and ending.status == "stopped" else ending.by
    status, reason = stop_status(run, ending.status, ending.reason)
    ended = RunEnded(
        status=status,
        reason=reason,
        by=by,
        message=_message(record, ending),
        items_done=run.items_done,
    )
    left = left_open(run, world.registry.specs)
    stopped = ending.status in {"stopped", "over_budget"}
    after = following(run, accepted, record.incoming, stopped=stopped)
    read = record.incoming_version
    return await closing_parts(world.ledger, run, accepted, (*left, ended), after, read)


def _message(record: Record, ending: Ending) -> str:
    """Say in one sentence why the run ended; the ledger knows more than the workflow."""
    run = record.run
    if run.refused is not None:
        return "; ".join(run.refused.problems)
    if run.stop is not None and ending.status == "stopped":
        return run.stop.reason
    if run.over is not None and ending.status in {"over_budget", "stopped"}:
        return over_message(run.over)
    failed = run.step.failed if run.step is not None else None
    if ending.status == "failed" and failed is not None and failed.code == ending.reason:
        return failed.message
    if ending.reason == MALFORMED_CALLS:
        return SAID
    if ending.reason == TOO_LARGE and failed is not None:
        return failed.message
    if ending.reason in {"checks_failed", "check_cannot_run"} and run.check is not None:
        return run.check.report
    return ending.message
