"""What every fact is made of: its id, its version, and how it is repeated."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from domain.runs.conversation import Frozen


class Use(StrEnum):
    """What a second append of one event id means.

    `same`: the writer repeats a command: equal content gives the first result, other
    content is `idempotency_mismatch`. `first`: writers compete: the loser is given the
    winner's event and goes on from it.
    """

    SAME = "same"
    FIRST = "first"


class Event(Frozen):
    """What all facts share."""

    use: ClassVar[Use] = Use.FIRST
    version: ClassVar[int] = 1
    after_end: ClassVar[bool] = False
    closes: ClassVar[bool] = False
    keys: ClassVar[tuple[str, ...]] = ()

    def key(self) -> str:
        """Give the part of the event id that comes from the run's own coordinates."""
        return ".".join([str(getattr(self, name)) for name in self.keys])


class AtStep(Event):
    """A fact of one model step; turn and step count from 1 over the whole run."""

    turn: int
    step: int


class AtRequest(AtStep):
    """A fact of one model request; `n` counts from 1 within the step."""

    keys: ClassVar[tuple[str, ...]] = ("turn", "step", "n")
    n: int


class AtCall(AtStep):
    """A fact of one call; `position` counts from 0 within the response."""

    keys: ClassVar[tuple[str, ...]] = ("turn", "step", "position")
    position: int
