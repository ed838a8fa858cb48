"""All figures of the product, one after the other, in one table."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from bench import (
    database_crash,
    history,
    ledger_program,
    lost_worker,
    memory,
    replaying,
    start,
    stop,
)
from bench.cluster import cluster, progress
from bench.comparing import BARE, CROWD, HELD, LEGATO, PEERS, compare
from bench.engines import opened
from bench.ledger_table import rows_of
from bench.table import Table
from domain.errors import LegatoError

if TYPE_CHECKING:
    from bench.cluster import Cluster
    from bench.contest import Figure
    from bench.engines import Measure

ROUNDS = 3
SIZES = (1, 10, 100)
"""Turns of the conversations that all engines are measured with once; with HELD in rounds."""

CROWD_TURNS = 5
FEW = 2
"""Rounds of what takes long and varies little: losses, and starts from nothing."""


async def everything() -> Table:
    """Measure all figures; a rival that cannot be had is left out, and the table says so."""
    table = Table()
    async with AsyncExitStack() as until:
        place = await until.enter_async_context(cluster(with_worker=True))
        measures = {name: await opened(name, place, until) for name in (LEGATO, BARE)}
        await compare(measures, (CROWD_TURNS, CROWD), ROUNDS, table.take)
        for name in PEERS:
            await _rival(name, place, until, measures, table)
        await compare(measures, (HELD, 1), ROUNDS, table.take)
        for turns in SIZES:
            await compare(measures, (turns, 1), 1, table.take)
        await _one_engine(place, until, table)
    progress("from nothing to the first step")
    table.take(await start.measure(FEW))
    await _ledger(table)
    return table


async def _rival(
    name: str, place: Cluster, until: AsyncExitStack, measures: dict[str, Measure], table: Table
) -> None:
    try:
        measures[name] = await opened(name, place, until)
    except LegatoError as exc:
        table.note(f"{name} was not measured: {exc.message}")


async def _one_engine(place: Cluster, until: AsyncExitStack, table: Table) -> None:
    """Measure what the others have nothing to compare with."""
    door = await until.enter_async_context(place.door())
    for each in await stop.measure(place, door, stop.ROUNDS):
        table.take(each)
    table.take(await memory.measure(place, door, memory.RUNS))
    table.take(await replaying.measure(place, door, stop.ROUNDS))
    progress(f"a conversation of {history.LONG} turns")
    for each in await history.measure(place, door, history.TURNS, history.LONG):
        table.take(each)
    table.take(await lost_worker.measure(place, door, FEW))
    table.take(await database_crash.measure(place, door, FEW))


async def _ledger(table: Table) -> None:
    """Measure the ledger on a Postgres of its own."""
    figures: list[Figure] = []
    try:
        await ledger_program.run(ledger_program.read_arguments([]), figures.append)
    except LegatoError as exc:
        table.note(f"of the ledger not all was measured: {exc.message}")
    table.add(rows_of(figures))
