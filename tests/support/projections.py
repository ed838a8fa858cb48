"""All rows of the projections, as they stand and as the streams give them anew."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import orjson

from domain.events import encode
from domain.projections.project import project
from domain.projections.tables import Sequenced, Tables
from ledger.projections.project import Projector, project_once
from ledger.projections.tables import TABLES
from ledger.reads import list_streams, read_stream

if TYPE_CHECKING:
    from ledger.connect import Ledger

_JSON = frozenset({"choices", "who", "reserved_before", "budget", "work_gaps"})

Rows = dict[str, dict[tuple[Any, ...], tuple[Any, ...]]]


async def project_to_the_end(ledger: Ledger, *, limit: int = 1000) -> None:
    """Move the rows on until they are at the feed's head, in batches of a size."""
    projector = Projector()
    while (taken := await project_once(ledger.pool, projector, limit=limit)) != 0:
        if taken is None:
            await asyncio.sleep(0.001)


async def all_rows(ledger: Ledger) -> Rows:
    """Read every table."""
    return {
        table.name: {
            tuple(row)[: table.keys]: _plain(table.columns, row)
            for row in await ledger.pool.fetch(
                f"select {table.selected('t')} from projection.{table.name} t"  # noqa: S608 - our own names
            )
        }
        for table in TABLES
    }


async def told_anew(ledger: Ledger) -> Rows:
    """Project every stream by itself, in memory, from what the ledger's own reader reads."""
    tables = Tables()
    for kind in ("run", "session", "incoming"):
        for stream in await list_streams(ledger, kind):
            name = stream.partition("/")[2]
            for one in await read_stream(ledger, stream):
                body = orjson.loads(encode(one.fact))
                event = Sequenced(
                    kind, name, one.version, one.fact.type, one.recorded_at, body, worked=one.worked
                )
                project(tables, event)
    every: dict[str, dict[Any, Any]] = {
        "run": tables.runs,
        "item": tables.items,
        "step": tables.steps,
        "call": tables.calls,
        "input": tables.inputs,
        "session": tables.sessions,
        "usage": tables.usage,
    }
    return {
        table.name: {
            table.values(row)[: table.keys]: _plain(table.columns, table.values(row))
            for row in every[table.name].values()
        }
        for table in TABLES
    }


def _plain(columns: tuple[str, ...], row: Any) -> tuple[Any, ...]:  # noqa: ANN401 - rows of any table
    """Give a row's columns, JSON as values."""
    return tuple(
        json.loads(value) if name in _JSON else value
        for name, value in zip(columns, row, strict=True)
    )
