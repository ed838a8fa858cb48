"""Walking a folder of the workspace in a fixed order, by descriptors, following no link."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING

from activities.tools.beneath import FOLDER
from activities.tools.change import DRAFT_PREFIX
from activities.tools.paths import Place, is_protected
from activities.tools.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_SEEN = 200_000
"""The most entries that one walk looks at."""

DEEPEST = 64
"""How many folders down a walk goes at most; each is an open descriptor."""

_MOST_IN_FOLDER = 50_000


class Kind(StrEnum):
    """What a directory entry is."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True)
class Entry:
    """One entry: `parts` from the workspace; `folder` is the open folder that holds it.

    `folder` is valid until the walk goes on. `depth` is 1 for what is in the folder asked for.
    """

    parts: tuple[str, ...]
    kind: Kind
    folder: int
    depth: int

    @property
    def name(self) -> str:
        """The entry's own name."""
        return self.parts[-1]


@dataclass
class Walk:
    """One walk and what it left out; `over` says why it ended early, None where it did not."""

    place: Place
    watch: Watch
    deepest: int = DEEPEST
    seen: int = 0
    over: str | None = None
    left_out: dict[str, int] = field(default_factory=dict[str, int])

    def leave_out(self, why: str) -> None:
        """Count something that was left out."""
        self.left_out[why] = self.left_out.get(why, 0) + 1


def entries(walk: Walk, folder: int, parts: tuple[str, ...], depth: int = 1) -> Iterator[Entry]:
    """Yield what is in an open folder and below, by name, a folder before what is in it."""
    for name, kind in _sorted(walk, folder):
        walk.seen += 1
        walk.over = walk.over or _over(walk)
        if walk.over is not None:
            return
        here = (*parts, name)
        if kind is not Kind.FOLDER:
            yield Entry(here, kind, folder, depth)
        elif name == ".git":
            walk.leave_out(".git folders")
        else:
            yield from _folder(walk, folder, here, depth)


def _folder(walk: Walk, parent: int, parts: tuple[str, ...], depth: int) -> Iterator[Entry]:
    try:
        below = os.open(parts[-1], FOLDER | os.O_NOFOLLOW, dir_fd=parent)
    except OSError:
        walk.leave_out("folders that could not be opened")
        return
    try:
        if is_protected(walk.place, below):
            walk.leave_out("protected folders")
            return
        yield Entry(parts, Kind.FOLDER, parent, depth)
        if depth >= walk.deepest:
            walk.leave_out("folders below the depth")
            return
        yield from entries(walk, below, parts, depth + 1)
    finally:
        os.close(below)


def _over(walk: Walk) -> str | None:
    return "entry_limit" if walk.seen > MOST_SEEN else walk.watch.over()


def _sorted(walk: Walk, folder: int) -> list[tuple[str, Kind]]:
    try:
        with os.scandir(folder) as scan:
            found = [(entry.name, _kind(entry)) for entry in islice(scan, _MOST_IN_FOLDER + 1)]
    except OSError:
        walk.leave_out("folders that could not be read")
        return []
    if len(found) > _MOST_IN_FOLDER:
        found.pop()
        walk.leave_out(f"folders with more than {_MOST_IN_FOLDER} entries (the rest of them)")
    return sorted(pair for pair in found if not pair[0].startswith(DRAFT_PREFIX))


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER
