"""The facts of slots and sessions: which run holds one, and who waits for it."""

from __future__ import annotations

from typing import ClassVar, Literal

from domain.event import Event, Use


class SlotTaken(Event):
    """A run holds the slot as its n-th holder."""

    keys: ClassVar[tuple[str, ...]] = ("n",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["slot.taken"] = "slot.taken"
    run_id: str
    n: int


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
