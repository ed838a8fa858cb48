"""The command `inbox`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from legato.cli.console import Call, json_option, plain, run_async
from legato.cli.listing import list_options, listed_json, wanted_of, with_homes, with_lag
from legato.cli.screens.inbox import inbox_screen
from legato.homes import absent_homes, needing
from legato.lists import list_questions

if TYPE_CHECKING:
    from typing import Unpack

    from domain.runs.home import Absent
    from legato.cli.listing import ListOptions
    from legato.lists import Listed


@click.command("inbox")
@list_options
@json_option
@click.pass_obj
def inbox_command(call: Call, **given: Unpack[ListOptions]) -> int:
    """List what people are asked over all runs, with the command that answers each.

    Effects that nobody can tell stay here after their run has ended, until somebody says
    what became of them.
    """
    wanted = wanted_of(given)

    async def work() -> tuple[Listed, tuple[Absent, ...] | None]:
        async with call.door() as door:
            listed = await list_questions(door.ledger, wanted, after=given["after"])
            wait = dict.fromkeys(needing(listed.rows))
            return listed, await absent_homes(door.settings, door.stack, door.ledger, wait)

    listed, away = run_async(work())
    value = {**listed_json("questions", listed, given["after"]), "absent_homes": plain(away)}
    call.show(
        value,
        lambda: with_lag(with_homes(inbox_screen(listed), away), listed, given["after"]),
    )
    return 0
