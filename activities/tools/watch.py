"""How long a call may still run: its limit, and a person's stop."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.ports import StopSignal

if TYPE_CHECKING:
    from domain.ports import ToolContext

_SHARE = 0.8
"""The part of the limit that is used for work: the rest is for handing back what was found."""


@dataclass(frozen=True)
class Watch:
    """When a call must end: `end` on the monotonic clock in seconds, or at `stop`."""

    end: float
    stop: StopSignal

    def left(self) -> float:
        """Seconds left for work, never below 0."""
        return max(0.0, self.end - time.monotonic())

    def over(self) -> str | None:
        """Tell why the call must end now: `stopped`, `time_limit`, or None to go on."""
        if self.stop.is_set():
            return "stopped"
        return "time_limit" if self.left() == 0 else None

    def check(self) -> None:
        """Raise `stopped` or `time_limit` where the call must end."""
        reason = self.over()
        if reason is not None:
            raise LegatoError(reason, WHY_OVER[reason], next="ask for less in one call")


WHY_OVER = {
    "stopped": "the call was stopped before it was done",
    "time_limit": "the call reached its time limit before it was done",
}


def watch(context: ToolContext) -> Watch:
    """Start to watch a call's limit."""
    return Watch(time.monotonic() + context.limit * _SHARE, context.stop)
