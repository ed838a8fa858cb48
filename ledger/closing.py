"""The one append that ends a run: its stream, the session's messages, the slot, the session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.events import Fact, SessionReleased, SessionTaken, SlotReleased, SlotTaken
from domain.ids import incoming_stream, run_stream, session_stream, slot_stream
from ledger.append import Part

if TYPE_CHECKING:
    from domain.events import RunAccepted
    from domain.runs.run import Run


def closing_parts(
    run: Run,
    accepted: RunAccepted,
    facts: tuple[Fact, ...],
    following: RunAccepted | None,
    read: int,
) -> tuple[Part, ...]:
    """End a run with `facts`, the last of them its end; all heads are asserted.

    `read` is the version up to which the session's messages were read: none came meanwhile.
    """
    slot: tuple[Fact, ...] = (SlotReleased(run_id=accepted.run_id, n=accepted.n),)
    session: tuple[Fact, ...] = (SessionReleased(run_id=accepted.run_id),)
    begun: tuple[Part, ...] = ()
    if following is not None:
        slot = (*slot, SlotTaken(run_id=following.run_id, n=following.n))
        session = (*session, SessionTaken(run_id=following.run_id))
        begun = (Part(run_stream(following.run_id), (following,), 0),)
    return (
        Part(run_stream(accepted.run_id), facts, run.version),
        Part(incoming_stream(accepted.session), (), read),
        Part(slot_stream(accepted.slot), slot),
        Part(session_stream(accepted.session), session),
        *begun,
    )
