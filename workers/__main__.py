"""The worker program: settings, logging, connections, then serve until told to stop."""

from __future__ import annotations

import asyncio
import sys

import structlog

from domain.errors import LegatoError
from ledger.connect import close_ledger, open_ledger
from ledger.migrate import migrate
from legato.client import connect
from legato.leave import leave
from legato.log import configure_log
from legato.settings import Settings, environment, load_settings
from workers.worker import serve
from workers.world import build_world

log = structlog.get_logger()


async def run(settings: Settings) -> None:
    """Connect and serve; raises `usage` where it is not told where to work."""
    if settings.temporal_address is None or settings.database_url is None:
        raise LegatoError(
            "usage",
            "a worker needs TEMPORAL_ADDRESS and DATABASE_URL",
            next="`legato up` starts the embedded stack with its own worker",
        )
    await migrate(settings.database_url)
    client = await connect(settings.temporal_address, settings.temporal_namespace)
    ledger = await open_ledger(settings.database_url)
    try:
        world = await asyncio.to_thread(build_world, settings, ledger)
        await serve(settings, client, world)
    finally:
        await close_ledger(ledger)


def main() -> None:
    """Start the worker; the exit status tells how it ended."""
    status = 0
    try:
        settings = load_settings(environment())
        configure_log()
        asyncio.run(run(settings))
    except LegatoError as exc:
        log.exception("worker_failed", code=exc.code, message=exc.message, next=exc.next)
        sys.stderr.write(f"{exc.code}: {exc.message}\n  next: {exc.next}\n")
        status = 1
    leave(status)


if __name__ == "__main__":
    main()
