"""The HTTP door as a part of the embedded stack: a process of its own on a loopback port."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .loopback import get
from .parts import Start
from .ports import LOOPBACK, free_port

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "api"
_STOP: Sequence[tuple[signal.Signals, float]] = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0))


@dataclass(frozen=True, slots=True)
class Api:
    """The API; `environment` is asked at each start for what its process is given.

    `preferred` is the port it had before, so that what was told of it stays true.
    """

    environment: Callable[[str], Mapping[str, str]]
    preferred: int | None

    @property
    def name(self) -> str:
        """The part's name in the state file and of its log."""
        return NAME

    @property
    def stop_signals(self) -> Sequence[tuple[signal.Signals, float]]:
        """Time to end what is streamed, then the end."""
        return _STOP

    async def prepare(self) -> Start:
        """Choose its port and say how to start it."""
        address = f"{LOOPBACK}:{free_port(self.preferred)}"

        async def serves() -> None:
            await get(address, "/health")

        return Start(
            command=(sys.executable, "-m", "legato.api"),
            environment=self.environment(address),
            address=f"http://{address}",
            probe=serves,
        )
