"""Tells a run while it goes on: its events, and the text of the response that is coming."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.codec import decode_object
from domain.errors import LegatoError
from domain.events import encode
from domain.ids import run_stream
from domain.runs.cursor import Cursor, Piece, Request
from domain.runs.recorded import Recorded, stamp
from domain.runs.run import Run, evolve
from ledger.connect import UNREACHABLE
from ledger.live import read_pieces
from ledger.reads import Stored, read_stream
from legato.readings import recorded

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from ledger.connect import Ledger

LOOK = 0.3
"""Seconds between two looks at a run that is followed."""

LOOK_AT_TEXT = 0.1
"""Seconds between two looks while a response is coming."""

PATIENCE = 30.0
"""Seconds that a ledger may be silent before following it is given up."""

QUIET = 15.0
"""Seconds without anything new after which an empty batch is given: the viewer may be gone."""


@dataclass(frozen=True)
class Told:
    """One event or some text, and where a viewer stands who has it.

    `gap` tells that text before it is missing (the database crashed meanwhile): the whole
    comes with the response's event.
    """

    cursor: Cursor
    what: Recorded | Piece
    gap: bool = False


async def live(ledger: Ledger, run_id: str, after: Cursor) -> AsyncIterator[list[Told]]:
    """Give all that comes after a place, in batches; the last batch holds the run's end.

    A batch is empty where nothing came for QUIET seconds. A viewer who comes back with the
    cursor it had last gets exactly what it missed: text that has become a response
    meanwhile comes as that response. Raises `ledger_unreachable` once the ledger has been
    silent for PATIENCE seconds.
    """
    run, version, cursor = Run(), 0, after
    heard = given = time.monotonic()
    while True:
        try:
            stored = await read_stream(ledger, run_stream(run_id), version)
            for one in stored:
                run = evolve(run, one.fact)
            version += len(stored)
            asked = _open(run)
            pieces = await _pieces(ledger, run_id, asked, cursor)
            heard = time.monotonic()
        except UNREACHABLE as exc:
            if time.monotonic() - heard > PATIENCE:
                raise ledger_gone(exc) from None
            stored, pieces, asked = list[Stored](), (), None
        told = _told(stored, pieces, cursor)
        if told or time.monotonic() - given > QUIET:
            cursor = told[-1].cursor if told else cursor
            given = time.monotonic()
            yield told
        if run.ended is not None:
            return
        await asyncio.sleep(LOOK if asked is None else LOOK_AT_TEXT)


def ledger_gone(exc: BaseException) -> LegatoError:
    """Say that the ledger stopped answering."""
    return LegatoError(
        "ledger_unreachable",
        "the ledger's database stopped answering",
        cause=type(exc).__name__,
        next="run `legato up`; runs that were accepted go on once the ledger is back",
    )


def told_json(told: Told) -> dict[str, object]:
    """Give an event or some text for programs, with the cursor to go on from."""
    what = told.what
    if isinstance(what, Recorded):
        return {**event_json(what), "cursor": str(told.cursor)}
    at = what.request
    return {
        "type": "text",
        "turn": at.turn,
        "step": at.step,
        "request": at.n,
        "seq": what.seq,
        "text": what.text,
        "gap": told.gap,
        "cursor": str(told.cursor),
    }


def event_json(event: Recorded) -> dict[str, object]:
    """Give one event for programs: where it stands, who caused it, and its body."""
    return {
        "version": event.version,
        "event_id": event.event_id,
        "type": event.fact.type,
        "recorded_at": stamp(event.at),
        "actor": event.actor,
        "body": decode_object(encode(event.fact)),
    }


def _open(run: Run) -> Request | None:
    step = run.step
    if run.ended is not None or step is None or step.open is None:
        return None
    return Request(step.open.turn, step.open.step, step.open.n)


async def _pieces(
    ledger: Ledger, run_id: str, asked: Request | None, cursor: Cursor
) -> Sequence[Piece]:
    """Read what there is of an open request; of a recorded one there is no text to show."""
    if asked is None:
        return ()
    return await read_pieces(ledger, run_id, asked, cursor.seen_of(asked))


def _told(stored: Sequence[Stored], pieces: Sequence[Piece], cursor: Cursor) -> list[Told]:
    fresh = [recorded(one) for one in stored if one.version > cursor.version]
    told = [Told(Cursor(event.version), event) for event in fresh]
    version = fresh[-1].version if fresh else cursor.version
    for piece in pieces:
        seen = told[-1].cursor if told else cursor
        gap = piece.seq != seen.seen_of(piece.request) + 1
        told.append(Told(Cursor(version, piece.request, piece.seq), piece, gap))
    return told
