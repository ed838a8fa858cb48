"""Reads what the run must ask for that goes on from an ended one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.going_on import going_on, going_on_id
from domain.errors import LegatoError, refused
from domain.ids import run_stream
from domain.runs.closing import following_id
from domain.runs.run import fold
from ledger.accept import load_run
from ledger.dispatch import Launch, dispatch
from ledger.reads import read_stream

if TYPE_CHECKING:
    from domain.events import Asked, Entry
    from domain.runs.raising import Wanted
    from domain.runs.run import Run
    from ledger.connect import Ledger
    from ledger.dispatch import Dispatched
    from ledger.encode import Author


async def resuming(ledger: Ledger, run_id: str, wanted: Wanted, entry: Entry) -> Launch:
    """Give the launch of the run that goes on from an ended one, in its session and its slot.

    Raises `run_not_found`, `run_open`, `run_has_nothing_left` and `budget_refused`.
    """
    run, _ = await load_run(ledger, run_id)
    asked = run.asked_for
    if asked is None:
        raise refused("run_not_found", f"there is no run {run_id}", next="see `legato runs`")
    return Launch(
        run_id=going_on_id(run_id),
        entry=entry,
        request=going_on(run, asked.request, run_id, wanted),
        queue=asked.queue,
        resumes=run_id,
        session=asked.session,
        slot=asked.slot,
        incoming=await _read_up_to(ledger, run, asked),
    )


async def _read_up_to(ledger: Ledger, run: Run, asked: Asked) -> int:
    """Tell which of the session's messages were read: by the run, and by those that followed."""
    read, after = run.incoming, following_id(asked)
    while stored := await read_stream(ledger, run_stream(after)):
        followed = fold([one.fact for one in stored])
        read = max(read, followed.incoming)
        if followed.asked_for is None:
            break
        after = following_id(followed.asked_for)
    return read


async def dispatch_resumed(ledger: Ledger, author: Author, launch: Launch) -> Dispatched:
    """Begin the run, or have it wait for its slot; a repetition gives the first result.

    Raises what `dispatch` raises, and `run_resumed` where the old run goes on already in
    another way.
    """
    try:
        return await dispatch(ledger, author, launch)
    except LegatoError as exc:
        if exc.code != "idempotency_mismatch":
            raise
        raise refused(
            "run_resumed",
            f"the run {launch.run_id} goes on from {launch.resumes} already",
            next=f"see `legato show {launch.run_id}`; after its end that one can be resumed",
            details={"run_id": launch.run_id},
        ) from None
