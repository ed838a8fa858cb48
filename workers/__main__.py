"""The worker program: settings, logging, connections, then serve until told to stop."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import structlog
from temporalio.service import RPCError

from activities.tools.confine import detect
from domain.errors import LegatoError
from ledger.connect import close_ledger, open_ledger
from ledger.migrate import migrate
from legato.client import connect
from legato.cluster import register_attributes
from legato.leave import leave
from legato.log import configure_log, own_output
from legato.settings import Settings, environment, load_settings
from legato.try_build import require_replayable
from workers.telemetry import sdk_runtime, telemetry
from workers.worker import serve
from workers.world import build_world

if TYPE_CHECKING:
    from temporalio.client import Client

    from ledger.connect import Ledger

log = structlog.get_logger()

_PATIENCE = 3.0
"""Seconds given to registering search attributes; runs start without them too."""


async def run(settings: Settings) -> None:
    """Connect and serve.

    Raises `usage` where it is not told where to work, `build_cannot_replay` where open runs
    of the home were begun by a build that this one does not go on from.
    """
    address, url = settings.temporal_address, settings.database_url
    if address is None or url is None:
        raise LegatoError(
            "usage",
            "a worker needs TEMPORAL_ADDRESS and DATABASE_URL",
            next="`legato up` starts the embedded stack with its own worker",
        )
    trying = asyncio.create_task(asyncio.to_thread(detect))
    client, ledger = await asyncio.gather(_temporal(address, settings), _ledger(url))
    try:
        await require_replayable(settings, client, ledger)
        confinement = (await trying).level
        world = await asyncio.to_thread(build_world, settings, ledger, confinement)
        with telemetry(settings) as observed:
            await serve(settings, client, world, observed)
    finally:
        await close_ledger(ledger)


async def _temporal(address: str, settings: Settings) -> Client:
    """Connect, and register the search attributes where they are missing and may be."""
    client = await connect(
        address, settings.temporal_namespace, runtime=sdk_runtime(settings.sdk_metrics_address)
    )
    try:
        await register_attributes(client, patience=_PATIENCE)
    except RPCError as exc:
        log.warning("search_attributes_not_registered", status=exc.status.name)
    return client


async def _ledger(database_url: str) -> Ledger:
    await migrate(database_url)
    return await open_ledger(database_url)


def main() -> None:
    """Start the worker; the exit status tells how it ended."""
    status, out = 0, sys.stderr
    try:
        settings = load_settings(environment())
        out = own_output()
        configure_log(out)
        asyncio.run(run(settings))
    except LegatoError as exc:
        log.exception("worker_failed", code=exc.code, message=exc.message, next=exc.next)
        out.write(f"{exc.code}: {exc.message}\n  next: {exc.next}\n")
        status = 1
    except Exception as exc:
        log.exception("worker_broke", error=type(exc).__name__)
        status = 1
    leave(status)


if __name__ == "__main__":
    main()
