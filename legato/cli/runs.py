"""The command `runs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from domain.runs.run import Status
from legato.cli.console import Call, json_option, plain, run_async
from legato.cli.listing import list_options, listed_json, wanted_of, with_homes, with_lag
from legato.cli.screens.runs import runs_screen
from legato.homes import absent_homes, needing
from legato.lists import list_runs

if TYPE_CHECKING:
    from typing import Unpack

    from domain.runs.home import Absent
    from legato.cli.listing import ListOptions
    from legato.lists import Listed


@click.command("runs")
@click.option(
    "--status",
    "statuses",
    type=click.Choice([status.value for status in Status]),
    multiple=True,
    help="Only in this state; as often as needed.",
)
@click.option("--open", "only_open", is_flag=True, help="Only those that have not ended.")
@list_options
@json_option
@click.pass_obj
def runs_command(
    call: Call, *, statuses: tuple[str, ...], only_open: bool, **given: Unpack[ListOptions]
) -> int:
    """List runs, the youngest first: ended and open ones."""
    wanted = wanted_of(given, statuses=statuses, only_open=only_open)

    async def work() -> tuple[Listed, tuple[Absent, ...] | None]:
        async with call.door() as door:
            listed = await list_runs(door.ledger, wanted, after=given["after"])
            wait = needing(listed.rows)
            return listed, await absent_homes(door.settings, door.stack, door.ledger, wait)

    listed, away = run_async(work())
    value = {**listed_json("runs", listed, given["after"]), "absent_homes": plain(away)}
    call.show(
        value,
        lambda: with_lag(with_homes(runs_screen(listed, away), away), listed, given["after"]),
    )
    return 0
