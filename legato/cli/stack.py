"""The commands `up`, `down` and `status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from domain.words import counted
from legato.build import Tried, last_tried, remember, this_build
from legato.cli.console import Call, json_option, plain, run_async
from legato.cli.screens.stack import stack_screen
from legato.drained import undrain
from legato.embedded import Status, down, ensure_up, stack_status

if TYPE_CHECKING:
    from pathlib import Path

    from legato.embedded import StackStatus
    from legato.settings import Settings

NOT_REACHABLE = 7


FORCE_HELP = "Let this build in although it cannot replay open runs: those stand still then."


@click.command("up")
@click.option("--force", is_flag=True, help=FORCE_HELP)
@json_option
@click.pass_obj
def up_command(call: Call, *, force: bool) -> int:
    """Start the embedded stack and wait until it serves; finding it running is fine.

    With TEMPORAL_ADDRESS and DATABASE_URL set it makes those servers ready instead: the
    ledger's tables, the namespace, the search attributes. Workers that were drained go on.

    A build that cannot replay the open runs of this home is refused, exit status 3.
    """
    settings = call.settings()
    before = last_tried(settings.home)
    if force:
        remember(settings.home, Tried(this_build()))
    status = run_async(_up(call, settings))
    tried = last_tried(settings.home)
    if tried is not None and tried != before and tried.left:
        call.progress(f"not replayed for want of time: {counted(len(tried.left), 'open run')}")
    value = {**status_json(status, settings.home), "tried": plain(tried)}
    call.show(value, lambda: stack_screen(status, settings.home))
    return 0


async def _up(call: Call, settings: Settings) -> StackStatus:
    from legato.door import search_attributes  # noqa: PLC0415 - status loads no ledger

    stack = await ensure_up(settings, progress=call.progress, search_attributes=search_attributes())
    if not stack.embedded:
        from legato.cluster import prepare_cluster  # noqa: PLC0415 - other commands load no Temporal
        from legato.try_build import try_on  # noqa: PLC0415 - the same

        await prepare_cluster(stack, call.progress)
        await try_on(settings, stack.temporal_address, stack.database_url)
    undrain(settings.home)
    return await stack_status(settings)


@click.command("down")
@json_option
@click.pass_obj
def down_command(call: Call) -> int:
    """Stop the embedded stack. Open runs stay as they are and go on after the next start."""
    settings = call.settings()
    stopped = run_async(down(settings))
    said = "stopped" if stopped else f"nothing was running in {settings.home}"
    call.show({"ok": True, "stopped": stopped, "home": str(settings.home)}, lambda: Text(said))
    return 0


@click.command("status")
@json_option
@click.pass_obj
def status_command(call: Call) -> int:
    """Say how the stack stands: addresses, processes, why it failed. Starts nothing.

    Exit status 0 where it is ready, 7 where it is not.
    """
    settings = call.settings()
    status = run_async(stack_status(settings))
    call.show(status_json(status, settings.home), lambda: stack_screen(status, settings.home))
    return 0 if status.status is Status.READY else NOT_REACHABLE


def status_json(status: StackStatus, home: Path) -> dict[str, object]:
    """Give the stack's status for programs; `database_url` is whole, with its password."""
    return {
        "ok": status.status is Status.READY,
        "status": status.status.value,
        "embedded": status.embedded,
        "home": str(home),
        "temporal_address": status.temporal_address,
        "ui_address": status.ui_address,
        "database_url": status.database_url,
        "api_address": status.api_address,
        "parts": plain(status.parts),
        "versions": dict(status.versions),
        "drained": status.drained,
        "reason": plain(status.reason),
    }
