"""Takes one step of a run: one model call and the leading reads that it asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from temporalio import activity

from activities.ask_model import ask_model, turn_ending
from activities.budgeting import halted
from activities.calls import Asked, asked_calls, not_begun, run_counted_read, run_read, settle
from activities.context import causation, temporal_run
from activities.held import held
from activities.record import (
    Record,
    accepted_of,
    attach,
    author_of,
    check_version,
    refresh,
    refresh_after_append,
)
from activities.working import within_working_time
from domain.ids import incoming_stream, run_stream
from domain.runs.budget import tokens_of
from domain.runs.budget_view import figures
from domain.runs.groups import Planned, call_groups
from domain.runs.steps import CallRef, StepInput, StepResult, Written
from domain.tools.calls import names_server
from domain.tools.intrinsic import INTRINSIC_SPECS
from domain.tools.results import Outcome
from ledger.append import Part, TakenError, VersionConflictError, append

if TYPE_CHECKING:
    from activities.world import World

TakeStep = Callable[[StepInput], Awaitable[StepResult]]

MOST_AT_ONCE = 8


def make_take_step(world: World) -> TakeStep:
    """Bind the activity to its world."""

    @activity.defn(name="take_step")
    async def run(arg: StepInput) -> StepResult:
        record = await attach(world.ledger, world.records, arg.run_id, temporal_run())
        check_version(record, arg.version, arg.head)
        first = record.run.version
        world.kill(f"before:step:{arg.turn}.{arg.step}")
        result = already(record, arg)
        if result is None:
            result, record = await _within(world, record, arg)
        return _reported(world, record, arg, result, first)

    return run


async def _within(world: World, record: Record, arg: StepInput) -> tuple[StepResult, Record]:
    """Take it within the working time that the run has left."""
    taken = await within_working_time(world, record, lambda: _take(world, record, arg))
    if taken is not None:
        return taken
    record = await refresh(world.ledger, world.records, arg.run_id)
    return halted(record), record


def already(record: Record, arg: StepInput) -> StepResult | None:
    """Give the result of a step that lies behind the run; None for the one to be taken."""
    run = record.run
    if run.turns_done >= arg.turn:
        return StepResult("turn_completed")
    step = run.step
    if step is not None and (step.turn, step.step) > (arg.turn, arg.step):
        return StepResult("again")
    return None


async def _take(world: World, record: Record, arg: StepInput) -> tuple[StepResult, Record]:
    """Ask, read, and say what is left; gives the record as it stands then."""
    step = record.run.step
    here = step is not None and (step.turn, step.step) == (arg.turn, arg.step)
    again = here and step is not None and step.answered is not None
    ended = await ask_model(world, record, arg)
    record = await refresh_after_append(world.ledger, world.records, record)
    done = ended or already(record, arg)
    if done is not None:
        return done, record
    if await _read_leading(world, record, again=again):
        record = await refresh_after_append(world.ledger, world.records, record)
    if record.run.halted:
        return halted(record), record
    result = await _rest(world, record, arg)
    if result.outcome == "turn_completed":
        record = await refresh(world.ledger, world.records, arg.run_id)
    return result, record


async def _read_leading(world: World, record: Record, *, again: bool) -> bool:
    """Run the leading calls that only read, at most eight at once, each recorded as it ends.

    `record` has just been read: it holds for those that begin at once. Where an execution
    before this one was lost among them (`again`), they run one by one and are counted, so
    that the one that takes its worker with it is found. Tells whether there were any.
    """
    leading: list[Asked] = []
    for asked in asked_calls(world, record):
        if not asked.reads:
            break
        if asked.state.outcome is None:
            leading.append(asked)
    width = 1 if again else MOST_AT_ONCE
    gate = asyncio.Semaphore(width)

    async def one(asked: Asked, *, at_once: bool) -> None:
        async with gate:
            now = record
            if not at_once:
                now = await held(lambda: refresh(world.ledger, world.records, asked.run_id))
            if now.run.halted:
                outcome = not_begun(now)
            elif again:
                outcome = await run_counted_read(world, now, asked)
            else:
                outcome = await run_read(world, now, asked)
            await held(lambda: settle(world, now, asked, outcome))

    begun = ((asked, n < width) for n, asked in enumerate(leading))
    await asyncio.gather(*(one(asked, at_once=at_once) for asked, at_once in begun))
    return bool(leading)


async def _rest(world: World, record: Record, arg: StepInput) -> StepResult:
    """Group the calls that are left, or end the turn where there were none."""
    calls = asked_calls(world, record)
    if not calls:
        return await _end_turn(world, record, arg)
    left = [planned(world, asked) for asked in calls if asked.state.outcome is None]
    groups = call_groups(left)
    return StepResult("calls", groups=groups) if groups else StepResult("again")


def shown_name(world: World, name: str) -> str:
    """Name a tool in Temporal; a name that only the model knows may hold anything."""
    known = name in world.registry.specs or name in INTRINSIC_SPECS
    return name if known else "(unknown tool)"


def planned(world: World, asked: Asked) -> Planned:
    """Describe a call for grouping."""
    resolved = asked.resolved
    at = asked.at
    if isinstance(resolved, Outcome):
        ref = CallRef(at.turn, at.step, at.position, shown_name(world, asked.name), 10.0)
        return Planned(ref, reads=True, resource="")
    spec = resolved.spec
    ref = CallRef(at.turn, at.step, at.position, spec.name, spec.timeout)
    return Planned(ref, asked.reads, spec.resource)


async def _end_turn(world: World, record: Record, arg: StepInput) -> StepResult:
    """End the turn unless a steering message waits: then the conversation goes on."""
    session = accepted_of(record).session
    position = record.run.incoming
    waiting = [v for v, m in record.incoming.items() if v > position and not m.later]
    if waiting:
        return StepResult("again")
    incoming = record.incoming_version
    facts = turn_ending(record, arg.turn, arg.item, incoming)
    try:
        await append(
            world.ledger,
            author_of(record, causation()),
            Part(run_stream(arg.run_id), facts),
            Part(incoming_stream(session), (), incoming),
        )
    except VersionConflictError:
        record = await refresh(world.ledger, world.records, arg.run_id)
        return await _end_turn(world, record, arg)
    except TakenError:
        return StepResult("turn_completed")
    return StepResult("turn_completed")


def _reported(
    world: World, record: Record, arg: StepInput, result: StepResult, first: int
) -> StepResult:
    """Add what the people who watch are shown: tools asked, tokens, spend, version range."""
    step = record.run.step
    tools: tuple[str, ...] = ()
    tokens = servers = 0
    if step is not None and (step.turn, step.step) == (arg.turn, arg.step) and step.answered:
        asked = step.answered.calls[:MOST_AT_ONCE]
        tools = tuple(shown_name(world, call.name) for call in asked)
        tokens = tokens_of(step.answered.usage)
        servers = sum(names_server(one.name, one.arguments) for one in step.answered.calls)
    spent = record.run.spent
    return replace(
        result,
        tools=tools,
        tokens=tokens,
        spent_tokens=spent.tokens,
        spent_cost="" if spent.cost_unknown else spent.cost,
        budget=figures(record.run, record.work.seconds),
        servers_named=servers,
        written=Written(first, record.run.version, record.head),
    )
