"""Which workspaces this user trusts: what their folders define may become part of agents."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from domain.codec import decode_object
from domain.errors import LegatoError, refused
from legato.paths import make_private

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

FILE = "trusted-workspaces.json"
"""In LEGATO_HOME, never in a workspace: no repository vouches for itself."""

_LOCK = "trusted-workspaces.lock"


def trusted_workspaces(home: Path) -> tuple[str, ...]:
    """List the trusted workspaces by their real paths, sorted.

    Raises:
        LegatoError: `trust_unreadable`; nothing is trusted on the word of a damaged file.

    """
    file = home / FILE
    try:
        listed = decode_object(file.read_bytes())["workspaces"]
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError) as error:
        raise _unreadable(file, type(error).__name__) from None
    if not isinstance(listed, list):
        raise _unreadable(file, "`workspaces` is no list")
    return tuple(sorted(one for one in listed if isinstance(one, str)))


def is_trusted(home: Path, folder: Path) -> bool:
    """Tell whether a workspace is trusted: itself, not by a folder above it."""
    return os.path.realpath(folder) in trusted_workspaces(home)


def set_trust(home: Path, folder: Path, *, trusted: bool) -> bool:
    """Trust a workspace, or no longer; tells whether that changed anything.

    Raises:
        LegatoError: `trust_unreadable`, `home_unusable`.

    """
    real = os.path.realpath(folder)
    make_private(home)
    with _alone(home):
        before = trusted_workspaces(home)
        after = {*before, real} if trusted else set(before) - {real}
        if after == set(before):
            return False
        _write(home / FILE, sorted(after))
    return True


@contextmanager
def _alone(home: Path) -> Generator[None]:
    """Keep other processes from writing at the same time."""
    try:
        descriptor = os.open(home / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LegatoError(
            "home_unusable",
            f"The folder {home} cannot be written.",
            cause=str(error),
            next="set LEGATO_HOME to a folder that you can write to",
        ) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write(file: Path, listed: list[str]) -> None:
    """Replace the file as a whole, for this user alone."""
    draft = file.with_suffix(".new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as written:
        json.dump({"workspaces": listed}, written, indent=2)
        written.flush()
        os.fsync(descriptor)
    draft.replace(file)


def _unreadable(file: Path, cause: str) -> LegatoError:
    return refused(
        "trust_unreadable",
        f"{file} does not say which workspaces are trusted.",
        cause=cause,
        next="remove it, then trust each workspace again with `legato workspace trust PATH`",
    )
