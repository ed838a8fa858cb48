"""One call of a run: found in the record, resolved against the view, settled in the ledger."""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from activities.context import causation
from activities.execute import execute, read_outcome
from activities.record import (
    Record,
    accepted_of,
    append_own,
    author_of,
    defined_of,
    definition_of,
    told_facts,
)
from activities.view import view_of
from domain.agents.profile import Claim
from domain.errors import LegatoError
from domain.events import CallIntended, CallSettled, Fact, event_id
from domain.ids import CallAt, call_id, run_stream
from domain.ports import ToolContext
from domain.runs.budget import calls_left
from domain.runs.inputs import InputKind
from domain.runs.run import OUT_OF_CALLS, CallState
from domain.runs.unknown import AGAIN
from domain.tools.calls import Resolved, api_spec, resolve_call
from domain.tools.intrinsic import GET_API_SPEC, READ_RESULT, READ_SKILL, read_piece, read_skill
from domain.tools.outages import out
from domain.tools.registry import Effect
from domain.tools.results import Outcome, error, not_run
from ledger.append import Part, TakenError

if TYPE_CHECKING:
    from activities.world import World
    from domain.tools.effective import EffectiveView

READ_LIMIT = 30.0
"""Seconds that a read which rides along in a step may take at most."""

MOST_ROUNDS = 5
"""So many executions of one call may begin; another would most likely end as they did."""


@dataclass(frozen=True)
class Asked:
    """One call with all that is needed to run it; `resolved` may be a refusal already."""

    run_id: str
    at: CallAt
    state: CallState
    resolved: Resolved | Outcome
    stop: threading.Event = field(default_factory=threading.Event)

    @property
    def name(self) -> str:
        """The tool's own name, also where it was asked for through `call_tool`."""
        asked = self.state.request.name
        return asked[:200] if isinstance(self.resolved, Outcome) else self.resolved.name

    @property
    def reads(self) -> bool:
        """Tell whether it can ride along in a step: it only reads, or is refused anyway."""
        resolved = self.resolved
        return isinstance(resolved, Outcome) or resolved.spec.effect is Effect.READ


def asked_calls(world: World, record: Record) -> list[Asked]:
    """Resolve all calls of the step that is being taken, by one view."""
    step = record.run.step
    if step is None or step.answered is None:
        return []
    view = view_of(world, record)
    asked = step.asked()
    offered = asked.view if asked is not None else None
    missing = servers_out(record, view)
    counted = sum(state.counted for state in step.calls)
    left = calls_left(record.run.budget, record.run.spent, counted)
    return [
        Asked(
            run_id=accepted_of(record).run_id,
            at=CallAt(step.turn, step.step, state.request.position),
            state=state,
            resolved=resolve_call(
                offered, view, state.request.name, state.request.arguments, missing
            )
            if left is None or n < left
            else not_run(OUT_OF_CALLS, "The run has made all the tool calls that it may."),
        )
        for n, state in enumerate(step.calls)
    ]


def servers_out(record: Record, view: EffectiveView) -> frozenset[str]:
    """Name the servers that the run could not reach when it asked them last."""
    settled = (fact for fact in record.facts if isinstance(fact, CallSettled))
    return out(view, ((fact.name, fact.outcome.code) for fact in settled))


def not_begun(record: Record) -> Outcome:
    """Settle a call that had not begun when the run was stopped, or its budget spent."""
    if record.run.stop is not None:
        return not_run("stopped", "The run was stopped before this call began.")
    return not_run("over_budget", "The run's budget was spent before this call began.")


def tool_context(world: World, record: Record, asked: Asked, limit: float) -> ToolContext:
    """Give a call what it needs beside its arguments, the claim among it."""
    definition, runtime = definition_of(record), defined_of(record).runtime
    named = call_id(asked.run_id, asked.at)
    allowed = {"PATH", "LANG", "TZ", *runtime.environment}
    return ToolContext(
        run_id=asked.run_id,
        call_id=named,
        claim=Claim(asked.run_id, runtime.workspace, definition.profile),
        workspace=runtime.workspace,
        home=world.home,
        stores=runtime.stores,
        call_folder=str(Path(world.home) / "calls" / asked.run_id / _folder(record, asked)),
        limit=limit,
        stop=asked.stop,
        environment={k: v for k, v in world.environment.items() if k in allowed},
        skills={skill.name: skill.text for skill in definition.skills},
        facts=told_facts(record),
        network=runtime.network,
    )


def _folder(record: Record, asked: Asked) -> str:
    """Name a call's folder: one for all attempts, a new one each time a person says again."""
    at = (asked.at.turn, asked.at.step, asked.at.position)
    again = sum(
        state.settled is not None and state.settled.answer == AGAIN
        for state in record.run.inputs
        if (state.asked.turn, state.asked.step, state.asked.position) == at
        and state.asked.question.kind is InputKind.UNKNOWN
    )
    return f"{asked.at.key}-again-{again}" if again else asked.at.key


def _intrinsic(record: Record, view: EffectiveView, resolved: Resolved) -> Outcome | None:
    """Answer the tools that every agent has; None for any other."""
    given = resolved.arguments
    match resolved.name:
        case name if name == GET_API_SPEC:
            return api_spec(view, given["tool_names"], servers_out(record, view))
        case name if name == READ_SKILL:
            skills = {skill.name: skill.text for skill in definition_of(record).skills}
            return read_skill(skills, str(given["name"]))
        case name if name == READ_RESULT:
            return _read_result(record, str(given["id"]), cast("int", given.get("offset", 0)))
        case _:
            return None


def _read_result(record: Record, result_id: str, offset: int) -> Outcome:
    sources = [("", record.facts), *((one.prefix, one.facts) for one in record.earlier)]
    for prefix, facts in sources:
        for fact in facts:
            if isinstance(fact, CallSettled) and prefix + fact.key() == result_id:
                return read_piece(fact.outcome.text, result_id, offset)
    return error("result_unknown", f"There is no result {result_id!r} in this run.")


async def run_read(world: World, record: Record, asked: Asked) -> Outcome:
    """Run a call that changes nothing; it always comes to an outcome."""
    resolved = asked.resolved
    if isinstance(resolved, Outcome):
        return resolved
    known = _intrinsic(record, view_of(world, record), resolved)
    if known is not None:
        return known
    tool = world.tool_of(resolved.spec)
    limit = min(READ_LIMIT, resolved.spec.timeout)
    context = tool_context(world, record, asked, limit)
    came = await execute(tool, resolved.arguments, context, asked.stop)
    return read_outcome(came, resolved.name)


async def run_counted_read(world: World, record: Record, asked: Asked) -> Outcome:
    """Run a read that executions before this one may have begun, and count this one.

    After `MOST_ROUNDS` the outcome is `keeps_failing`: it takes its worker with it.
    """
    if isinstance(asked.resolved, Outcome):
        return asked.resolved
    if asked.state.round >= MOST_ROUNDS:
        return keeps_failing(asked.name)
    await intend(world, record, asked, uuid.uuid4().hex)
    return await run_read(world, record, asked)


def keeps_failing(name: str) -> Outcome:
    """Say that a call was begun again and again and none of its executions came to an end."""
    return error(
        "keeps_failing",
        f"{name} was begun {MOST_ROUNDS} times, and each time the worker was lost before it "
        "ended. Do without it, or call it in another way.",
    )


async def intend(world: World, record: Record, asked: Asked, owner: str) -> bool:
    """Commit that an execution begins; False where another was first."""
    resolved = asked.resolved
    if isinstance(resolved, Outcome):
        return False
    fact = CallIntended(
        turn=asked.at.turn,
        step=asked.at.step,
        position=asked.at.position,
        round=asked.state.round + 1,
        owner=owner,
        name=resolved.name,
        binding=resolved.spec.binding,
        limit=resolved.spec.timeout,
    )
    world.kill(f"before:{event_id(fact)}")
    part = Part(run_stream(asked.run_id), (fact,))
    try:
        await append_own(world.ledger, record, author_of(record, causation()), part)
    except TakenError:
        return False
    world.kill(f"after:{event_id(fact)}")
    return True


def settled_fact(asked: Asked, outcome: Outcome, by: str = "execution") -> CallSettled:
    """Build the fact of a call's outcome."""
    return CallSettled.model_validate(
        {
            "turn": asked.at.turn,
            "step": asked.at.step,
            "position": asked.at.position,
            "name": asked.name,
            "outcome": outcome,
            "by": by,
        }
    )


async def settle(  # noqa: PLR0913 - an outcome and all that is recorded with it
    world: World, record: Record, asked: Asked, outcome: Outcome, *,
    by: str = "execution", facts: tuple[Fact, ...] = (), expected: int | None = None,
) -> None:  # fmt: skip
    """Record a call's outcome with the facts that belong to it; the first outcome stands.

    A run that has ended takes the outcome, and of the other facts what may come after its
    end. Raises `version_conflict` where the run is not at `expected`.
    """
    stream, author = run_stream(asked.run_id), author_of(record, causation())
    fact = settled_fact(asked, outcome, by)
    world.kill(f"before:{event_id(fact)}")
    try:
        await append_own(world.ledger, record, author, Part(stream, (*facts, fact), expected))
    except TakenError:
        return
    except LegatoError as exc:
        if exc.code != "run_closed" or not facts:
            raise
        allowed = tuple(one for one in facts if one.after_end)
        await append_own(world.ledger, record, author, Part(stream, (*allowed, fact)))
    world.kill(f"after:{event_id(fact)}")
