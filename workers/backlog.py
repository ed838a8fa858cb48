"""Which ended runs nobody has compared yet: found once in the feed, kept until somebody has."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from ledger.feed import read_feed_head, read_mark, write_mark
from ledger.watch import RECONCILER, ended_between, states_of

if TYPE_CHECKING:
    from datetime import timedelta

    from ledger.connect import Ledger

WINDOW = 20_000
"""Numbers of the feed that are looked at by one statement."""

LOOKING = 1.0
"""Seconds of one pass in which the feed is looked at; the rest of it comes in the next."""


@dataclass
class Backlog:
    """What one process knows.

    It has looked at the feed of `epoch` up to number `at`. `runs` holds the runs that are not
    compared, with the number of their end; those that were given last stand last, so that
    what cannot be compared now keeps no other waiting. `mark` is the number below which the
    ledger knows all to be compared: another process begins there.
    """

    epoch: int = -1
    at: int = 0
    mark: int = 0
    runs: dict[str, int] = field(default_factory=dict[str, int])


async def next_ended(ledger: Ledger, backlog: Backlog, grace: timedelta, most: int) -> list[str]:
    """Give runs that ended a time ago and are not compared, at most so many.

    What a pass reads grows with what has ended since the last one, not with all there is;
    every run is given again, in turn, until it is compared.
    """
    await _look_on(ledger, backlog)
    picked = list(islice(backlog.runs, most))
    states = await states_of(ledger, picked, grace)
    for run_id in picked:
        number = backlog.runs.pop(run_id)
        if states.get(run_id) != "compared":
            backlog.runs[run_id] = number
    mark = min(backlog.runs.values(), default=backlog.at + 1) - 1
    if mark > backlog.mark:
        await write_mark(ledger, RECONCILER, mark)
        backlog.mark = mark
    return [run_id for run_id in picked if states.get(run_id) == "due"]


async def _look_on(ledger: Ledger, backlog: Backlog) -> None:
    """Find what has ended since; a feed that was put back is looked at anew."""
    head = await read_feed_head(ledger)
    if head.epoch != backlog.epoch or head.global_seq < backlog.at:
        backlog.mark = await read_mark(ledger, RECONCILER)
        backlog.epoch, backlog.at = head.epoch, min(backlog.mark, head.global_seq)
        backlog.runs.clear()
    end = time.monotonic() + LOOKING
    while backlog.at < head.global_seq and time.monotonic() < end:
        until = min(backlog.at + WINDOW, head.global_seq)
        backlog.runs.update(await ended_between(ledger, backlog.at, until))
        backlog.at = until
