"""Ends the commands of a run that outlived the worker which started them."""

from __future__ import annotations

import asyncio
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from activities.execute import on_thread
from activities.tools.commands import Running, find_command, wait_command
from domain.errors import LegatoError

if TYPE_CHECKING:
    from activities.world import World

log = structlog.get_logger()


async def stop_commands(world: World, run_id: str, prefix: str = "") -> None:
    """End every command of a run that still runs, and wait until it has.

    Looks into the run's call folders, those whose names begin with `prefix`. One that
    cannot be ended is left after some seconds, and the worker's log names it.
    """
    calls = Path(world.home, "calls", run_id)
    running = await asyncio.to_thread(_running, calls, prefix)
    ending = [await on_thread(partial(_stop, folder)) for folder in running]
    await asyncio.gather(*ending)


def _running(calls: Path, prefix: str) -> list[Path]:
    folders = calls.glob(f"{prefix}*") if calls.is_dir() else ()
    return [one for one in folders if isinstance(find_command(str(one)), Running)]


def _stop(folder: Path) -> None:
    stop = threading.Event()
    stop.set()
    try:
        wait_command(str(folder), 0, stop)
    except LegatoError as exc:
        log.warning("command_not_stopped", code=exc.code, call=folder.name)
