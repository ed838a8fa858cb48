"""The facts of slots and sessions: which run holds one, and who waits for it."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar, Literal

from domain.event import Event, Use


class OnCollision(StrEnum):
    """What a request asks for where its slot is taken.

    `queue` waits in line, `coalesce` becomes one run with other requests that wait,
    `supersede` stops the holder and comes next, `drop` is not carried out.
    """

    QUEUE = "queue"
    COALESCE = "coalesce"
    SUPERSEDE = "supersede"
    DROP = "drop"


class Decision(StrEnum):
    """What was done about a request: begun at once, or what became of it at a taken slot."""

    STARTED = "started"
    QUEUED = "queued"
    COALESCED = "coalesced"
    SUPERSEDING = "superseding"
    DROPPED = "dropped"


class SlotTaken(Event):
    """A run holds the slot as its n-th holder.

    Whatever of the slot's earlier past still counts stands from version `since` of its
    stream on; 0 stands in slots of earlier versions.
    """

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["slot.taken"] = "slot.taken"
    run_id: str
    n: int
    since: int = 0


class SlotCollided(Event):
    """A request met a taken slot, and what was decided about it: one event a request.

    `request` is the id that its sender made, `run_id` the run that does what it asks, ""
    where none will; `holder` held the slot, as its `n`-th. `digest` tells a repetition from
    another request, `alike` is equal for requests that may become one run, "" for one that
    may not.
    """

    keys: ClassVar[tuple[str, ...]] = ("request",)
    type: Literal["slot.collided"] = "slot.collided"
    request: str
    on_collision: OnCollision
    decision: Decision
    run_id: str
    holder: str
    n: int
    digest: str
    alike: str = ""


class SlotLeft(Event):
    """A run that waited in the slot's line has ended without having held the slot."""

    keys: ClassVar[tuple[str, ...]] = ("run_id",)
    type: Literal["slot.left"] = "slot.left"
    run_id: str


class SlotReleased(Event):
    """The n-th holder gave the slot back."""

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["slot.released"] = "slot.released"
    run_id: str
    n: int


class SessionTaken(Event):
    """A run holds the session."""

    keys: ClassVar[tuple[str, ...]] = ("run_id",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["session.taken"] = "session.taken"
    run_id: str


class SessionReleased(Event):
    """A run gave the session back."""

    keys: ClassVar[tuple[str, ...]] = ("run_id",)
    type: Literal["session.released"] = "session.released"
    run_id: str
