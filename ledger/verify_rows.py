"""Checks the rows of the projections against the events that they are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import LegatoError
from ledger.projections import check

if TYPE_CHECKING:
    from ledger.verify_report import Pass

ROWS = "projection"
"""What a problem of the rows names instead of a stream, with the table."""

REBUILD = (
    "if everything else holds, `legato ledger rebuild` puts the rows in order; rows decide "
    "nothing, but somebody or something wrote to the database past Legato"
)


async def check_rows(at: Pass) -> None:
    """Project every stream anew and compare every row, at the number that the rows tell up to.

    A problem's version is that number. Rows that lag behind the feed are no problem.
    """
    try:
        seen = await check.check_rows(at.connection)
    except LegatoError as exc:
        at.tell(ROWS, 0, f"the rows cannot be checked: {exc.message}", exc.next)
        return
    at.checked["rows"] = seen.rows
    for one in seen.differing:
        at.tell(f"{ROWS}.{one.table}", seen.global_seq, f"row {one}", REBUILD)
    left = seen.differences - len(seen.differing)
    if left:
        at.tell(ROWS, seen.global_seq, f"{left} more rows differ", REBUILD)
