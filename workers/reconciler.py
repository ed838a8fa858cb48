"""Compares runs with Temporal and mends what differs; needs no leader, several do no harm."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import structlog
from temporalio.service import RPCError

from domain.errors import LegatoError
from domain.ids import incoming_stream, run_stream
from domain.runs.position import Position
from domain.runs.reconcile import (
    End,
    Heal,
    Leave,
    Look,
    Restart,
    Start,
    Stick,
    Terminate,
    Trouble,
    action_for,
)
from domain.runs.run import fold
from ledger.connect import UNREACHABLE
from ledger.lost import end_lost
from ledger.reads import clock, read_stream
from ledger.watch import (
    quiet_runs,
    reconciler,
    say_healed,
    say_reconciled,
    say_stuck,
)
from legato.client import HandOver, end_workflow, hand_over, start_again, tell_to_look
from legato.compare import compare
from legato.seen import see
from workers.backlog import Backlog, next_ended
from workers.relay import final_code

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from domain.events import RunAccepted
    from domain.runs.reconcile import Action
    from domain.runs.run import Run
    from ledger.reads import Stored

log = structlog.get_logger()

MOST = 500
"""Runs of one pass; the rest comes in the next."""

AT_ONCE = 4
_SILENT = (LegatoError, RPCError, *UNREACHABLE)


@dataclass
class Reconciler:
    """What one process needs.

    `told` is when an ended run's open workflow was told to end, `read` which histories were
    read at which length, `ended` which ended runs are still to be compared.
    """

    to: HandOver
    grace: timedelta
    told: dict[str, float] = field(default_factory=dict[str, float])
    read: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    ended: Backlog = field(default_factory=Backlog)


async def reconcile(to: HandOver, grace: timedelta, stop: asyncio.Event) -> None:
    """Compare, pass after pass, until told to stop; what cannot be asked now is asked later."""
    mine = Reconciler(to, grace)
    while not stop.is_set():
        pause = grace.total_seconds() * random.uniform(0.4, 0.6)  # noqa: S311 - so that workers do not ask at once
        try:
            await asyncio.wait_for(stop.wait(), pause)
        except TimeoutError:
            await one_pass(mine)


async def one_pass(mine: Reconciler) -> None:
    """Look once at quiet runs, and at ended ones that were not compared yet."""
    ledger = mine.to.ledger
    try:
        quiet = await quiet_runs(ledger, mine.grace, MOST)
        ended = await next_ended(ledger, mine.ended, mine.grace, MOST)
    except _SILENT as exc:
        log.warning("reconciler_waits", error=type(exc).__name__)
        return
    await _each(quiet, lambda run_id: look_at(mine, run_id))
    await _each(ended, lambda run_id: look_after(mine, run_id))


async def _each(runs: Sequence[str], work: Callable[[str], Awaitable[None]]) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(run_id: str) -> None:
        async with gate:
            try:
                await work(run_id)
            except _SILENT as exc:
                log.warning("not_reconciled", run_id=run_id, error=type(exc).__name__)
            except Exception as exc:
                log.exception("reconciler_failed", run_id=run_id, error=type(exc).__name__)

    await asyncio.gather(*(one(run_id) for run_id in runs))


async def look_at(mine: Reconciler, run_id: str) -> None:
    """Compare one open run with its workflow, and do what the rule says.

    The ledger is read before Temporal is asked: what a later Temporal run has written since
    then cannot look like something that Temporal has forgotten.
    """
    stored = await read_stream(mine.to.ledger, run_stream(run_id))
    run = fold([event.fact for event in stored])
    if run.accepted is None or run.ended is not None:
        return
    seen = await see(mine.to.client, run.accepted.workflow_id, mine.read)
    begun = next(one for one in stored if one.fact == run.accepted)
    since = await clock(mine.to.ledger) - begun.recorded_at
    action = action_for(run, seen, since, mine.grace)
    if isinstance(action, Leave):
        return
    log.warning("reconciling", run_id=run_id, action=type(action).__name__, state=seen.state)
    await _do(mine, run, run.accepted, stored, action)


async def _do(
    mine: Reconciler, run: Run, accepted: RunAccepted, stored: Sequence[Stored], action: Action
) -> None:
    ledger, run_id = mine.to.ledger, accepted.run_id
    match action:
        case Start():
            await _start(mine, run, accepted)
        case Restart():
            position = await _position(mine, accepted, run, stored)
            await start_again(mine.to, accepted, position, action.behind)
        case Look():
            kind = "stop.requested" if run.stop is not None else "run.reconciled"
            await tell_to_look(mine.to.client, accepted.workflow_id, kind, f"version {run.version}")
        case Stick():
            await say_stuck(ledger, run_id, run, action.trouble)
        case Heal():
            await say_healed(ledger, run_id, run)
        case End():
            await end_lost(ledger, reconciler(run_id), run, action.reason)
        case Terminate():
            await end_workflow(mine.to.client, accepted.workflow_id, "", action.reason)
        case Leave():
            pass


async def _start(mine: Reconciler, run: Run, accepted: RunAccepted) -> None:
    """Start a workflow that nobody did; where Temporal refuses it for good, say so."""
    try:
        await hand_over(mine.to, accepted, "run.accepted", accepted.run_id)
    except (RPCError, TypeError, ValueError) as exc:
        code = final_code(exc)
        if not code:
            raise
        why = f"Temporal refuses to start the workflow: {code}"
        trouble = Trouble("start_refused", "the start of its workflow", why, 1)
        if run.stuck is None:
            await say_stuck(mine.to.ledger, accepted.run_id, run, trouble)


async def _position(
    mine: Reconciler, accepted: RunAccepted, run: Run, stored: Sequence[Stored]
) -> Position:
    """Say where a run begins anew: at its beginning, with the counters that name new events."""
    incoming = await read_stream(mine.to.ledger, incoming_stream(accepted.session))
    mark = f"signal-{accepted.run_id}-"
    names = [str(getattr(event.fact, "submission", "")) for event in (*stored, *incoming)]
    signals = [int(name.removeprefix(mark)) for name in names if name.startswith(mark)]
    return Position(waits=run.waits, signals=max(signals, default=0))


async def look_after(mine: Reconciler, run_id: str) -> None:
    """Compare an ended run once its workflow is closed; one that stays open is made to end."""
    stored = await read_stream(mine.to.ledger, run_stream(run_id))
    run = fold([event.fact for event in stored])
    if run.accepted is None or run.ended is None:
        return
    workflow_id = run.accepted.workflow_id
    seen = await see(mine.to.client, workflow_id)
    if seen.state != "open":
        mine.told.pop(run_id, None)
        compared = await compare(mine.to.client, mine.to.ledger, run_id)
        if compared.result == "mismatch":
            log.error("mismatch", run_id=run_id, version=compared.place and compared.place.version)
        await say_reconciled(mine.to.ledger, run_id, compared.fact())
        return
    told = mine.told.setdefault(run_id, time.monotonic())
    if time.monotonic() - told >= mine.grace.total_seconds():
        log.warning("reconciling", run_id=run_id, action="Terminate", state="open after the end")
        await end_workflow(mine.to.client, workflow_id, "", "its run has ended")
        return
    await tell_to_look(mine.to.client, workflow_id, "stop.requested", "run.ended")
