"""The API program: serve one home's HTTP door until told to stop."""

from __future__ import annotations

import sys

import uvicorn

from domain.errors import LegatoError
from legato.api.app import build_app
from legato.leave import leave
from legato.log import configure_log
from legato.settings import Settings, environment, load_settings


def serve(settings: Settings) -> None:
    """Serve until a signal; raises `usage` where no database is named."""
    if settings.database_url is None:
        raise LegatoError(
            "usage",
            "the API needs DATABASE_URL",
            next="`legato up` starts the embedded stack with its own API",
        )
    host, _, port = settings.api_address.rpartition(":")
    config = uvicorn.Config(
        build_app(settings, settings.database_url),
        host=host.strip("[]"),
        port=int(port),
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    uvicorn.Server(config).run()


def main() -> None:
    """Serve; the exit status tells how it ended."""
    configure_log()
    status = 0
    try:
        serve(load_settings(environment()))
    except LegatoError as exc:
        sys.stderr.write(f"{exc.code}: {exc.message}\n  next: {exc.next}\n")
        status = 1
    leave(status)


if __name__ == "__main__":
    main()
