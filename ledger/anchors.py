"""Roots of the feed, kept in a file outside the database: what a superuser cannot change there."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ledger.connect import Ledger

FILE = "anchors.jsonl"
"""One JSON object a line; lines are only ever added."""

_NEWEST = (
    "select global_seq, epoch, root, at from ledger.checkpoint order by global_seq desc limit 1"
)


@dataclass(frozen=True)
class Anchor:
    """The feed's root (32 bytes) at a number, as it was at some time (ISO 8601, UTC).

    `restored` says that somebody has accepted a restored database there: what was anchored
    beyond it before is given up.
    """

    global_seq: int
    epoch: int
    root: bytes
    at: str
    restored: bool = False


async def newest_checkpoint(ledger: Ledger) -> Anchor | None:
    """Read the newest checkpoint, as what is to be anchored; None where there is none yet."""
    row = await ledger.pool.fetchrow(_NEWEST)
    if row is None:
        return None
    at = row["at"].astimezone(UTC).isoformat()
    return Anchor(row["global_seq"], row["epoch"], row["root"], at)


def restored_at(global_seq: int, epoch: int, root: bytes) -> Anchor:
    """Say that a restored database was accepted as it stands, now."""
    return Anchor(global_seq, epoch, root, datetime.now(UTC).isoformat(), restored=True)


def write_anchor(folder: Path, anchor: Anchor) -> bool:
    """Add an anchor where the file does not end with it; True once it is on the disk.

    Raises OSError where the folder cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    known = _lines(folder / FILE)
    line = _line(anchor)
    if known and known[-1] == line:
        return False
    before = "" if not known or _ends_whole(folder / FILE) else "\n"
    descriptor = os.open(folder / FILE, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(descriptor, f"{before}{line}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    if not known:
        _sync_folder(folder)
    return True


def read_anchors(folder: Path) -> tuple[Anchor, ...]:
    """Read what is anchored and not given up, in the order of writing; () without a file.

    A line that was cut while it was written is left out.
    """
    kept: list[Anchor] = []
    for anchor in filter(None, map(_anchor, _lines(folder / FILE))):
        if anchor.restored:
            kept = [one for one in kept if one.global_seq <= anchor.global_seq]
        kept.append(anchor)
    return tuple(kept)


def _line(anchor: Anchor) -> str:
    more = {"restored": True} if anchor.restored else {}
    return json.dumps(
        {
            "global_seq": anchor.global_seq,
            "epoch": anchor.epoch,
            "root": anchor.root.hex(),
            "at": anchor.at,
            **more,
        }
    )


def _anchor(line: str) -> Anchor | None:
    try:
        read = json.loads(line)
        return Anchor(
            int(read["global_seq"]),
            int(read["epoch"]),
            bytes.fromhex(read["root"]),
            str(read["at"]),
            bool(read.get("restored", False)),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _lines(path: Path) -> Sequence[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return ()


def _ends_whole(path: Path) -> bool:
    return path.read_bytes()[-1:] == b"\n"


def _sync_folder(folder: Path) -> None:
    """Make the file's name last too."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
