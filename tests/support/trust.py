"""What must hold of the record after whatever befell a run: the chain, and Temporal's silence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.verify import verify
from tests.support.canaries import CANARY, histories_of, run_ids, seen_in

if TYPE_CHECKING:
    from tests.support.rig import Rig


async def nothing_seen(rig: Rig) -> None:
    """Check that Temporal holds nothing of what the rig's runs said or did, and no path."""
    for run_id in await run_ids(rig):
        for history in await histories_of(rig, run_id):
            assert seen_in(history, [CANARY, str(rig.folder)]) == []


async def all_holds(rig: Rig) -> None:
    """Check the same, and every chain, blob and head row of the rig's ledger."""
    report = await verify(rig.ledger)
    assert report.ok, report.problems
    await nothing_seen(rig)
