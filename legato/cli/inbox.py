"""The command `inbox`."""

from __future__ import annotations

import click

from legato.cli.console import Call, json_option, run_async
from legato.cli.screens.inbox import inbox_screen
from legato.readings import list_questions


@click.command("inbox")
@json_option
@click.pass_obj
def inbox_command(call: Call) -> int:
    """List what people are asked over all runs, with the command that answers each.

    Effects that nobody can tell stay here after their run has ended, until somebody says
    what became of them.
    """

    async def work() -> list[dict[str, object]]:
        async with call.door() as door:
            return await list_questions(door.ledger)

    rows = run_async(work())
    call.show({"ok": True, "questions": rows, "count": len(rows)}, lambda: inbox_screen(rows))
    return 0
