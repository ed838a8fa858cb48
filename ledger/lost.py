"""Ends a run that Temporal will never end: its workflow is closed, gone, or was never started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import bug
from domain.events import MessageAccepted, RunAccepted, RunEnded
from domain.ids import incoming_stream, run_stream
from domain.runs.closing import following, left_open, stop_status
from domain.runs.run import Run, Status, fold
from ledger.closing import append_end, closing_parts
from ledger.reads import read_both, read_event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.append import Part
    from ledger.connect import Ledger
    from ledger.encode import Author
    from ledger.reads import Stored

_TRIES = 20
NEVER_STARTED = "never_started"
"""The reason of a run that nobody had taken up: nothing of it is lost."""


async def end_lost(ledger: Ledger, author: Author, seen: Run, reason: str) -> Run:
    """End an open run in the ledger, as `lost` or, where nobody had taken it up, `stopped`.

    The caller has found out that no workflow will do it of the run as it was `seen`;
    `reason` is the code of that. A run that has ended, meanwhile or before, or that another
    Temporal run has taken over, is given as it is. Raises what `append` raises, and
    `end_not_taken`.
    """
    run_id = seen.accepted.run_id if seen.accepted is not None else ""
    for _ in range(_TRIES):
        run, parts = await _decide(ledger, run_id, reason)
        if not parts or run.temporal_runs != seen.temporal_runs:
            return run
        await append_end(ledger, author, run_stream(run_id), parts)
    raise bug("end_not_taken", f"the end of run {run_id} was refused {_TRIES} times")


async def _decide(ledger: Ledger, run_id: str, reason: str) -> tuple[Run, tuple[Part, ...]]:
    """Fold the run as it is now, and say what ends it; nothing where it has ended."""
    first = await read_event(ledger, run_stream(run_id), "run.accepted")
    if first is None or not isinstance(first.fact, RunAccepted):
        return Run(), ()
    session = incoming_stream(first.fact.session)
    own, incoming = await read_both(ledger, (run_stream(run_id), 0), (session, 0))
    run = fold([event.fact for event in own])
    if run.ended is not None:
        return run, ()
    return run, await _parts(ledger, run, first.fact, incoming, reason)


async def _parts(
    ledger: Ledger, run: Run, accepted: RunAccepted, incoming: Sequence[Stored], reason: str
) -> tuple[Part, ...]:
    """End it as an activity would, without the tools: what was under way becomes unknown."""
    status, stop = Status.LOST.value, run.stop
    if not run.temporal_runs:
        status, reason = stop_status(run, Status.STOPPED.value, NEVER_STARTED)
    ended = RunEnded(
        status=status,
        reason=reason,
        by=stop.by if stop is not None else "system",
        message=stop.reason if stop is not None else "",
        items_done=run.items_done,
    )
    messages = {
        event.version: event.fact for event in incoming if isinstance(event.fact, MessageAccepted)
    }
    after = following(run, accepted, messages, stopped=stop is not None)
    read = incoming[-1].version if incoming else 0
    return await closing_parts(ledger, run, accepted, (*left_open(run, {}), ended), after, read)
