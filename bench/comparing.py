"""Engines beside one another: by turns in rounds, and each of ours over another's as a ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.engines import NAMES
from bench.measured import line, ratio_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from bench.engines import Measure
    from bench.measured import Measured, Value

LEGATO, BARE = NAMES[:2]
PEERS = NAMES[2:]
HELD, CROWD = 50, 20
"""Turns, and conversations at once, at which limits are held."""


def limit(turns: int, runs: int, over: str) -> float | None:
    """Tell how many times another engine's turn ours may take at most, None where not held."""
    if over == BARE:
        return {(HELD, 1): 1.3}.get((turns, runs), 1.5 if runs == CROWD else None)
    return 0.5 if (turns, runs) == (HELD, 1) else None


async def compare(
    measures: Mapping[str, Measure],
    size: tuple[int, int],
    rounds: int,
    out: Callable[[Mapping[str, Value]], None],
) -> bool:
    """Measure the engines by turns, so that what else the machine does meets all of them.

    `size` is how many turns and how many conversations at once. Ratios are taken over bare
    Temporal, and ours over the better of the peers. Tells whether all came to a number.
    """
    turns, runs = size
    done: list[Mapping[str, Measured]] = []
    for number in range(rounds):
        names = list(measures)[:: 1 if number % 2 == 0 else -1]
        this: dict[str, Measured] = {}
        for name in names:
            this[name] = await measures[name](turns, runs)
            out({**line(this[name]), "round": number + 1})
        done.append(this)
    for engine, over in _pairs(done):
        most = limit(turns, runs, over) if engine == LEGATO else None
        out({**ratio_line(done, engine, over, most), "turns": turns, "runs": runs})
    return not any(measured.error for this in done for measured in this.values())


def _pairs(rounds: list[Mapping[str, Measured]]) -> list[tuple[str, str]]:
    """Name what is divided by what."""
    names = list(rounds[0])
    pairs = [(name, BARE) for name in names if name != BARE and BARE in names]
    peers = [
        name for name in names if name in PEERS and not any(this[name].error for this in rounds)
    ]
    if peers and LEGATO in names:
        better = min(peers, key=lambda name: sum(this[name].ms_per_turn for this in rounds))
        pairs.append((LEGATO, better))
    return pairs
