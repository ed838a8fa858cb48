"""The command `runs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from legato.cli.console import Call, json_option, run_async
from legato.cli.screens.runs import runs_screen
from legato.readings import list_runs

if TYPE_CHECKING:
    from legato.readings import Listed

USUAL = 50
MOST = 10_000


@click.command("runs")
@click.option("--all", "-a", "everything", is_flag=True, help="All runs, however many.")
@click.option("--limit", type=click.IntRange(1, MOST), help=f"At most so many; {USUAL} by default.")
@click.option("--open", "only_open", is_flag=True, help="Only those that have not ended.")
@json_option
@click.pass_obj
def runs_command(call: Call, *, everything: bool, limit: int | None, only_open: bool) -> int:
    """List runs, the youngest first: ended and open ones."""
    most = limit or (None if everything else USUAL)

    async def work() -> Listed:
        async with call.door() as door:
            return await list_runs(door.ledger, limit=most, only_open=only_open)

    listed = run_async(work())
    value = {"ok": True, "runs": listed.rows, "count": len(listed.rows), "more": listed.more}
    call.show(value, lambda: runs_screen(listed))
    return 0
