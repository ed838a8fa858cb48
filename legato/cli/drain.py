"""The command `drain`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

import click
from rich.text import Text

from domain.errors import LegatoError
from domain.words import counted
from legato.cli.console import Call, json_option, run_async
from legato.cli.seconds import Seconds
from legato.cli.spelling import spelled
from legato.drained import LOOK, drain, is_worked_for
from legato.embedded import Status, stack_status

if TYPE_CHECKING:
    from legato.settings import Settings
    from legato.under_way import Doing

USUAL = 120.0
AGAIN = "`legato up` has the workers go on"


@click.command("drain")
@click.option(
    "--timeout",
    type=Seconds(),
    default=USUAL,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for what is under way.",
)
@json_option
@click.pass_obj
def drain_command(call: Call, *, timeout: float) -> int:
    """Have this home's workers take nothing new, and wait until what is under way has ended.

    Open runs stay open and wait for their home; `legato up` has the workers go on, and
    until then they take nothing, whatever is started anew.

    Exit status 0 once nothing is under way, 1 where something still is after --timeout:
    the workers go on with that, and with nothing else.
    """
    settings = call.settings()
    since = _drain(settings)
    if not run_async(_idle(call, settings, timeout)):
        raise run_async(_unfinished(settings, since, timeout))
    value: dict[str, object] = {"ok": True, "drained": since, "home": str(settings.home)}
    value["under_way"] = []
    text = f"drained since {since}: nothing is under way\nnext: {AGAIN}"
    call.show(value, lambda: Text(spelled(text)))
    return 0


def _drain(settings: Settings) -> str:
    try:
        return drain(settings.home)
    except OSError as error:
        raise LegatoError(
            "home_unusable",
            f"nothing can be written in {settings.home}",
            cause=str(error),
            next="set LEGATO_HOME to a folder that you can write to",
        ) from error


async def _idle(call: Call, settings: Settings, timeout: float) -> bool:  # noqa: ASYNC109 - ours to tell what runs then
    """Wait until nobody works for the home; False where somebody still does at the end."""
    until = time.monotonic() + timeout
    told = False
    while is_worked_for(settings.home):
        if time.monotonic() >= until:
            return False
        if not told:
            call.progress("waiting for what is under way")
            told = True
        await asyncio.sleep(LOOK)
    return True


async def _unfinished(settings: Settings, since: str, timeout: float) -> LegatoError:  # noqa: ASYNC109 - told, not waited for
    doing = await _under_way(settings)
    runs = ", ".join(f"{one.run_id} ({one.doing})" for one in doing or ())
    many = "what it is cannot be told: Temporal or the ledger does not answer"
    if doing is not None:
        many = f"{counted(len(doing), 'execution')}: {runs}" if doing else "it is about to end"
    return LegatoError(
        "drain_unfinished",
        f"something is still under way after {timeout:g} s",
        cause=many,
        next=(
            "`legato drain` waits on; `legato down` ends it in the middle, and its runs go on "
            f"after the next start; {AGAIN}"
        ),
        details={"drained": since, "under_way": [asdict(one) for one in doing or ()]},
    )


async def _under_way(settings: Settings) -> list[Doing] | None:
    """Ask what is carried out; None where the stack cannot tell."""
    from temporalio.service import RPCError  # noqa: PLC0415 - help loads no Temporal

    from ledger.connect import close_ledger, open_ledger  # noqa: PLC0415 - help loads no ledger
    from legato.client import connect, home_queue  # noqa: PLC0415 - help loads no Temporal
    from legato.under_way import under_way  # noqa: PLC0415 - the same

    status = await stack_status(settings)
    if status.status is not Status.READY:
        return None
    try:
        ledger = await open_ledger(status.database_url, most=2)
        try:
            client = await connect(status.temporal_address, settings.temporal_namespace)
            return await under_way(client, ledger, home_queue(settings))
        finally:
            await close_ledger(ledger)
    except (LegatoError, RPCError):
        return None
