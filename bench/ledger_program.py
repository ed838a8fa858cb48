"""What the bench of the ledger is asked on its command line, and the order in which it does it."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg

from bench import eventsourcing, readers
from bench.cluster import progress
from bench.contest import Figure, Length, compared, contest, rate
from bench.ledger_table import text
from bench.postgres import as_owner, beside, postgres
from bench.writers import FACT_BYTES, RAW_TABLE, UNCHAIN, Writers
from domain.errors import LegatoError
from ledger.connect import close_ledger, open_ledger
from legato.leave import leave

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.contest import Rounds, Slice
    from ledger.connect import Ledger

    Out = Callable[[Figure], None]

RAW = "raw"
WRITTEN = ("append", "batch", eventsourcing.NAME, "chain_off", "sequencer_on")
READ = ("visible", "rebuild", "verify")
FIGURES = (*WRITTEN, *READ)
BESIDE = ("unchained", "sequenced", "past")
"""Ledgers of their own on the same server."""

WRITERS = (1, 8, 32)
ROUNDS, SECONDS = 7, 0.6
REFUSED = 2
DESCRIPTION = """\
Measures the ledger on a Postgres of its own in a temporary home, fsync on, and stops it.

raw: a bare INSERT of the same bytes into a table with the same columns and primary key, no
head, no chain, no other index, each writer on a connection of its own.  append: one event an
append.  batch: three events an append, events for events.  chain_off: append on a ledger whose
chain is taken out.  sequencer_on: append while the passes that number the feed run beside it.
pyeventsourcing: its default recorder for Postgres, installed into a cache folder.

visible: from an append's return to a follower of the feed that sees it, idle.  rebuild: events a
second of `legato ledger rebuild`.  verify: events a second of `legato ledger verify`.
"""


@dataclass(frozen=True)
class Asked:
    """The command line, read."""

    figures: Sequence[str]
    writers: Sequence[int]
    length: Length
    seed: int
    samples: int
    events: int
    as_json: bool


def read_arguments(words: list[str]) -> Asked:
    """Read the command line; argparse ends the program where it is wrong."""
    parser = argparse.ArgumentParser(
        prog="bench/ledger.py",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = ",".join(FIGURES)
    parser.add_argument("--figure", default=names, help=f"one or more, by commas: {names}")
    parser.add_argument("--writers", default="1,8,32", help="how many at once, by commas (1,8,32)")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"interleaved rounds ({ROUNDS})")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, help=f"of a slice of one round ({SECONDS})"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the order within rounds (1)")
    parser.add_argument(
        "--samples", type=int, default=readers.SAMPLES, help=f"for visible ({readers.SAMPLES})"
    )
    parser.add_argument(
        "--events", type=int, default=readers.EVENTS, help=f"to read ({readers.EVENTS})"
    )
    parser.add_argument("--json", action="store_true", help="print JSON lines, not a table")
    given = parser.parse_args(words)
    figures = tuple(str(given.figure).split(","))
    unknown = [name for name in figures if name not in FIGURES]
    if unknown:
        parser.error(f"no figure {', '.join(unknown)}; there are {', '.join(FIGURES)}")
    counts = str(given.writers).split(",")
    if (
        not all(word.isdecimal() and int(word) for word in counts)
        or min(given.rounds, given.events, given.samples - 1) < 1
    ):
        parser.error(
            "writers, rounds and events are whole numbers of at least 1, samples of at least 2"
        )
    length = Length(given.rounds, given.seconds)
    return Asked(
        figures,
        tuple(map(int, counts)),
        length,
        given.seed,
        given.samples,
        given.events,
        given.json,
    )


async def run(asked: Asked, out: Out) -> None:
    """Measure what was asked.

    Raises:
        LegatoError: `rival_not_installed`, once all others are measured.

    """
    missing: LegatoError | None = None
    async with AsyncExitStack() as until:
        progress("starting Postgres")
        url = await until.enter_async_context(postgres())
        urls = {name: await beside(url, name) for name in BESIDE}
        if any(name in asked.figures for name in WRITTEN):
            missing = await _writing(asked, url, urls, until, out)
        if any(name in asked.figures for name in READ):
            progress("a past, and who reads it")
            past = await _opened(urls["past"], asked, until)
            if "visible" in asked.figures:
                for figure in await readers.visible(past, urls["past"], asked.samples):
                    out(figure)
            if {"rebuild", "verify"} & set(asked.figures):
                for figure in await readers.read(past, asked.figures, asked.events):
                    out(figure)
    if missing is not None:
        raise missing


async def _opened(url: str, asked: Asked, until: AsyncExitStack) -> Ledger:
    ledger = await open_ledger(url, most=max(10, *asked.writers))
    until.push_async_callback(close_ledger, ledger)
    return ledger


async def _writing(
    asked: Asked, url: str, others: Mapping[str, str], until: AsyncExitStack, out: Out
) -> LegatoError | None:
    """Measure those who write; a rival that cannot be had is left out, and is what this gives."""
    ledger = await _opened(url, asked, until)
    unchained, sequenced = [await _opened(others[name], asked, until) for name in BESIDE[:2]]
    await as_owner(url, RAW_TABLE)
    await as_owner(others["unchained"], UNCHAIN)
    held = [await asyncpg.connect(url) for _ in range(max(asked.writers))]
    for connection in held:
        until.push_async_callback(connection.close)
    slices: dict[str, Slice] = {
        name: each
        for name, each in Writers(ledger, unchained, sequenced, held).slices().items()
        if name == RAW or name in asked.figures
    }
    missing: LegatoError | None = None
    if eventsourcing.NAME in asked.figures:
        try:
            rival = await until.enter_async_context(eventsourcing.eventsourcing(url, FACT_BYTES))
            slices[eventsourcing.NAME] = rival
        except LegatoError as exc:
            missing = exc
    order = random.Random(asked.seed)  # noqa: S311 - an order, no secret
    for writers in asked.writers:
        progress(f"{writers} writers")
        for figure in _figures(await contest(slices, writers, asked.length, order), writers):
            out(figure)
    return missing


def _figures(rounds: Rounds, writers: int) -> list[Figure]:
    """Sum up, with the ratios that the product is held to."""
    figures = [rate(name, writers, rounds, RAW) for name in rounds]
    held = {"chain_on_to_off": "chain_off", "append_to_rival": eventsourcing.NAME}
    figures += [
        compared(name, writers, rounds, "append", over)
        for name, over in held.items()
        if over in rounds and "append" in rounds
    ]
    return figures


async def _until_told_to_end(asked: Asked, out: Out) -> int:
    """Run, and on SIGTERM or SIGINT stop the server before ending."""
    task = asyncio.ensure_future(run(asked, out))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
        return 0
    return 128 + signal.SIGINT


def main() -> None:
    """Run the bench."""
    asked = read_arguments(sys.argv[1:])
    figures: list[Figure] = []

    def out(figure: Figure) -> None:
        figures.append(figure)
        if asked.as_json:
            print(json.dumps(figure.line()), flush=True)
        else:
            progress(json.dumps(figure.told()))

    try:
        status = asyncio.run(_until_told_to_end(asked, out))
    except LegatoError as exc:
        sys.stderr.write(f"{exc.code}: {exc.message}\n  cause: {exc.cause}\n  next: {exc.next}\n")
        status = REFUSED
    if figures and not asked.as_json:
        print(text(figures))
    leave(status)
