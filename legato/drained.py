"""Two files of a home: one says that it is drained, one is locked while somebody works for it."""

from __future__ import annotations

import fcntl
import json
import os
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

LOOK = 0.3
"""Seconds between two looks of a worker."""

_TAKEN = 0.02


def drained_since(home: Path) -> str:
    """Tell since when a home is drained (ISO 8601, UTC); "" where it is not."""
    try:
        return str(json.loads(_mark(home).read_text(encoding="utf-8"))["since"])
    except FileNotFoundError:
        return ""
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return "an unknown time"


def drain(home: Path) -> str:
    """Have the workers of a home take nothing new, until `undrain`; gives since when that is."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    since = datetime.now(UTC).isoformat(timespec="seconds")
    draft = home / f".drained-{os.getpid()}"
    draft.write_text(json.dumps({"since": since}), encoding="utf-8")
    with suppress(FileExistsError):
        _mark(home).hardlink_to(draft)
    draft.unlink()
    return drained_since(home)


def undrain(home: Path) -> bool:
    """Have the workers of a home go on; False where it was not drained."""
    try:
        _mark(home).unlink()
    except FileNotFoundError:
        return False
    return True


@contextmanager
def working(home: Path) -> Generator[None]:
    """Let others see that this process works for a home, however it ends."""
    descriptor = _open(home)
    try:
        while not _locked(descriptor, fcntl.LOCK_SH):
            time.sleep(_TAKEN)  # somebody looks, for an instant
        yield
    finally:
        os.close(descriptor)


def is_worked_for(home: Path) -> bool:
    """Tell whether a process on this machine works for a home now."""
    descriptor = _open(home)
    try:
        return not _locked(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _mark(home: Path) -> Path:
    return home / "drained"


def _open(home: Path) -> int:
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(home / "working.lock", os.O_RDWR | os.O_CREAT, 0o600)


def _locked(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
