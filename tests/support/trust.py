"""What must hold of the record after whatever befell a run: chain, rows, and Temporal's silence."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ledger.projections.catch_up import catch_up
from ledger.verify import verify
from tests.support.canaries import CANARY, histories_of, run_ids, seen_in

if TYPE_CHECKING:
    from collections.abc import Collection

    from tests.support.rig import Rig

ROWS_WITHIN = 120.0
"""Seconds until the rows tell of what was committed: transactions of others may hold them back."""


async def nothing_seen(rig: Rig) -> None:
    """Check that Temporal holds nothing of what the rig's runs said or did, and no path."""
    await _nothing_seen(rig, await run_ids(rig))


async def all_holds(rig: Rig) -> None:
    """Check the same, every chain, blob and head row, and that lists tell what the events do."""
    report = await verify(rig.ledger)
    assert report.ok, report.problems
    ids = await run_ids(rig)
    await _rows_tell_the_same(rig, ids)
    await _nothing_seen(rig, ids)


async def _nothing_seen(rig: Rig, ids: Collection[str]) -> None:
    for run_id in ids:
        for history in await histories_of(rig, run_id):
            assert seen_in(history, [CANARY, str(rig.folder)]) == []


async def _rows_tell_the_same(rig: Rig, ids: Collection[str]) -> None:
    end = time.monotonic() + ROWS_WITHIN
    while True:
        rows = await _statuses(rig, ids)
        folded = {run_id: (await rig.run(run_id)).status.value for run_id in ids}
        if rows == folded or time.monotonic() > end:
            assert rows == folded
            return
        await rig.beat(0.1)


async def _statuses(rig: Rig, ids: Collection[str]) -> dict[str, str]:
    """Read how the runs stand by the rows that lists are made of, brought up to date."""
    await catch_up(rig.ledger)
    rows = await rig.ledger.pool.fetch(
        "select run_id, status from projection.run where run_id = any($1)", list(ids)
    )
    return {row["run_id"]: row["status"] for row in rows}
