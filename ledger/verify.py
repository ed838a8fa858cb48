"""Verifies the whole ledger as it stands at one moment: every check, in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.verify_feed import check_feed
from ledger.verify_report import Check, Pass, Problem, VerifyReport
from ledger.verify_rows import check_rows
from ledger.verify_streams import check_streams

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ledger.anchors import Anchor
    from ledger.connect import Ledger

CHECKS: tuple[Check, ...] = (check_streams, check_feed, check_rows)
"""What is checked of every ledger, in this order."""


async def verify(ledger: Ledger, *more: Check, anchors: Sequence[Anchor] = ()) -> VerifyReport:
    """Verify the ledger as it stands at one moment; writers are not held up.

    `more` are checks that need what the ledger does not know, `anchors` the roots that were
    kept elsewhere. Raises only what the database raises where it cannot be read at all.
    """
    async with (
        ledger.pool.acquire() as connection,
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        at = Pass(connection, ledger.secret, tuple(anchors))
        for check in (*CHECKS, *more):
            await check(at)
    return VerifyReport(not at.problems, at.checked, tuple(at.problems))


__all__ = ["CHECKS", "Check", "Pass", "Problem", "VerifyReport", "verify"]
