"""Whether a turn leaves as much history at the end of a long run as at its beginning."""

from __future__ import annotations

import asyncio
import json
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.cluster import chain_of
from bench.legato_turns import request_of, start
from domain.events import CallSettled, ModelResponded, TurnCompleted
from domain.ids import run_stream
from ledger.reads import read_stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from temporalio.api.history.v1 import HistoryEvent

    from bench.cluster import Cluster
    from bench.measured import Value
    from domain.events import Fact
    from ledger.reads import Stored
    from legato.door import Door

TURNS = 500
LONG = 5_000
LIMIT = 600.0
MOST_EVENTS = 12
MOST_KIB = 2.0
LEAST_RATIO, MOST_RATIO = 0.9, 1.1


@dataclass
class TurnSize:
    """What one turn left in the history, the start of its next link included."""

    events: int = 0
    size: int = 0


def turn_sizes(chain: Sequence[Sequence[HistoryEvent]]) -> list[TurnSize]:
    """Share a run's events out to its turns: each begins where its first step is scheduled."""
    sizes: dict[int, TurnSize] = {}
    turn = 0
    for event in (event for link in chain for event in link):
        scheduled = event.activity_task_scheduled_event_attributes
        name = scheduled.activity_type.name
        if name == "take_step":
            turn = json.loads(scheduled.input.payloads[0].data)["turn"]
        elif name:
            turn = 0
        if turn:
            each = sizes.setdefault(turn, TurnSize())
            each.events += 1
            each.size += event.ByteSize()
    return [size for _, size in sorted(sizes.items())]


async def measure(cluster: Cluster, door: Door, *counts: int) -> list[dict[str, Value]]:
    """Run one conversation of so many turns and give the figures of its history.

    Of several counts the greatest is run, and each has a line: of the history up to there.
    A run that is not done in LIMIT seconds is ended, and its line says how far it came.
    """
    run = await start(cluster, door, request_of(cluster, max(counts)))
    try:
        async with asyncio.timeout(LIMIT):
            await run.handle.result()
    except TimeoutError:
        await run.handle.terminate("the bench has waited long enough")
    chain = [link async for link in chain_of(cluster.client, run.handle)]
    sizes = turn_sizes(chain)
    stored = await read_stream(door.ledger, run_stream(run.run_id))
    return [_line(sizes[:count], stored, count) for count in sorted(counts)]


def _line(sizes: Sequence[TurnSize], stored: Sequence[Stored], turns: int) -> dict[str, Value]:
    """Sum up the turns up to one."""
    third = max(1, len(sizes) // 3)
    kib = sum(each.size for each in sizes) / len(sizes) / 1024
    ratio_kib = _ratio([each.size for each in sizes], third)
    ratio_events = _ratio([each.events for each in sizes], third)
    events = statistics.median(each.events for each in sizes)
    error = _wrong([one.fact for one in stored], turns)
    return {
        "figure": "history",
        "engine": "legato",
        "turns": turns,
        "milliseconds": _milliseconds(stored, turns),
        "events_per_turn": events,
        "events_per_turn_mean": round(sum(each.events for each in sizes) / len(sizes), 2),
        "kib_per_turn": round(kib, 3),
        "kib_per_turn_median": round(statistics.median(each.size for each in sizes) / 1024, 3),
        "last_to_first_third_events": ratio_events,
        "last_to_first_third_kib": ratio_kib,
        "limit": f"<= {MOST_EVENTS} events, {MOST_KIB:g} KiB, thirds {LEAST_RATIO} to {MOST_RATIO}",
        "holds": events <= MOST_EVENTS
        and kib <= MOST_KIB
        and all(LEAST_RATIO <= ratio <= MOST_RATIO for ratio in (ratio_kib, ratio_events))
        and error is None,
        "error": error,
    }


def _ratio(each: Sequence[int], third: int) -> float:
    return round(sum(each[-third:]) / sum(each[:third]), 3)


def _milliseconds(stored: Sequence[Stored], turns: int) -> int | None:
    """Tell how long a turn took, from the run's first event to the end of turn `turns`."""
    ends = [one.recorded_at for one in stored if isinstance(one.fact, TurnCompleted)]
    if len(ends) < turns:
        return None
    return round((ends[turns - 1] - stored[0].recorded_at).total_seconds() / turns * 1000)


def _wrong(facts: Sequence[Fact], turns: int) -> str | None:
    """Say what the ledger lacks or has twice, None where it holds each turn up to one once."""
    done = [f.turn for f in facts if isinstance(f, TurnCompleted) and f.turn <= turns]
    answers = sum(isinstance(f, ModelResponded) and f.turn <= turns for f in facts)
    calls = sum(isinstance(f, CallSettled) and f.turn <= turns for f in facts)
    if done != list(range(1, turns + 1)):
        return f"{len(done)} turns are recorded, not each of {turns} once"
    if (answers, calls) != (2 * turns, turns):
        return f"{answers} answers and {calls} results are recorded"
    return None
