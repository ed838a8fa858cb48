"""What a part of the stack is to the supervisor, and how its processes are started."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

CODE_ROOT = Path(__file__).resolve().parents[2]
WATCHED = sys.platform != "linux"  # elsewhere the kernel sends no signal for a dead parent
_TETHER = Path(__file__).with_name("tether.py")
_LOG_LIMIT = 8 * 1024 * 1024
_TAIL = 2048


class NotReadyError(Exception):
    """A part does not serve yet; the text says what it answered."""


class StillStartingError(NotReadyError):
    """A part says itself that it is still starting, such as after a crash."""


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a part.

    `death_signal` is what its process gets when the supervisor dies; `lock` a file it
    holds locked while it lives; `probe` raises NotReadyError until the part serves;
    `private` keeps the files that it makes from other users.
    """

    command: tuple[str, ...]
    environment: Mapping[str, str]
    address: str
    probe: Callable[[], Awaitable[None]]
    death_signal: signal.Signals = signal.SIGKILL
    lock: Path | None = None
    private: bool = False


class Part(Protocol):
    """A program that the supervisor keeps running."""

    @property
    def name(self) -> str:
        """The part's name in the state file and of its log."""
        ...

    @property
    def stop_signals(self) -> Sequence[tuple[signal.Signals, float]]:
        """The signals that end it, gentlest first, each with seconds of patience."""
        ...

    async def prepare(self) -> Start:
        """Clear what an earlier process left and say how to start the next one.

        Raises:
            LegatoError: where no start can help.

        """
        ...


def tethered(start: Start) -> tuple[str, ...]:
    """Write the command that starts a part so that it dies with this process."""
    tie: dict[str, object] = {
        "parent": os.getpid(),
        "signal": int(start.death_signal),
        "watch": WATCHED,
        "folder": str(CODE_ROOT),
    }
    if start.lock is not None:
        tie["lock"] = str(start.lock)
    return tether(tie, start.command)


def tether(tie: Mapping[str, object], command: Sequence[str]) -> tuple[str, ...]:
    """Write the command that runs another one through `tether.py`."""
    return (sys.executable, "-I", "-S", str(_TETHER), json.dumps(tie), *command)


def log_file(home: Path, name: str) -> Path:
    """Tell where a part's output goes."""
    return home / "logs" / f"{name}.log"


def open_log(home: Path, name: str) -> int:
    """Open a part's log for appending; one that has grown large is put aside first."""
    path = log_file(home, name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists() and path.stat().st_size > _LOG_LIMIT:
        path.replace(path.with_suffix(".log.old"))
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def log_tail(home: Path, name: str, *, start: int = 0) -> str:
    """Read the end of a part's log, at most 2 KiB, nothing of it before byte `start`."""
    try:
        with log_file(home, name).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(start if start <= size else 0, size - _TAIL))
            return file.read().decode("utf-8", errors="replace").strip()
    except OSError:
        return ""


def log_size(home: Path, name: str) -> int:
    """Tell how long a part's log is now, in bytes."""
    try:
        return log_file(home, name).stat().st_size
    except OSError:
        return 0


async def output_of(command: Sequence[str], **environment: str) -> tuple[int, str]:
    """Run a short command to its end; its exit status, and its output with its errors."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=environment or None,
    )
    try:
        output, _ = await process.communicate()
    except asyncio.CancelledError:
        process.kill()
        await process.wait()
        raise
    return process.returncode or 0, output.decode("utf-8", errors="replace").strip()
