"""Replays a run: its Temporal histories and its events, by today's workflow, fold and rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode
from temporalio.worker import Replayer
from temporalio.worker.workflow_sandbox import SandboxedWorkflowRunner, SandboxRestrictions

from domain.ids import run_stream
from domain.runs.legal import History
from domain.runs.recorded import facts_of
from domain.runs.run import OPEN
from ledger.projections.catch_up import fresh
from ledger.projections.lists import one_run
from ledger.reads import read_head
from legato.client import connect
from legato.lists import run_row
from legato.payloads import CONVERTER
from legato.readings import overview_of, read_run, row_of
from workflows.agent_run import AgentRun

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.client import Client, WorkflowHistory

    from domain.runs.recorded import Recorded
    from ledger.reads import Head
    from legato.door import Door


@dataclass(frozen=True)
class Link:
    """One Temporal run of the chain: `events` 0 and a problem where its history is gone."""

    temporal_run: str
    events: int
    bytes: int
    ok: bool
    problem: str = ""


@dataclass(frozen=True)
class Fold:
    """The run's events folded anew: how many, to which status, and what is wrong first."""

    events: int
    status: str
    ok: bool
    problem: str = ""


@dataclass(frozen=True)
class Rows:
    """The run's row in lists, compared with the fold of the events that it tells up to."""

    version: int
    ok: bool
    problem: str = ""


@dataclass(frozen=True)
class Replayed:
    """What both replays came to."""

    run_id: str
    workflow_id: str
    links: tuple[Link, ...]
    fold: Fold
    rows: Rows

    @property
    def ok(self) -> bool:
        """Tell whether all of it holds."""
        return self.fold.ok and self.rows.ok and all(link.ok for link in self.links)


async def replay(door: Door, run_id: str) -> Replayed:
    """Replay a run whole; raises `run_not_found`, `temporal_unreachable`."""
    events = await read_run(door.ledger, run_id)
    head = await read_head(door.ledger, run_stream(run_id))
    what = overview_of(events).identity
    client = await connect(door.stack.temporal_address, door.stack.temporal_namespace)
    links = [await _link(client, what.workflow_id, one) for one in what.temporal_runs]
    fold, rows = folded(run_id, events, head), await _rows(door, run_id, events)
    return Replayed(run_id, what.workflow_id, tuple(links), fold, rows)


async def _rows(door: Door, run_id: str, events: Sequence[Recorded]) -> Rows:
    """Compare the run's row with its events, as far as the row has come."""
    row, _ = await fresh(door.ledger, lambda connection: one_run(connection, run_id))
    if row is None:
        return Rows(0, ok=False, problem="lists do not hold the run yet")
    shown = run_row(row)
    wanted = row_of(events[: row.version])
    wrong = sorted(name for name, value in wanted.items() if shown[name] != value)
    said = ", ".join(f"{name} is {shown[name]!r}, not {wanted[name]!r}" for name in wrong)
    return Rows(row.version, ok=not wrong, problem=said)


@lru_cache(maxsize=1)
def _silent() -> Runtime:
    """Give a runtime that prints nothing: stdout has one document, and the difference is in it."""
    return Runtime(telemetry=TelemetryConfig(logging=None))


def replayer() -> Replayer:
    """Build what replays, with the sandbox and the converter that workers have."""
    restrictions = SandboxRestrictions.default.with_passthrough_modules("domain")
    return Replayer(
        workflows=[AgentRun],
        workflow_runner=SandboxedWorkflowRunner(restrictions=restrictions),
        data_converter=CONVERTER,
        runtime=_silent(),
    )


async def _link(client: Client, workflow_id: str, temporal_run: str) -> Link:
    handle = client.get_workflow_handle(workflow_id, run_id=temporal_run)
    try:
        history = await handle.fetch_history()
    except RPCError as exc:
        if exc.status is not RPCStatusCode.NOT_FOUND:
            raise
        gone = "Temporal keeps its history no longer"
        return Link(temporal_run, 0, 0, ok=False, problem=gone)
    count, size = len(history.events), sum(event.ByteSize() for event in history.events)
    problem = await replayed_problem(history)
    return Link(temporal_run, count, size, ok=not problem, problem=problem)


async def replayed_problem(history: WorkflowHistory) -> str:
    """Replay a history by this build's workflow; says what differs, "" where nothing does."""
    result = await replayer().replay_workflow(history, raise_on_replay_failure=False)
    failure = result.replay_failure
    return "" if failure is None else f"{type(failure).__name__}: {failure}"


def folded(run_id: str, events: Sequence[Recorded], head: Head) -> Fold:
    """Fold a run's events, judging each; then compare the end with the stream's head row."""
    history = History(run_stream(run_id))
    problem = ""
    for event in events:
        wrong = history.tell(event.fact)
        if wrong is not None:
            problem = f"event {event.version} ({event.event_id}): {wrong}"
            break
    status = history.run.status
    last = events[-1].version
    if not problem and head.version != last:
        problem = f"the stream's head is at {head.version}, its events end at {last}"
    if not problem and head.closed is (status in OPEN):
        standing = "closed" if head.closed else "open"
        problem = f"the stream is {standing}, its events fold to {status.value}"
    return Fold(len(facts_of(events)), status.value, ok=not problem, problem=problem)
