"""What one measurement is, and what is computed from several."""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

Value = str | int | float | None | Sequence[float] | Mapping[str, float]


@dataclass(frozen=True)
class Measured:
    """One measurement of one engine.

    `runs` conversations of `turns` turns each went on at once. `seconds` is from the start
    of the first to the end of the last; `events` and `kib` are of all histories together,
    the whole chain of each run. `error` says why a number cannot be trusted.
    """

    engine: str
    turns: int
    runs: int
    seconds: float
    events: int = 0
    kib: float = 0.0
    error: str | None = None
    more: Mapping[str, Value] = field(default_factory=dict[str, Value])

    @property
    def ms_per_turn(self) -> float:
        """How long a turn takes whoever waits for it, in milliseconds."""
        return self.seconds / self.turns * 1000


def line(measured: Measured) -> dict[str, Value]:
    """Give a measurement as the fields of its JSON line; `load` is the machine's, now."""
    turns = measured.turns * measured.runs
    return {
        "engine": measured.engine,
        "turns": measured.turns,
        "runs": measured.runs,
        "seconds": round(measured.seconds, 3),
        "ms_per_turn": round(measured.ms_per_turn, 1),
        "events": measured.events,
        "kib": round(measured.kib, 1),
        "error": measured.error,
        "turns_per_second": round(turns / measured.seconds, 2) if measured.seconds else 0.0,
        "events_per_turn": round(measured.events / turns, 2),
        "kib_per_turn": round(measured.kib / turns, 3),
        "load": round(os.getloadavg()[0], 2),
        **measured.more,
    }


def tell(values: Mapping[str, Value]) -> None:
    """Print one JSON line."""
    print(json.dumps(values), flush=True)


def ratios(rounds: Sequence[Mapping[str, Measured]], engine: str, over: str) -> list[float]:
    """Divide an engine's turn by another's, round by round, where both came to a number."""
    return [
        round(each[engine].ms_per_turn / each[over].ms_per_turn, 3)
        for each in rounds
        if not each[engine].error and not each[over].error
    ]


def ratio_line(
    rounds: Sequence[Mapping[str, Measured]], engine: str, over: str, most: float | None = None
) -> dict[str, Value]:
    """Sum interleaved rounds up: the median is the figure, least and most are its noise.

    `most` is a limit that the median is held to.
    """
    found = ratios(rounds, engine, over)
    median = round(statistics.median(found), 3) if found else None
    line: dict[str, Value] = {
        "figure": "ratio",
        "engine": engine,
        "over": over,
        "median": median,
        "least": min(found, default=0.0),
        "most": max(found, default=0.0),
        "rounds": found,
    }
    if most is None:
        return line
    return {**line, "limit": f"<= {most:g}", "holds": median is not None and median <= most}


def median_of(lines: Sequence[Mapping[str, Value]], name: str) -> float:
    """Give the median of one field over several lines."""
    values = [each[name] for each in lines]
    return statistics.median(one for one in values if isinstance(one, int | float))


def rounds_line(figure: str, taken: Sequence[float], limit: float) -> dict[str, Value]:
    """Sum up a figure in seconds that has a limit, which each round must keep."""
    return {
        "figure": figure,
        "engine": "legato",
        "median": round(statistics.median(taken), 2),
        "rounds": [round(seconds, 2) for seconds in taken],
        "limit": f"<= {limit:g} s",
        "holds": max(taken) <= limit,
        "load": round(os.getloadavg()[0], 1),
        "error": None,
    }
