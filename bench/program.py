"""What the bench is asked on its command line, and the order in which it does it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench import database_crash, history, lost_worker, memory, replaying, start, stop
from bench.cluster import cluster
from bench.engines import NAMES, opened
from bench.measured import line, ratio_line, tell
from bench.table import Table
from domain.errors import LegatoError
from legato.leave import leave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.cluster import Cluster
    from bench.engines import Measure
    from bench.measured import Measured, Value

LEGATO, BARE = NAMES[:2]
ONE = {
    "replay": replaying.measure,
    "lost-worker": lost_worker.measure,
    "database-crash": database_crash.measure,
    "memory": memory.measure,
}
"""Figures of one line, each of a stack with a worker."""

FIGURES = ("turn", "history", "start", "stop", *ONE, "all")
FAILED, REFUSED = 1, 2
TURNS = 50
TABLE_TURNS, TABLE_ROUNDS = 30, 5
SIZES = (1, 10, 50, 100)
"""Turns of the conversations that all engines are measured with."""

DESCRIPTION = """\
Times a conversation: a turn is a message, a model call that asks for one tool, its result and
a model call that answers, 2,000 characters each; the model answers at once. Starts a stack of
its own in a temporary home and stops it. Prints JSON lines.

legato: one run of TURNS messages.  bare: a plain Temporal workflow with two activities a turn
that record nothing.  pydantic-ai, openai-agents: the peers, installed into a cache folder.
"""


@dataclass(frozen=True)
class Asked:
    """The command line, read."""

    engines: tuple[str, ...]
    turns: int | None
    runs: int
    rounds: int | None
    figure: str


def read_arguments(words: list[str]) -> Asked:
    """Read the command line; argparse ends the program where it is wrong."""
    parser = argparse.ArgumentParser(
        prog="bench/turns.py",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--engine", default=LEGATO, help=f"one or more, by commas: {NAMES}")
    parser.add_argument("--turns", type=_count, help=f"turns of a conversation ({TURNS})")
    parser.add_argument("--runs", type=_count, default=1, help="conversations at once (1)")
    parser.add_argument(
        "--rounds", type=_count, help="measure the engines in turn so often, then their ratio (1)"
    )
    parser.add_argument(
        "--figure",
        choices=FIGURES,
        default=FIGURES[0],
        help="turn: the time of a turn; history: its size over 500 turns; start: from nothing "
        "running to the first step; stop: from a stop to quiet; replay: events a second; "
        "lost-worker: from its kill to the next attempt; database-crash: from its kill to the "
        "next append; memory: each of --runs waiting runs (40); all: one table of everything",
    )
    given = parser.parse_args(words)
    engines = tuple(str(given.engine).split(","))
    unknown = [name for name in engines if name not in NAMES]
    if unknown:
        parser.error(f"no engine {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return Asked(engines, given.turns, given.runs, given.rounds, given.figure)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        message = f"{text!r} is not a whole number of at least 1"
        raise argparse.ArgumentTypeError(message)
    return int(text)


CROWD = Asked((), 5, 20, 3, "turn")
"""Many conversations at once."""


async def run(asked: Asked) -> int:
    """Measure what was asked; the exit status tells whether all came to a number."""
    if asked.figure == "all":
        return await _everything(asked)
    if asked.figure == "start":
        return _told(await start.measure(asked.rounds or start.ROUNDS))
    async with AsyncExitStack() as until:
        engines = asked.engines if asked.figure == "turn" else (LEGATO,)
        place = await until.enter_async_context(cluster(with_worker=LEGATO in engines))
        if asked.figure == "history":
            door = await until.enter_async_context(place.door())
            return _told(await history.measure(place, door, asked.turns or history.TURNS))
        if asked.figure == "stop":
            door = await until.enter_async_context(place.door())
            stops = await stop.measure(place, door, asked.rounds or stop.ROUNDS)
            return max(_told(each) for each in stops)
        if asked.figure in ONE:
            door = await until.enter_async_context(place.door())
            runs = asked.runs if asked.runs > 1 else memory.RUNS
            often = runs if asked.figure == "memory" else asked.rounds or stop.ROUNDS
            return _told(await ONE[asked.figure](place, door, often))
        measures = {name: await opened(name, place, until) for name in engines}
        return await _turns(asked, measures, tell)


async def _turns(
    asked: Asked, measures: Mapping[str, Measure], out: Callable[[Mapping[str, Value]], None]
) -> int:
    """Measure the engines by turns, so that what else the machine does meets all of them."""
    rounds: list[Mapping[str, Measured]] = []
    for number in range(asked.rounds or 1):
        names = list(measures)[:: 1 if number % 2 == 0 else -1]
        this: dict[str, Measured] = {}
        for name in names:
            this[name] = await measures[name](asked.turns or TURNS, asked.runs)
            out({**line(this[name]), "round": number + 1})
        rounds.append(this)
    if BARE in measures:
        for name in (name for name in measures if name != BARE):
            ratio = ratio_line(rounds, name, BARE)
            out({**ratio, "turns": asked.turns or TURNS, "runs": asked.runs})
    failed = any(measured.error for this in rounds for measured in this.values())
    return FAILED if failed else 0


async def _everything(asked: Asked) -> int:
    """Measure all figures and print one table; a rival that cannot be had is left out."""
    table = Table()
    turns = Asked((), asked.turns or TABLE_TURNS, asked.runs, asked.rounds or TABLE_ROUNDS, "turn")
    async with AsyncExitStack() as until:
        place = await until.enter_async_context(cluster(with_worker=True))
        measures = {name: await opened(name, place, until) for name in (LEGATO, BARE)}
        status = await _turns(turns, measures, table.take)
        await _turns(CROWD, measures, table.take)
        for name in NAMES[2:]:
            await _rival(name, place, until, measures, table)
        await _sizes(measures, table)
        door = await until.enter_async_context(place.door())
        table.take(await history.measure(place, door, history.TURNS))
        for each in await stop.measure(place, door, stop.ROUNDS):
            table.take(each)
        table.take(await memory.measure(place, door, memory.RUNS))
        table.take(await replaying.measure(place, door, stop.ROUNDS))
        table.take(await lost_worker.measure(place, door, stop.ROUNDS))
        table.take(await database_crash.measure(place, door, stop.ROUNDS))
    table.take(await start.measure(start.ROUNDS))
    print(table.text())
    return status


async def _rival(
    name: str, place: Cluster, until: AsyncExitStack, measures: dict[str, Measure], table: Table
) -> None:
    try:
        measures[name] = await opened(name, place, until)
    except LegatoError as exc:
        table.note(f"{name} was not measured: {exc.message}")


async def _sizes(measures: Mapping[str, Measure], table: Table) -> None:
    """Measure every engine at each length, one after the other, and the best peer beside ours."""
    for turns in SIZES:
        this = {name: await measure(turns, 1) for name, measure in measures.items()}
        for measured in this.values():
            table.take(line(measured))
        peers = [name for name in this if name in NAMES[2:] and not this[name].error]
        if peers:
            best = min(peers, key=lambda name: this[name].ms_per_turn)
            table.take({**ratio_line([this], LEGATO, best), "turns": turns, "runs": 1})


def _told(values: Mapping[str, Value]) -> int:
    tell(values)
    return FAILED if values["error"] else 0


async def _until_told_to_end(asked: Asked) -> int:
    """Run, and on SIGTERM or SIGINT stop the stack before ending."""
    task = asyncio.ensure_future(run(asked))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        return await task
    return 128 + signal.SIGINT


def main() -> None:
    """Run the bench."""
    asked = read_arguments(sys.argv[1:])
    try:
        status = asyncio.run(_until_told_to_end(asked))
    except LegatoError as exc:
        sys.stderr.write(f"{exc.code}: {exc.message}\n  cause: {exc.cause}\n  next: {exc.next}\n")
        status = REFUSED
    leave(status)
