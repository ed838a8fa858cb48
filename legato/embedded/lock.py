"""The one lock that makes a home belong to one supervisor."""

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
    """A lock that is held until released or until the process ends, however it ends."""

    path: Path
    descriptor: int

    def still_guards(self) -> bool:
        """Tell whether the lock's file is still the one in the home, not a removed one."""
        try:
            named, held = self.path.stat(), os.fstat(self.descriptor)
        except FileNotFoundError:
            return False
        return (named.st_dev, named.st_ino) == (held.st_dev, held.st_ino)

    def release(self) -> None:
        """Give the home up; the file stays, for a removed one would guard nothing."""
        os.close(self.descriptor)


async def take_lock(home: Path, *, patience: float) -> HomeLock | None:
    """Take a home's lock, trying for so many seconds; None where another holds it."""
    path = _lock_file(home)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + patience
    while not _locked(descriptor, fcntl.LOCK_EX):
        if time.monotonic() > until:
            os.close(descriptor)
            return None
        await asyncio.sleep(_LOOK)
    return HomeLock(path, descriptor)


def is_locked(home: Path) -> bool:
    """Tell whether some supervisor owns this home now.

    The look takes the lock shared for an instant; supervisors try for longer than that.
    """
    try:
        descriptor = os.open(_lock_file(home), os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _locked(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _lock_file(home: Path) -> Path:
    return home / "supervisor.lock"


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
