"""The command `usage`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from legato.cli.console import Call, json_option, run_async
from legato.cli.listing import list_options, listed_json, wanted_of, with_lag
from legato.cli.screens.usage import usage_screen
from legato.lists import list_usage

if TYPE_CHECKING:
    from typing import Unpack

    from ledger.projections.lists import By
    from legato.cli.listing import ListOptions
    from legato.lists import Listed


@click.command("usage")
@click.option(
    "--by",
    type=click.Choice(["run", "item", "agent", "day"]),
    default="run",
    show_default=True,
    help="What the sums are of.",
)
@list_options
@json_option
@click.pass_obj
def usage_command(call: Call, *, by: str, **given: Unpack[ListOptions]) -> int:
    """Sum tokens and money by run, item, agent or day (UTC).

    What a provider did not say is unknown and counted as such; it is not zero.
    """
    wanted, chosen = wanted_of(given), cast("By", by)

    async def work() -> Listed:
        async with call.door() as door:
            return await list_usage(door.ledger, chosen, wanted, after=given["after"])

    listed = run_async(work())
    value = {**listed_json("usage", listed, given["after"]), "by": by}
    call.show(value, lambda: with_lag(usage_screen(by, listed), listed, given["after"]))
    return 0
