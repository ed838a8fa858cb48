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
from bench.comparing import LEGATO, compare
from bench.engines import NAMES, opened
from bench.everything import everything
from bench.measured import tell
from domain.errors import LegatoError
from legato.leave import leave

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.measured import Value

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
        "next append; memory: each of --runs waiting runs (40); all: everything in one table",
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


async def run(asked: Asked) -> int:
    """Measure what was asked; the exit status tells whether all came to a number."""
    if asked.figure == "all":
        print((await everything()).text())
        return 0
    if asked.figure == "start":
        return _told(await start.measure(asked.rounds or start.ROUNDS))
    async with AsyncExitStack() as until:
        engines = asked.engines if asked.figure == "turn" else (LEGATO,)
        place = await until.enter_async_context(cluster(with_worker=LEGATO in engines))
        if asked.figure == "history":
            door = await until.enter_async_context(place.door())
            sizes = await history.measure(place, door, asked.turns or history.TURNS)
            return _told(sizes[0])
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
        size = (asked.turns or TURNS, asked.runs)
        return 0 if await compare(measures, size, asked.rounds or 1, tell) else FAILED


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
