"""Runs an item's checks and records what they found, once per attempt."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio import activity

from activities.checks import Checked, run_check
from activities.context import causation, is_stop, temporal_run
from activities.execute import on_thread
from activities.held import held
from activities.record import (
    Record,
    accepted_of,
    attach,
    author_of,
    check_version,
    defined_of,
    definition_of,
    refresh,
)
from activities.stop_commands import stop_commands
from activities.working import within_working_time
from domain.agents.profile import Claim
from domain.codec import clean_text
from domain.events import CheckCompleted, Fact, ItemCompleted, event_id
from domain.ids import run_stream
from domain.ports import ToolContext
from domain.runs.sequence import CommandCheck
from domain.runs.steps import CheckInput, CheckResult, Written
from ledger.append import Part, TakenError, append

if TYPE_CHECKING:
    from activities.world import World

CheckOutput = Callable[[CheckInput], Awaitable[CheckResult]]

SHORT = 30.0


def make_check_output(world: World) -> CheckOutput:
    """Bind the activity to its world."""

    @activity.defn(name="check_output")
    async def run(arg: CheckInput) -> CheckResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        check_version(record, arg.version, arg.head)
        first = record.run.version
        done = _recorded(record, arg)
        if done is None and record.run.halted:
            await stop_commands(world, arg.run_id, f"check-{arg.item}-{arg.attempt}-")
            return _halted(record)
        if done is None:
            checked = await within_working_time(world, record, lambda: _run(world, record, arg))
            if checked is None or any(one.stopped for one in checked):
                return _halted(await refresh(world.ledger, world.records, arg.run_id))
            await held(lambda: _record(world, record, arg, checked))
            record = await refresh(world.ledger, world.records, arg.run_id)
            done = _recorded(record, arg)
        return _result(done, record, first)

    return run


def _halted(record: Record) -> CheckResult:
    """Say why the checks did not run, or not to their end."""
    over = record.run.over
    if over is None or record.run.stop is not None:
        return CheckResult("stopped")
    return CheckResult("over_budget", code=over.reason)


def _recorded(record: Record, arg: CheckInput) -> CheckCompleted | None:
    for fact in reversed(record.facts):
        if isinstance(fact, CheckCompleted) and (fact.item, fact.attempt) == (
            arg.item,
            arg.attempt,
        ):
            return fact
    return None


def _result(done: CheckCompleted | None, record: Record, first: int) -> CheckResult:
    written = Written(first, record.run.version, record.head)
    if done is None or done.terminal:
        return CheckResult("terminal", written=written)
    if done.ok:
        return CheckResult("passed", written=written)
    return CheckResult("failed", failures=len(done.failures), written=written)


def _context(
    world: World, record: Record, folder: str, limit: float, stop: threading.Event
) -> ToolContext:
    run_id, runtime = accepted_of(record).run_id, defined_of(record).runtime
    allowed = {"PATH", "LANG", "TZ", *runtime.environment}
    return ToolContext(
        run_id=run_id,
        call_id=f"{run_id}:{folder}",
        claim=Claim(run_id, runtime.workspace, definition_of(record).profile),
        workspace=runtime.workspace,
        home=world.home,
        stores=runtime.stores,
        call_folder=str(Path(world.home) / "calls" / run_id / folder),
        limit=limit,
        stop=stop,
        environment={k: v for k, v in world.environment.items() if k in allowed},
        network=runtime.network,
    )


async def _run(world: World, record: Record, arg: CheckInput) -> list[Checked]:
    """Run the checks one after another; a person's stop ends the one that runs."""
    stop = threading.Event()
    checked: list[Checked] = []
    for n, check in enumerate(defined_of(record).items[arg.item].checks):
        limit = check.limit if isinstance(check, CommandCheck) else SHORT
        folder = f"check-{arg.item}-{arg.attempt}-{n}"
        context = _context(world, record, folder, limit, stop)
        await asyncio.to_thread(Path(context.call_folder).mkdir, parents=True, exist_ok=True)
        world.kill(f"before:{folder}")
        query = world.tools.get("query_workflow_db")
        work = partial(run_check, check, context, world.confinement, query)
        future = await on_thread(work)
        try:
            checked.append(await asyncio.shield(future))
        except asyncio.CancelledError:
            if not is_stop():
                raise
            stop.set()
            checked.append(await future)
        world.kill(f"after:{folder}")
        if checked[-1].stopped:
            break
    return checked


async def _record(
    world: World, record: Record, arg: CheckInput, checked: Sequence[Checked]
) -> None:
    failures = tuple(clean_text(one.failure) for one in checked if one.failure)
    fact = CheckCompleted(
        item=arg.item,
        attempt=arg.attempt,
        ok=not failures,
        terminal=any(one.terminal for one in checked),
        failures=failures,
        report=clean_text("\n".join(one.report for one in checked)),
    )
    done: tuple[Fact, ...] = (ItemCompleted(item=arg.item),) if fact.ok else ()
    world.kill(f"before:{event_id(fact)}")
    try:
        part = Part(run_stream(arg.run_id), (fact, *done))
        await append(world.ledger, author_of(record, causation()), part)
    except TakenError:
        return
    world.kill(f"after:{event_id(fact)}")
