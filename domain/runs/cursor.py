"""Where a viewer of a run stands: the last event it has, and the text after that."""

from __future__ import annotations

import re
from dataclasses import dataclass

from domain.errors import refused

_WRITTEN = re.compile(r"(\d{1,18})(?::(\d{1,9})\.(\d{1,9})\.(\d{1,9})\.(\d{1,9}))?")


@dataclass(frozen=True, order=True)
class Request:
    """The coordinates of one model request within its run."""

    turn: int
    step: int
    n: int


@dataclass(frozen=True)
class Piece:
    """Some text of a response that is not recorded yet; `seq` counts from 1 without a gap."""

    request: Request
    seq: int
    text: str


@dataclass(frozen=True)
class Cursor:
    """The last event a viewer has (0: none), and the last piece of an open request after it."""

    version: int = 0
    request: Request | None = None
    seq: int = 0

    def __str__(self) -> str:
        """Write it as `VERSION` or `VERSION:TURN.STEP.REQUEST.SEQ`."""
        if self.request is None:
            return str(self.version)
        at = self.request
        return f"{self.version}:{at.turn}.{at.step}.{at.n}.{self.seq}"

    def seen_of(self, request: Request) -> int:
        """Tell the last piece of a request that the viewer has, 0 for none."""
        return self.seq if self.request == request else 0


def parse_cursor(written: str) -> Cursor:
    """Read a cursor; "" is the beginning.

    Raises `cursor_invalid`.
    """
    if not written:
        return Cursor()
    found = _WRITTEN.fullmatch(written)
    if found is None:
        raise refused(
            "cursor_invalid",
            f"{written[:80]!r} is no place in a run",
            cause="a place is the version of an event, or VERSION:TURN.STEP.REQUEST.SEQ",
            next="give the `cursor` of the last line that you have, or none to begin",
        )
    version, *rest = found.groups()
    if rest[0] is None:
        return Cursor(int(version))
    turn, step, n, seq = (int(part) for part in rest)
    return Cursor(int(version), Request(turn, step, n), seq)
