"""The one append that ends a run: its stream, its session, its slot, and whoever comes next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.events import (
    Decision,
    Fact,
    MessageAccepted,
    SessionReleased,
    SessionTaken,
    SlotCollided,
    SlotLeft,
    SlotReleased,
    SlotTaken,
)
from domain.ids import incoming_stream, run_stream, session_stream, slot_stream
from domain.runs.closing import accepted as accepted_from
from domain.runs.closing import following
from domain.runs.run import fold
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.reads import read_head, read_slot, read_stream

if TYPE_CHECKING:
    from domain.events import RunAccepted, RunQueued
    from domain.runs.run import Run
    from domain.runs.slots import Slot
    from ledger.connect import Ledger
    from ledger.encode import Author


@dataclass
class Parts:
    """What an append will write, a stream's facts in order, with the heads that it asserts."""

    facts: dict[str, list[Fact]] = field(default_factory=dict[str, list[Fact]])
    expected: dict[str, int] = field(default_factory=dict[str, int])

    def add(self, stream: str, *facts: Fact, expected: int | None = None) -> None:
        """Add facts to a stream; a version that is given must be where it stands before."""
        self.facts.setdefault(stream, []).extend(facts)
        if expected is not None:
            self.expected[stream] = expected

    def made(self) -> tuple[Part, ...]:
        """Give them as an append takes them."""
        return tuple(
            Part(stream, tuple(facts), self.expected.get(stream))
            for stream, facts in self.facts.items()
        )


async def append_end(ledger: Ledger, author: Author, stream: str, parts: tuple[Part, ...]) -> bool:
    """Append a run's end; False where something moved meanwhile and it is to be decided anew.

    `stream` is the run's. Raises what `append` raises else.
    """
    try:
        await append(ledger, author, *parts)
    except (VersionConflictError, TakenError):
        return False
    except LegatoError as exc:  # another writer ended it on other messages: that is its end
        if exc.code != "idempotency_mismatch" or not (await read_head(ledger, stream)).closed:
            raise
        return False
    return True


async def closing_parts(
    ledger: Ledger,
    run: Run,
    accepted: RunAccepted,
    facts: tuple[Fact, ...],
    after: RunQueued | None,
    read: int,
) -> tuple[Part, ...]:
    """End a run with `facts`, the last of them its end, and begin whatever comes next.

    Next comes who waits in the slot's line, else `after`, the session's next run, which
    else goes to the end of the line. All heads are asserted, so that nothing that was added
    meanwhile is passed over: the append fails then, and the end is decided anew. `read` is
    the version up to which the session's messages were read.
    """
    slot = await read_slot(ledger, accepted.slot)
    parts = Parts()
    parts.add(run_stream(accepted.run_id), *facts, expected=run.version)
    parts.add(incoming_stream(accepted.session), expected=read)
    released = SlotReleased(run_id=accepted.run_id, n=accepted.n)
    parts.add(slot_stream(accepted.slot), released, expected=slot.version)
    parts.add(session_stream(accepted.session), SessionReleased(run_id=accepted.run_id))
    n = accepted.n + 1
    if slot.line:
        first = slot.line[0].run_id
        if after is not None:
            line_up(parts, after, first, n)
        waiting = fold([one.fact for one in await read_stream(ledger, run_stream(first))])
        if waiting.queued is not None:
            begun = accepted_from(waiting.queued, waiting.joined, n)
            begin(parts, begun, _since(slot, first), waiting.version)
    elif after is not None:
        begin(parts, accepted_from(after, (), n), slot.since(), 0)
    return parts.made()


async def leave(ledger: Ledger, parts: Parts, slot: Slot, run_id: str, *facts: Fact) -> bool:
    """Take a run out of its slot's line: it ends with `facts` and never held the slot.

    False where it does not wait there.

    What waits in its session for later goes to the end of the line. All heads are asserted.
    """
    run = fold([one.fact for one in await read_stream(ledger, run_stream(run_id))])
    if not run.in_line or run.queued is None:
        return False
    session = incoming_stream(run.queued.session)
    incoming = await read_stream(ledger, session)
    messages = {one.version: one.fact for one in incoming if isinstance(one.fact, MessageAccepted)}
    parts.add(run_stream(run_id), *facts, expected=run.version)
    parts.add(session, expected=incoming[-1].version if incoming else 0)
    parts.add(slot_stream(run.queued.slot), SlotLeft(run_id=run_id), expected=slot.version)
    after = following(run, run.queued, messages, stopped=True)
    if after is not None:
        line_up(parts, after, slot.holder, slot.n)
    return True


def _since(slot: Slot, leaves: str) -> int:
    """Name the version from which on a slot must be read once the first in line holds it."""
    left = [one.version for one in slot.line if one.run_id != leaves]
    return min((*left, slot.version + 1))


def begin(parts: Parts, begun: RunAccepted, since: int, version: int) -> None:
    """Begin a run whose stream stands at `version`: it takes its slot and its session."""
    taken = SlotTaken(run_id=begun.run_id, n=begun.n, since=since)
    parts.add(slot_stream(begun.slot), taken)
    parts.add(session_stream(begun.session), SessionTaken(run_id=begun.run_id))
    parts.add(run_stream(begun.run_id), begun, expected=version)


def line_up(parts: Parts, queued: RunQueued, holder: str, n: int) -> None:
    """Put the session's next run at the end of the line, whatever the line's limit."""
    collided = SlotCollided(
        request=queued.run_id,
        on_collision=queued.on_collision,
        decision=Decision.QUEUED,
        run_id=queued.run_id,
        holder=holder,
        n=n,
        digest="",
    )
    parts.add(slot_stream(queued.slot), collided)
    parts.add(run_stream(queued.run_id), queued, expected=0)
