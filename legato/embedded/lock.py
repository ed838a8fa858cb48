"""The lock that makes a home belong to one supervisor."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path

from .processes import ProcessId

HELD = 3  # the exit status of a supervisor that found the home owned
_LOOK = 0.02


@dataclass(frozen=True, slots=True)
class HomeLock:
    """Two files locked until released or until the process ends, however it ends.

    Who has `owner` owns the home; taking it never waits, so that of two supervisors at
    once one leaves at once. `shown` is locked by the owner for others to look at: their
    looks take it for an instant, and so cannot keep a supervisor from owning the home.
    `owner` also names its supervisor, for whoever cannot read the state file.
    """

    path: Path
    owner: int
    shown: int

    def still_guards(self) -> bool:
        """Tell whether the locked files are still those in the home, not removed ones."""
        home = self.path.parent
        return _is(self.path, self.owner) and _is(_shown(home), self.shown)

    def sign(self, process: ProcessId) -> None:
        """Write into the lock who owns the home; nothing where that stands there already."""
        written = f"{process.pid} {process.started}\n".encode("ascii")
        if os.pread(self.owner, len(written) + 1, 0) != written:
            os.pwrite(self.owner, written, 0)
            os.ftruncate(self.owner, len(written))

    def release(self) -> None:
        """Give the home up; the files stay, for removed ones would guard nothing."""
        os.close(self.shown)
        os.close(self.owner)


async def take_lock(home: Path, *, patience: float = 0.0) -> HomeLock | None:
    """Take a home's lock, trying for so many seconds; None where another holds it."""
    path = _owned(home)
    owner = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + patience
    while not _locked(owner, fcntl.LOCK_EX):
        if time.monotonic() >= until:
            os.close(owner)
            return None
        await asyncio.sleep(_LOOK)
    shown = os.open(_shown(home), os.O_RDWR | os.O_CREAT, 0o600)
    while not _locked(shown, fcntl.LOCK_EX):  # noqa: ASYNC110 - nothing tells of a lock given up
        await asyncio.sleep(_LOOK)
    return HomeLock(path, owner, shown)


def signed_by(home: Path) -> ProcessId | None:
    """Read who signed the lock of a home last; None where nobody did. It may be gone since."""
    try:
        pid, _, started = _owned(home).read_text(encoding="ascii").strip().partition(" ")
        return ProcessId(int(pid), started)
    except (OSError, ValueError):
        return None


def is_locked(home: Path) -> bool:
    """Tell whether some supervisor owns this home now."""
    try:
        descriptor = os.open(_shown(home), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _owned(home: Path) -> Path:
    return home / "supervisor.lock"


def _is(path: Path, descriptor: int) -> bool:
    try:
        named, held = path.stat(), os.fstat(descriptor)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)


def _shown(home: Path) -> Path:
    return home / "running.lock"


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
