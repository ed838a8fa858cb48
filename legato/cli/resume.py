"""The command `resume`: goes on in a new run where an ended one stood."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from legato.cli.budget import WantedOptions, wanted_of, wanted_options
from legato.cli.console import Call, json_option
from legato.cli.follow import begin_and_follow
from legato.cli.steer import RUN_HELP
from legato.door import resume
from legato.readings import find_run

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ledger.dispatch import Dispatched
    from legato.door import Door


class ResumeOptions(WantedOptions):
    """Everything that `resume` takes beside the run."""

    detach: bool


@click.command("resume", epilog=RUN_HELP)
@click.argument("run")
@wanted_options
@click.option("--detach", "-d", is_flag=True, help="Return as soon as it is accepted.")
@json_option
@click.pass_obj
def resume_command(call: Call, run: str, **given: Unpack[ResumeOptions]) -> int:
    """Go on from an ended run in a new one, at its first unfinished item.

    The new run has the old one's session, request and slot, and its budget once more, changed
    by what is given. Exit status as of `run`.
    """
    wanted = wanted_of(given)

    async def begin(door: Door) -> Dispatched:
        return await resume(door, await find_run(door.ledger, run), wanted)

    return begin_and_follow(call, begin, run, detach=given["detach"], known=run)
