"""Which files of a workspace a command has changed: those that are newer than its beginning."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MOST_SEEN = 100_000
"""Entries that are looked at; of a larger workspace nothing is known."""

MOST_NAMED = 500
"""Paths that are named at most."""

_PASSED = frozenset({".git", ".legato", "__pycache__", "node_modules"})
_MARKS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""What a folder holds that programs fill for themselves: caches, and virtual environments."""


def changed_since(workspace: Path, begun: int) -> tuple[str, ...]:
    """Name the files and links that were made or changed since a time, in order.

    `begun` is in nanoseconds, by the clock that files are stamped by. What was removed is not
    named, nor what caches and virtual environments hold.
    """
    found: list[str] = []
    for n, entry in enumerate(_files(workspace)):
        if n >= MOST_SEEN:
            return ()
        if _is_newer(entry, begun):
            found.append(os.path.relpath(entry.path, workspace))
    return tuple(sorted(found)[:MOST_NAMED])


def _is_newer(entry: os.DirEntry[str], begun: int) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_ctime_ns >= begun
    except OSError:
        return False


def _files(top: Path) -> Iterator[os.DirEntry[str]]:
    """Give every entry that is no folder, folder by folder, following no link."""
    folders = [str(top)]
    while folders:
        try:
            with os.scandir(folders.pop()) as scan:
                inside = list(scan)
        except OSError:
            continue
        if any(entry.name in _MARKS for entry in inside):
            continue
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif entry.name not in _PASSED:
                folders.append(entry.path)
