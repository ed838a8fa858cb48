"""A run as an activity sees it: folded from the ledger, kept up to date between activities."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from activities.context import begin_execution, worked
from domain.agents.definition import AgentDefinition
from domain.codec import decode_object
from domain.errors import LegatoError, bug, refused
from domain.events import Fact, MessageAccepted, RunAccepted, RunAttached, RunDefined, RunResumed
from domain.ids import incoming_stream, run_stream
from domain.runs.run import Run, evolve
from domain.runs.transcript import Earlier, Transcript, tell_earlier
from domain.runs.working import Work, tell
from domain.tools.effective import EffectiveView
from domain.tools.policy import TurnPolicy
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.blobs import get_blob
from ledger.connect import reaching
from ledger.encode import Author
from ledger.reads import read_both, read_stream
from ledger.session import read_earlier

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.append import Appended
    from ledger.connect import Ledger
    from ledger.reads import Stored

MOST_KEPT = 64
UNSEEN = 1 << 62
"""A version that no stream reaches: what stands in it now must be read."""


@dataclass
class Record:
    """One run's facts so far, its fold, its conversation, and its session's messages.

    It only grows; whoever holds it reads on from the ledger before deciding anything.
    `view` is the view last derived, with the policy that it was derived under; `earlier`
    is what the session's runs before this one hold. `seen` is the highest version that the
    run's stream is known to have reached, `heads` the hashes of its events by version,
    and `work` how long the run has worked.
    """

    run: Run = field(default_factory=Run)
    facts: list[Fact] = field(default_factory=list[Fact])
    transcript: Transcript = field(default_factory=Transcript)
    incoming: dict[int, MessageAccepted] = field(default_factory=dict[int, MessageAccepted])
    incoming_version: int = 0
    head: str = ""
    heads: dict[int, str] = field(default_factory=dict[int, str])
    seen: int = 0
    definition: AgentDefinition | None = None
    earlier: tuple[Earlier, ...] = ()
    view: tuple[TurnPolicy, EffectiveView] | None = None
    work: Work = field(default_factory=Work)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def texts(self) -> dict[int, str]:
        """The session's messages by their version."""
        return {version: message.text for version, message in self.incoming.items()}


@dataclass
class Records:
    """The runs that this process has folded lately; a cache that may be dropped at any time."""

    kept: OrderedDict[str, Record] = field(default_factory=OrderedDict[str, Record])

    def of(self, run_id: str) -> Record:
        """Give the run's record, dropping the one unused for longest where there are many."""
        record = self.kept.pop(run_id, None) or Record()
        self.kept[run_id] = record
        while len(self.kept) > MOST_KEPT:
            self.kept.popitem(last=False)
        return record


async def refresh(ledger: Ledger, records: Records, run_id: str) -> Record:
    """Read on from the ledger what a record does not hold yet.

    Raises `run_not_found`, `ledger_unreachable`, and `ledger_behind` where the last event
    that the record holds is not there any more: then the record is dropped.
    """
    record = records.of(run_id)
    async with record.lock:
        try:
            with reaching():
                await _read_on(ledger, record, run_id)
        except LegatoError as exc:
            if exc.code == "ledger_behind":
                records.kept.pop(run_id, None)
            raise
    if not record.facts:
        raise refused("run_not_found", f"there is no run {run_id}", next="`legato runs`")
    return record


async def _read_on(ledger: Ledger, record: Record, run_id: str) -> None:
    seen, known, head = record.seen, record.run.version, record.head
    fresh, incoming = await _read_new(ledger, record, run_stream(run_id))
    if known and (not fresh or (fresh[0].version, fresh[0].hash.hex()) != (known, head)):
        raise _behind(f"event {known} of the run is gone, or is another one now")
    for stored in incoming:
        if isinstance(stored.fact, MessageAccepted):
            record.incoming[stored.version] = stored.fact
        record.incoming_version = stored.version
    texts = record.texts
    first = next((one.fact for one in fresh if isinstance(one.fact, RunAccepted)), None)
    if not known and first is not None and first.n > 1:
        record.earlier = await read_earlier(ledger, first)
        tell_earlier(record.transcript, record.earlier, texts)
    for stored in fresh:
        if stored.version > record.run.version:
            when = When(stored.recorded_at, stored.worked)
            _take_in(record, (stored.fact,), stored.hash, texts, when)
    record.seen = record.run.version if record.seen == seen else record.seen
    await _read_definition(ledger, record)


@dataclass(frozen=True)
class When:
    """When facts were recorded, and for how many seconds their execution had lived then."""

    at: datetime
    worked: float


def _take_in(
    record: Record, facts: Sequence[Fact], head: bytes, texts: Mapping[int, str], when: When
) -> None:
    """Apply the stream's next facts, after which its head is as given."""
    for fact in facts:
        record.run = evolve(record.run, fact)
        record.work = tell(record.work, fact, when.at, when.worked)
        record.facts.append(fact)
        record.transcript.tell(fact, texts)
    record.head = head.hex()
    record.heads[record.run.version] = record.head


async def refresh_after_append(ledger: Ledger, records: Records, record: Record) -> Record:
    """Give the record as it stood at this execution's last append, or as it stands now.

    Nothing is read where nobody else had written before that append.
    """
    run_id = accepted_of(record).run_id
    if records.of(run_id) is record and record.run.version == record.seen:
        return record
    return await refresh(ledger, records, run_id)


async def append_own(ledger: Ledger, record: Record, author: Author, *parts: Part) -> Appended:
    """Append for a run and let its record know what was appended; raises what `append` does."""
    try:
        appended = await append(ledger, author, *parts)
    except BaseException:
        record.seen = UNSEEN
        raise
    stream = run_stream(accepted_of(record).run_id)
    version, head = appended.heads.get(stream, (0, b""))
    facts = [fact for part in parts if part.stream == stream for fact in part.facts]
    record.seen = max(record.seen, UNSEEN if appended.repeated else version)
    if appended.at is not None and record.run.version + len(facts) == version:
        when = When(appended.at, author.worked / 1000)
        _take_in(record, facts, head, record.texts, when)
    return appended


async def _read_new(
    ledger: Ledger, record: Record, stream: str
) -> tuple[Sequence[Stored], Sequence[Stored]]:
    """Read what is new of the run and of its session, and the run's last known event again.

    The session is named by the first fact.
    """
    accepted = record.run.accepted
    if accepted is not None:
        session = incoming_stream(accepted.session)
        mark = (stream, record.run.version - 1), (session, record.incoming_version)
        return await read_both(ledger, *mark)
    fresh = await read_stream(ledger, stream)
    begun = next((one.fact for one in fresh if isinstance(one.fact, RunAccepted)), None)
    if begun is None:
        return fresh, ()
    return fresh, await read_stream(ledger, incoming_stream(begun.session))


async def _read_definition(ledger: Ledger, record: Record) -> None:
    defined = record.run.defined
    if defined is None or record.definition is not None:
        return
    data = await get_blob(ledger, bytes.fromhex(defined.bundle))
    record.definition = AgentDefinition.model_validate(decode_object(data))


def author_of(record: Record, causation: str) -> Author:
    """Name the agent as the author of what its activities append."""
    accepted = accepted_of(record)
    run_id = accepted.run_id
    return Author(
        actor=f"agent:{run_id}",
        principal=accepted.principal or f"agent:{run_id}",
        via="workflow",
        causation=causation,
        correlation=run_id,
        worked=round(worked() * 1000),
    )


async def attach(ledger: Ledger, records: Records, run_id: str, temporal_run: str) -> Record:
    """Fold a run for an activity of one Temporal run.

    The first activity of a new Temporal run attaches it, which ends a wait of the one before:
    it begins its own. Raises `run_superseded` for an activity of one that was attached before
    another.
    """
    begin_execution()
    while True:
        record = await refresh(ledger, records, run_id)
        attached = record.run.temporal_runs
        if attached and attached[-1] == temporal_run:
            return record
        if temporal_run in attached:
            raise refused(
                "run_superseded",
                "another Temporal run has taken this run over",
                cause=f"attached: {attached[-1]}",
                next="nothing: the later one goes on",
            )
        if record.run.ended is not None:
            return record
        taken = RunAttached(epoch=len(attached) + 1, temporal_run=temporal_run)
        standing = record.run.waiting
        over = () if standing is None else (RunResumed(n=standing.n),)
        try:
            part = Part(run_stream(run_id), (taken, *over), record.run.version)
            await append(ledger, author_of(record, temporal_run), part)
        except (VersionConflictError, TakenError):
            continue


def told_facts(record: Record) -> tuple[Fact, ...]:
    """Give a run's facts, behind those of the runs that it goes on from."""
    by_run = {
        fact.run_id: one.facts
        for one in record.earlier
        for fact in one.facts
        if isinstance(fact, RunAccepted)
    }
    told, at = tuple(record.facts), record.run.accepted
    while at is not None and at.resumes in by_run:
        before = by_run[at.resumes]
        told = (*before, *told)
        at = next((fact for fact in before if isinstance(fact, RunAccepted)), None)
    return told


def check_version(record: Record, version: int, head: str = "") -> None:
    """Refuse a ledger that is behind what the workflow has seen; raises `ledger_behind`.

    `head` is the beginning of the hash that the event of that version had: a ledger that
    went on from an older copy may be as long, with other events.
    """
    if record.run.version < version:
        raise _behind(f"the run's stream is at {record.run.version}, the workflow saw {version}")
    if not record.heads.get(version, head).startswith(head):
        raise _behind(f"event {version} of the run is not the one that the workflow saw")


def _behind(what: str) -> LegatoError:
    return LegatoError(
        "ledger_behind",
        what,
        cause="a restored backup, or a replica",
        next="restore the ledger to its latest state; the run goes on by itself then",
    )


def accepted_of(record: Record) -> RunAccepted:
    """Give the fact that began the run; it is a bug to have none."""
    if record.run.accepted is None:
        raise bug("run_not_accepted", "the run's stream does not begin with run.accepted")
    return record.run.accepted


def defined_of(record: Record) -> RunDefined:
    """Give what the run was defined as; it is a bug to ask before there is a definition."""
    if record.run.defined is None:
        raise bug("run_undefined", "the run has no definition yet")
    return record.run.defined


def definition_of(record: Record) -> AgentDefinition:
    """Give the run's definition; it is a bug to ask before there is one."""
    if record.definition is None:
        raise bug("run_undefined", "the run has no definition yet")
    return record.definition
