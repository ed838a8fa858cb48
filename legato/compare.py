"""Compares a run's stream with what Temporal's histories say of it, both ways."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from temporalio.service import RPCError

from domain.events import RunReconciled
from domain.ids import run_stream
from domain.runs.run import fold
from domain.runs.steps import Written
from ledger.reads import read_stream
from legato.histories import reported
from legato.seen import is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.client import Client

    from ledger.connect import Ledger
    from ledger.reads import Stored

Result = Literal["checked", "mismatch", "history_gone"]


@dataclass
class Told:
    """What the histories of a run's Temporal runs say: results in order, activities by run.

    `gone` are the Temporal runs of which no history is kept.
    """

    results: list[tuple[str, Written]] = field(default_factory=list[tuple[str, "Written"]])
    activities: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    gone: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Place:
    """Where stream and histories differ: at which event of the stream, and how."""

    version: int
    what: str


@dataclass(frozen=True)
class Compared:
    """What comparing a run came to; `place` is None where all agrees.

    `earlier` is what a reconciler recorded after the run's end, if one has.
    """

    run_id: str
    workflow_id: str
    result: Result
    digest: str
    links: int
    results: int
    place: Place | None
    earlier: RunReconciled | None

    def fact(self) -> RunReconciled:
        """Give the event that records it."""
        return RunReconciled(
            result=self.result,
            digest=self.digest,
            links=self.links,
            results=self.results,
            where=self.place.what if self.place is not None else "",
        )


async def compare(client: Client, ledger: Ledger, run_id: str) -> Compared:
    """Compare a run, open or ended; a result is `mismatch` where the ledger is wrong.

    What the histories lack is `history_gone`: that is Temporal's memory and not the
    ledger's fault. Raises RPCError where Temporal does not answer.
    """
    stream = run_stream(run_id)
    before = await read_stream(ledger, stream)
    run = fold([event.fact for event in before])
    workflow_id = run.accepted.workflow_id if run.accepted is not None else ""
    told = Told()
    for temporal_run in run.temporal_runs:
        await _read(client, workflow_id, temporal_run, told)
    wrong = _wrong_result(await read_stream(ledger, stream), told)
    place = wrong or _missing(before, told)
    earlier = (e.fact for e in before if isinstance(e.fact, RunReconciled))
    return Compared(
        run_id=run_id,
        workflow_id=workflow_id,
        result="mismatch" if wrong else "history_gone" if place else "checked",
        digest=_digest(stream, told),
        links=len(told.activities),
        results=len(told.results),
        place=place,
        earlier=next(earlier, None),
    )


async def _read(client: Client, workflow_id: str, temporal_run: str, told: Told) -> None:
    """Read one Temporal run's history, from its first event to its last."""
    handle = client.get_workflow_handle(workflow_id, run_id=temporal_run)
    found = set[str]()
    try:
        async for event in handle.fetch_history_events():
            if event.HasField("activity_task_scheduled_event_attributes"):
                found.add(event.activity_task_scheduled_event_attributes.activity_id)
            written = reported(event)
            if written is not None and written.last:
                told.results.append((f"event {event.event_id} of {temporal_run}", written))
    except RPCError as exc:
        if not is_unknown(exc):
            raise
        told.gone.append(temporal_run)
        return
    told.activities[temporal_run] = found


def _digest(stream: str, told: Told) -> str:
    """Digest what the results say, in the order of the chain."""
    digest = hashlib.sha256()
    for _, one in told.results:
        digest.update(f"{stream} {one.first} {one.last} {one.head}\n".encode())
    return digest.hexdigest()


def _wrong_result(stored: Sequence[Stored], told: Told) -> Place | None:
    """Find the first result that the stream does not bear out."""
    heads = {event.version: event.hash.hex() for event in stored}
    for where, written in told.results:
        last = written.last
        if last not in heads:
            return Place(last, f"{where} has seen event {last}, which the ledger does not hold")
        if written.head and heads[last] != written.head:
            return Place(last, f"{where} has seen another event {last} than the ledger holds")
    return None


def _missing(stored: Sequence[Stored], told: Told) -> Place | None:
    """Find what the histories lack of what the stream names as its cause."""
    if told.gone:
        return Place(0, f"the history of Temporal run {told.gone[0]} is kept no longer")
    for event in stored:
        if event.envelope["via"] != "workflow":
            continue
        temporal_run, _, rest = str(event.envelope["causation_id"]).partition("/")
        activity = rest.partition("/")[0]
        known = told.activities.get(temporal_run)
        if activity and (known is None or activity not in known):
            cause = f"activity {activity} of Temporal run {temporal_run}"
            what = f"event {event.version} names {cause}, which no history holds"
            return Place(event.version, what)
    return None
