"""The lock that makes a home belong to one supervisor."""

from __future__ import annotations

import asyncio
import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path

HELD = 3  # the exit status of a supervisor that found the home owned
_LOOK = 0.02


@dataclass(frozen=True, slots=True)
class HomeLock:
    """Two files locked until released or until the process ends, however it ends.

    Who has `owner` owns the home; taking it never waits, so that of two supervisors at
    once one leaves at once. `shown` is locked by the owner for others to look at: their
    looks take it for an instant, and so cannot keep a supervisor from owning the home.
    """

    path: Path
    owner: int
    shown: int

    def still_guards(self) -> bool:
        """Tell whether the lock's file is still the one in the home, not a removed one."""
        try:
            named, held = self.path.stat(), os.fstat(self.owner)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)

    def release(self) -> None:
        """Give the home up; the files stay, for removed ones would guard nothing."""
        os.close(self.shown)
        os.close(self.owner)


async def take_lock(home: Path, *, patience: float = 0.0) -> HomeLock | None:
    """Take a home's lock, trying for so many seconds; None where another holds it."""
    path = home / "supervisor.lock"
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


def _shown(home: Path) -> Path:
    return home / "running.lock"


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
