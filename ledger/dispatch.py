"""Begins a run in one append, or decides what a request comes to whose slot is taken."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from domain.agents.request import AgentRequest
from domain.errors import LegatoError, bug, refused
from domain.events import (
    Decision,
    Entry,
    OnCollision,
    RunAccepted,
    RunEnded,
    RunJoined,
    RunQueued,
    SlotCollided,
    StopRequested,
)
from domain.ids import (
    run_stream,
    slot_of,
    slot_stream,
    workspace_slug,
)
from domain.runs.closing import accepted as accepted_from
from domain.runs.run import Status
from domain.runs.slots import SUPERSEDED, Slot, check_scope, decide, digest
from ledger.append import TakenError, VersionConflictError, append
from ledger.closing import Parts, begin, leave
from ledger.reads import read_event, read_head, read_slot

if TYPE_CHECKING:
    from domain.codec import Json
    from domain.runs.slots import Turn
    from ledger.connect import Ledger
    from ledger.encode import Author

_AT_ONCE = 4
_PAUSE = 0.005
_LONGEST = 0.1
_TRIES = 1000


@dataclass(frozen=True)
class Launch:
    """What a front door asks to begin. `run_id` is made once by it and reused on retries.

    `scope` names the slot among those of the agent in its workspace; "" is one of the run's
    own. `on_collision` is what to do where it is taken. A run that goes on from another one,
    `resumes`, has its `session` and `slot`, whose messages were read up to `incoming`.
    """

    run_id: str
    entry: Entry
    request: AgentRequest
    queue: str
    resumes: str = ""
    scope: str = ""
    on_collision: OnCollision = OnCollision.QUEUE
    session: str = ""
    slot: str = ""
    incoming: int = 0


@dataclass(frozen=True)
class Dispatched:
    """What was decided of a request: by which run it is done, and where that one stands.

    `asked` is the request, `run_id` "" where it is dropped; `holder` is the run that held
    the slot, "" where none did. `accepted` is there for a run that was begun at once, `stop`
    where its holder was asked to make way; `version` is that of the run's stream after it, of
    the slot's where no run does it.
    """

    decision: Decision
    asked: RunQueued
    run_id: str
    version: int = 0
    holder: str = ""
    accepted: RunAccepted | None = None
    stop: StopRequested | None = None

    @property
    def workflow_id(self) -> str:
        """The Temporal workflow of a run that was begun; "" where it waits or is dropped."""
        return "" if self.accepted is None else self.accepted.workflow_id


async def dispatch(ledger: Ledger, author: Author, launch: Launch) -> Dispatched:
    """Accept a run or decide what else becomes of a request, in one append.

    Repeating it under the same id gives the first result. Raises `slot_name_invalid`,
    `slot_full` where no more may wait, and `idempotency_mismatch`.
    """
    if launch.scope:
        check_scope(launch.scope)
    asked = asked_of(launch, author.principal)
    for tried in range(_TRIES):
        try:
            untouched = not (launch.scope or launch.slot or tried)
            return await _dispatch(ledger, author, asked, untouched=untouched)
        except (VersionConflictError, TakenError):
            pass
        except LegatoError as exc:  # a holder that ended meanwhile takes no stop
            if exc.code != "run_closed":
                raise
        await asyncio.sleep(0 if tried < _AT_ONCE else min(_LONGEST, tried * _PAUSE))
    raise bug("dispatch_not_taken", f"the slot {asked.slot} moved {_TRIES} times meanwhile")


def asked_of(launch: Launch, principal: str) -> RunQueued:
    """Describe what is asked; a run with no slot of a name has one of its own."""
    workspace = workspace_slug(launch.request.workspace or "none")
    scope = launch.scope or launch.run_id[-8:]
    return RunQueued(
        run_id=launch.run_id,
        agent=launch.request.role,
        entry=launch.entry,
        workspace=workspace,
        session=launch.session or launch.run_id,
        slot=launch.slot or slot_of(workspace, launch.request.role, scope),
        queue=launch.queue,
        request=launch.request,
        incoming=launch.incoming,
        resumes=launch.resumes,
        principal=principal,
        holder="",
        on_collision=launch.on_collision,
    )


async def _dispatch(
    ledger: Ledger, author: Author, asked: RunQueued, *, untouched: bool
) -> Dispatched:
    """Decide once, on what the slot's stream says now; raises what `append` does.

    An `untouched` slot is taken for one that nobody has held yet: the append tells.
    """
    earlier = None if untouched else await _earlier(ledger, asked)
    if earlier is not None:
        return earlier
    slot = Slot() if untouched else await read_slot(ledger, asked.slot)
    turn = decide(slot, asked.run_id, asked.on_collision, _alike(asked))
    parts = Parts()
    parts.add(slot_stream(asked.slot), expected=slot.version)
    done = Dispatched(turn.decision, asked, turn.run_id, holder=slot.holder)
    if turn.decision is Decision.STARTED:
        begun = accepted_from(asked, (), slot.n + 1)
        begin(parts, begun, slot.since(), 0)
        done = replace(done, accepted=begun)
    else:
        stop = await _collide(ledger, author, parts, slot, turn, asked)
        done = replace(done, stop=stop)
    appended = await append(ledger, author, *parts.made())
    stream = run_stream(turn.run_id) if turn.run_id else slot_stream(asked.slot)
    version, _ = appended.heads[stream]
    return replace(done, version=version)


async def _collide(
    ledger: Ledger, author: Author, parts: Parts, slot: Slot, turn: Turn, asked: RunQueued
) -> StopRequested | None:
    """Add what becomes of a request at a taken slot; gives the stop of its holder, if any."""
    if turn.replaces is not None:
        ended = _superseded(author, asked.run_id)
        await leave(ledger, parts, slot, turn.replaces.run_id, ended)
    parts.add(slot_stream(asked.slot), _collided(slot, turn, asked))
    if turn.run_id == asked.run_id:
        queued = asked.model_copy(update={"holder": slot.holder})
        parts.add(run_stream(asked.run_id), queued, expected=0)
    elif turn.run_id:
        joins = RunJoined(request_id=asked.run_id, message=asked.request.message)
        parts.add(run_stream(turn.run_id), joins)
    if turn.decision is not Decision.SUPERSEDING or turn.replaces is not None:
        return None
    stop = StopRequested(
        submission=f"superseded-by-{asked.run_id}",
        reason=f"run {asked.run_id} takes its place",
        by=author.actor,
        cause=SUPERSEDED,
    )
    parts.add(run_stream(slot.holder), stop)
    return stop


def _collided(slot: Slot, turn: Turn, asked: RunQueued) -> SlotCollided:
    return SlotCollided(
        request=asked.run_id,
        on_collision=asked.on_collision,
        decision=turn.decision,
        run_id=turn.run_id,
        holder=slot.holder,
        n=slot.n,
        digest=_digest(asked),
        alike=_alike(asked) if turn.decision is Decision.COALESCED else "",
    )


def _superseded(author: Author, by: str) -> RunEnded:
    """End the run that was to supersede the holder: another one does it in its place."""
    return RunEnded(
        status=Status.SUPERSEDED.value,
        reason=SUPERSEDED,
        by=author.actor,
        message=f"run {by} takes its place in line",
        items_done=0,
    )


def _digest(asked: RunQueued) -> str:
    return digest(asked.model_dump(mode="json"))


def _alike(asked: RunQueued) -> str:
    """Name all that two requests must agree in to become one run: everything but a message."""
    if asked.resumes:
        return ""
    body: dict[str, Json] = asked.model_dump(mode="json", exclude={"run_id", "session"})
    body["request"] = asked.request.model_dump(mode="json", exclude={"message"})
    return digest(body)


async def _earlier(ledger: Ledger, asked: RunQueued) -> Dispatched | None:
    """Give what was decided of this request before; raises `idempotency_mismatch`."""
    stream = run_stream(asked.run_id)
    met = await read_event(ledger, slot_stream(asked.slot), f"slot.collided:{asked.run_id}")
    if met is not None and isinstance(met.fact, SlotCollided) and met.fact.digest == _digest(asked):
        fact = met.fact
        version = met.version
        if fact.run_id:
            version = (await read_head(ledger, run_stream(fact.run_id))).version
        return Dispatched(fact.decision, asked, fact.run_id, version, fact.holder)
    own = await read_event(ledger, stream, "run.accepted")
    if own is not None and isinstance(own.fact, RunAccepted):
        begun = accepted_from(asked, (), own.fact.n)
        if begun == own.fact:
            return Dispatched(Decision.STARTED, asked, asked.run_id, own.version, accepted=begun)
    if met is None and (await read_head(ledger, stream)).version == 0:
        return None
    raise refused(
        "idempotency_mismatch",
        f"{asked.run_id} was asked for before with other content",
        next="use a new id for a new run",
        details={"run_id": asked.run_id},
    )
