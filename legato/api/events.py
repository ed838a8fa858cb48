"""Streams a run to a viewer as server-sent events that can be gone on from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.responses import StreamingResponse

from domain.errors import LegatoError, to_json
from domain.runs.cursor import parse_cursor
from domain.runs.recorded import Recorded
from legato.live import live, told_json
from legato.readings import find_run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import Request
    from starlette.responses import Response

    from domain.runs.cursor import Cursor
    from ledger.connect import Ledger
    from legato.live import Told

MOST_VIEWERS = 100
"""So many streams are open at once; each looks into the ledger several times a second."""

_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass
class Viewers:
    """How many streams are open."""

    open: int = field(default=0)


async def run_events(request: Request) -> Response:
    """Stream a run from the place in `Last-Event-ID` or `after`, to its end.

    Raises `run_not_found`, `run_ambiguous`, `cursor_invalid`, `viewers_too_many`.
    """
    ledger: Ledger = request.app.state.ledger
    viewers: Viewers = request.app.state.viewers
    written = request.headers.get("last-event-id") or request.query_params.get("after", "")
    cursor = parse_cursor(written)
    run_id = await find_run(ledger, request.path_params["run"])
    if viewers.open >= MOST_VIEWERS:
        raise LegatoError(
            "viewers_too_many",
            f"{MOST_VIEWERS} streams are open already",
            next="close one, then ask again with the last cursor",
        )
    return StreamingResponse(
        _stream(ledger, run_id, cursor, viewers), media_type="text/event-stream", headers=_HEADERS
    )


async def _stream(
    ledger: Ledger, run_id: str, cursor: Cursor, viewers: Viewers
) -> AsyncIterator[str]:
    """Write batches as they come; after the run's end one last event `end`."""
    viewers.open += 1
    try:
        yield "retry: 1000\n\n"
        async for batch in live(ledger, run_id, cursor):
            yield "".join(_event(told) for told in batch) or ": still here\n\n"
        yield f"event: end\ndata: {json.dumps({'run_id': run_id})}\n\n"
    except LegatoError as error:
        yield f"event: error\ndata: {json.dumps(to_json(error))}\n\n"
    finally:
        viewers.open -= 1


def _event(told: Told) -> str:
    kind = told.what.fact.type if isinstance(told.what, Recorded) else "text"
    return f"id: {told.cursor}\nevent: {kind}\ndata: {json.dumps(told_json(told))}\n\n"
