"""What watches over runs: which are quiet or not compared yet, and what is said about them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from domain.events import RunHealed, RunReconciled, RunStuck
from domain.ids import run_stream
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.encode import Author

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from domain.runs.reconcile import Trouble
    from domain.runs.run import Run
    from ledger.connect import Ledger

_QUIET = """select s.stream_id from ledger.stream s
  join ledger.event e on e.stream_id = s.stream_id and e.version = s.version
  where s.kind = 'run' and s.closed_at is null and e.recorded_at < ledger.clock() - $1::interval
  order by s.order_key desc, s.stream_id limit $2"""
_ENDED = """select f.stream_id, f.global_seq from ledger.feed f
  join ledger.event e on e.stream_id = f.stream_id and e.version = f.version
  where f.global_seq > $1 and f.global_seq <= $2 and e.type = 'run.ended'
    and not exists (select from ledger.event r
      where r.stream_id = f.stream_id and r.event_id = 'run.reconciled')
  order by f.global_seq"""
_STATES = """select s.stream_id, case
    when exists (select from ledger.event r
      where r.stream_id = s.stream_id and r.event_id = 'run.reconciled') then 'compared'
    when s.closed_at < ledger.clock() - $2::interval then 'due' else 'young' end as state
  from ledger.stream s where s.stream_id = any($1)"""

RECONCILER = "reconciler"
"""The reconciler's name in the ledger: whose mark."""


def reconciler(run_id: str) -> Author:
    """Sign what a reconciler appends for a run."""
    return Author("system", "system", RECONCILER, RECONCILER, run_id)


async def quiet_runs(ledger: Ledger, grace: timedelta, limit: int) -> list[str]:
    """List open runs to which nothing has happened for a time, the youngest first."""
    rows = await ledger.pool.fetch(_QUIET, grace, limit)
    return [row["stream_id"].removeprefix("run/") for row in rows]


async def ended_between(ledger: Ledger, after: int, until: int) -> dict[str, int]:
    """Find the runs whose end has one of these numbers and that were not compared with Temporal.

    Gives them with the number, in its order.
    """
    rows = await ledger.pool.fetch(_ENDED, after, until)
    return {row["stream_id"].removeprefix("run/"): row["global_seq"] for row in rows}


async def states_of(ledger: Ledger, runs: Sequence[str], grace: timedelta) -> dict[str, str]:
    """Tell of ended runs whether each is compared, due for it, or ended too short a time ago."""
    rows = await ledger.pool.fetch(_STATES, [run_stream(run_id) for run_id in runs], grace)
    return {row["stream_id"].removeprefix("run/"): row["state"] for row in rows}


async def say_stuck(ledger: Ledger, run_id: str, run: Run, trouble: Trouble) -> None:
    """Record that a run is stuck, unless somebody has, or it has moved on."""
    fact = RunStuck(
        n=run.stucks + 1,
        code=trouble.code,
        where=trouble.where,
        why=trouble.why,
        attempts=trouble.attempts,
        temporal_run=run.temporal_runs[-1] if run.temporal_runs else "",
    )
    await _say(ledger, run_id, Part(run_stream(run_id), (fact,), run.version))


async def say_healed(ledger: Ledger, run_id: str, run: Run) -> None:
    """Record that a run is stuck no longer, unless somebody has, or it has moved on."""
    part = Part(run_stream(run_id), (RunHealed(n=run.stucks),), run.version)
    await _say(ledger, run_id, part)


async def say_reconciled(ledger: Ledger, run_id: str, fact: RunReconciled) -> None:
    """Record what comparing an ended run came to, unless somebody has."""
    await _say(ledger, run_id, Part(run_stream(run_id), (fact,)))


async def _say(ledger: Ledger, run_id: str, part: Part) -> None:
    with suppress(VersionConflictError, TakenError):
        await append(ledger, reconciler(run_id), part)
