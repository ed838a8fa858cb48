"""Examines the trees in the home: those whose run was never accepted are nobody's."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain.ids import run_stream
from ledger.reads import clock, read_head
from legato.examine.finding import Finding, warn
from legato.examine.open_runs import GRACE
from legato.worktrees import removal_command, standing

if TYPE_CHECKING:
    from pathlib import Path

    from ledger.connect import Ledger

_MOST = 200


async def examine_trees(ledger: Ledger, home: Path) -> list[Finding]:
    """Name each tree that a command left which ended before its run was accepted."""
    now = await clock(ledger)
    trees = await asyncio.to_thread(standing, home, _MOST)
    return [
        await asyncio.to_thread(_ownerless, home, run_id)
        for run_id, written in trees.items()
        if now - datetime.fromtimestamp(written, UTC) > GRACE
        and (await read_head(ledger, run_stream(run_id))).version == 0
    ]


def _ownerless(home: Path, run_id: str) -> Finding:
    text = "stands in worktrees/, and this ledger knows no such run: its command was ended early"
    return warn(f"tree {run_id}", text, f"remove it: {removal_command(home, run_id)}")
