"""The HTTP application: its routes, its errors, and the guard before them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route

from domain.errors import LegatoError, bug, refused
from ledger.connect import close_ledger, open_ledger
from legato.api.events import Viewers, run_events
from legato.api.guard import LOOPBACK, Guard, error_response, read_token
from legato.api.metrics import metrics

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from starlette.requests import Request
    from starlette.responses import Response

    from ledger.connect import Ledger
    from legato.settings import Settings

log = structlog.get_logger()


def build_app(settings: Settings, database_url: str) -> Starlette:
    """Build the application of one home; it opens its ledger when it starts."""

    @asynccontextmanager
    async def opened(app: Starlette) -> AsyncGenerator[None]:
        app.state.ledger = await _patiently(database_url)
        app.state.viewers = Viewers()
        try:
            yield
        finally:
            await close_ledger(app.state.ledger)

    guard = Middleware(Guard, token=read_token(settings.home), hosts=LOOPBACK)
    return Starlette(
        routes=[
            Route("/health", _health, methods=["GET"]),
            Route("/metrics", metrics, methods=["GET"]),
            Route("/runs/{run}/events", run_events, methods=["GET"]),
        ],
        middleware=[guard],
        exception_handlers={LegatoError: _refuse, 404: _unknown, Exception: _broken},
        lifespan=opened,
    )


async def _patiently(database_url: str) -> Ledger:
    """Open the ledger once it is there: a database that starts again takes this door along."""
    while True:
        try:
            return await open_ledger(database_url)
        except LegatoError as exc:
            if exc.code != "ledger_unreachable":
                raise
        await asyncio.sleep(1.0)


async def _health(_request: Request) -> Response:
    return JSONResponse({"ok": True})


async def _refuse(_request: Request, error: Exception) -> Response:
    if not isinstance(error, LegatoError):
        raise error
    return error_response(error)


async def _unknown(_request: Request, _error: Exception) -> Response:
    step = "GET /runs/RUN/events streams a run, GET /metrics gives figures, GET /health lives"
    return error_response(refused("not_found", "there is nothing at this path", next=step))


async def _broken(_request: Request, error: Exception) -> Response:
    log.error("request_failed", exc_info=error)
    return error_response(bug("internal", "the request failed within Legato"))
