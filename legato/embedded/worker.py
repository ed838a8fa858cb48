"""The worker as a part of the embedded stack: a process of its own, told where to work."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .parts import Start

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "worker"
_STOP: Sequence[tuple[signal.Signals, float]] = ((signal.SIGTERM, 15.0), (signal.SIGKILL, 5.0))


@dataclass(frozen=True, slots=True)
class Worker:
    """The worker; `environment` says, at each start anew, what its process is given."""

    environment: Callable[[], Mapping[str, str]]

    @property
    def name(self) -> str:
        """The part's name in the state file and of its log."""
        return NAME

    @property
    def stop_signals(self) -> Sequence[tuple[signal.Signals, float]]:
        """Time to finish what runs, then the end."""
        return _STOP

    async def prepare(self) -> Start:
        """Say how to start it; it leaves nothing behind that must be cleared."""
        return Start(
            command=(sys.executable, "-m", "workers"),
            environment=self.environment(),
            address="",
            probe=_serves,
        )


async def _serves() -> None:
    """A worker listens nowhere; it counts as serving while its process lives."""
