"""Looks whether lists hold all that the ledger does, and what keeps them where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.errors import LegatoError
from domain.words import counted
from ledger.projections.catch_up import fresh
from ledger.projections.lists import Wanted, damaged
from legato.examine.finding import Finding, fail, ok, warn
from legato.lists import unreadable

if TYPE_CHECKING:
    from ledger.connect import Ledger
    from ledger.projections.catch_up import Connection
    from ledger.projections.lists import Damaged

_PATIENCE = 2.0
"""Seconds in which the rows may come up to date before they are called behind."""


async def examine_lists(ledger: Ledger) -> Finding:
    """Bring the rows up to date and say how far they came."""
    try:
        lost, lag = await fresh(ledger, _damaged, within=_PATIENCE)
    except LegatoError as exc:
        return fail("lists", exc.message, exc.next)
    if lag.stands is not None:
        return fail("lists", lag.stands.message, lag.stands.next)
    if lost:
        first = unreadable(lost[0])
        said = f"{counted(len(lost), 'run')} cannot be read: {first['message']}"
        return fail("lists", said, str(first["next"]))
    if lag.behind:
        step = "look again; where it stays so, end transactions that are open in the database"
        return warn("lists", f"{counted(lag.behind, 'event')} behind the ledger", step)
    return ok("lists", "they hold all that the ledger does")


async def _damaged(connection: Connection) -> list[Damaged]:
    return await damaged(connection, Wanted())
