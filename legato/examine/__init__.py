"""Looks for what is wrong with an installation, each finding with a next step; starts nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from domain.errors import LegatoError
from ledger.connect import close_ledger, open_ledger
from legato.embedded import Stack, Status, stack_status

from .finding import Finding, Grade, fail
from .homes import examine_homes, find_absent_homes
from .lists import examine_lists
from .machine import examine_machine
from .open_runs import examine_runs
from .serving import examine_feed, examine_postgres, examine_stack
from .trees import examine_trees

if TYPE_CHECKING:
    from legato.embedded import StackStatus
    from legato.settings import Settings

__all__ = ["Finding", "Grade", "examine"]


async def examine(settings: Settings) -> list[Finding]:
    """Look at the machine, and at the stack as far as it runs."""
    status = await stack_status(settings)
    found = [*await examine_machine(settings), *examine_stack(status)]
    if status.status is not Status.READY:
        return found
    return [*found, *await _inside(settings, status)]


async def _inside(settings: Settings, status: StackStatus) -> list[Finding]:
    try:
        ledger = await open_ledger(status.database_url, most=2)
    except LegatoError as exc:
        return [fail("ledger", exc.message, exc.next)]
    try:
        at, grace = status.temporal_address, timedelta(seconds=settings.grace)
        space = settings.temporal_namespace
        stack = Stack(status.embedded, at, space, status.database_url, status.ui_address)
        away = await find_absent_homes(ledger, settings, stack)
        without = {run_id for one in away or () for run_id in one.runs}
        runs = await examine_runs(ledger, at, space, grace, without)
        trees = await examine_trees(ledger, settings.home)
        lists = await examine_lists(ledger)
        feed = await examine_feed(ledger)
        homes = examine_homes(away, settings)
        return [await examine_postgres(ledger), feed, lists, *homes, *runs, *trees]
    finally:
        await close_ledger(ledger)
