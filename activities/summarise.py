"""Has a model sum up a conversation's beginning: reserved before it is asked, settled once."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from activities.ask_model import MOST_SECONDS, within
from activities.context import causation, is_over, is_stop
from activities.held import held
from activities.models.prices import reserve
from activities.pace import settle_turn, wanted
from activities.record import Record, accepted_of, append_own, author_of, defined_of
from domain.errors import LegatoError
from domain.events import SummaryRequested, SummarySettled
from domain.ids import run_stream
from domain.ports import ModelRequest
from domain.runs.account import used_by_failed
from domain.runs.closing import lost_summaries
from domain.runs.compaction import INSTRUCTIONS, TOLD_SHARE, told_of
from domain.runs.conversation import Usage, UserMessage
from domain.runs.fallback import model_now
from domain.runs.model_name import Provider, parse_model
from ledger.append import Part, TakenError, VersionConflictError

if TYPE_CHECKING:
    from activities.world import World
    from domain.ports import ModelAnswer
    from domain.runs.compaction import Cut
    from domain.runs.steps import CompactInput
    from ledger.pace import Wanted

MOST_ASKED = 3
"""So often a model is asked for one summary: where each execution died, none may end."""

_SPOKEN = (Provider.SCRIPT, Provider.PIPELINE)
"""Models that say what they were given to say, and cannot sum up."""


@dataclass(frozen=True)
class Summary:
    """A summary that can be asked for: the fact that reserves for it, and the request itself."""

    requested: SummaryRequested
    request: ModelRequest


async def prepared_summary(record: Record, arg: CompactInput, cut: Cut) -> Summary | None:
    """Decide what to ask for; None where no model can sum up, or was asked often enough."""
    runtime = defined_of(record).runtime
    name = model_now(record.run, runtime, arg.turn)
    earlier = sum(
        isinstance(fact, SummaryRequested) and (fact.turn, fact.step) == (arg.turn, arg.step)
        for fact in record.facts
    )
    if not name or parse_model(name).provider in _SPOKEN or earlier >= MOST_ASKED:
        return None
    request = _request(record, name, cut)
    size = len(request.instructions) + sum(len(one.text.encode()) for one in request.messages)
    reserved = await asyncio.to_thread(reserve, name, size, runtime.max_tokens)
    requested = SummaryRequested(
        turn=arg.turn,
        step=arg.step,
        n=earlier + 1,
        owner=uuid.uuid4().hex,
        model=name,
        reserved=reserved,
    )
    return Summary(requested, request)


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


async def reserve_summary(world: World, record: Record, summary: Summary) -> bool:
    """Append that it is asked for, on the very state it was decided on; False where that moved.

    Those of executions before this one are given up beside it.
    """
    run, requested = record.run, summary.requested
    at = f"{requested.type}:{requested.key()}"
    world.kill(f"before:{at}")
    part = Part(
        run_stream(accepted_of(record).run_id), (*lost_summaries(run), requested), run.version
    )
    try:
        await append_own(world.ledger, record, author_of(record, causation()), part)
    except (VersionConflictError, TakenError):
        return False
    world.kill(f"after:{at}")
    return True


def turn_of(world: World, record: Record, summary: Summary) -> Wanted | None:
    """Say which turn it wants at its model's rate."""
    asked = summary.requested
    return wanted(world, asked.model, accepted_of(record).workspace, asked.reserved)


async def ask_for(world: World, record: Record, summary: Summary) -> ModelAnswer | SummarySettled:
    """Ask once; gives the answer, or as what the request counts that came to nothing.

    Cancelled by a stop, or by the end of the run's working time, it records that first.
    """
    asked = summary.requested
    try:
        model = await asyncio.to_thread(world.model, asked.model, "")
        answer = await within(MOST_SECONDS, model(summary.request, _unheard), [])
    except asyncio.CancelledError:
        if is_stop():
            code = "over_budget" if is_over() else "stopped"
            await record_settled(world, record, settled(asked, code, Usage()))
        raise
    except LegatoError as exc:
        return settled(asked, exc.code, used_by_failed(exc.code, getattr(exc, "partial", "")))
    await settle_turn(world, turn_of(world, record, summary), answer.usage)
    return answer if answer.text.strip() else settled(asked, "empty", answer.usage)


def _unheard(_piece: str) -> None:
    """Show nobody a summary while it is written."""


def settled(asked: SummaryRequested, code: str, usage: Usage) -> SummarySettled:
    """Say why a summary took no place, and what it counts."""
    return SummarySettled(turn=asked.turn, step=asked.step, n=asked.n, code=code, usage=usage)


async def record_settled(world: World, record: Record, fact: SummarySettled) -> None:
    """Record it, unless it is known to be lost already."""
    part = Part(run_stream(accepted_of(record).run_id), (fact,))
    author = author_of(record, causation())
    with suppress(TakenError):
        await held(lambda: append_own(world.ledger, record, author, part))
