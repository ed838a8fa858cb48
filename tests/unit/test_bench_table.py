"""The bench's table says of each limit whether it holds, and names every one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.comparing import compare
from bench.contest import Figure
from bench.ledger_table import rows_of
from bench.measured import Measured, rounds_line
from bench.table import Table

if TYPE_CHECKING:
    from bench.engines import Measure
    from bench.measured import Value

TURN = {"legato": 0.12, "bare": 0.1, "pydantic-ai": 0.3, "openai-agents": 0.2}
"""Seconds of a turn."""


def engine(name: str, error: str | None = None) -> Measure:
    """Stand in for an engine whose turns take the same time always."""

    async def measure(turns: int, runs: int) -> Measured:
        return Measured(name, turns, runs, TURN[name] * turns, error=error)

    return measure


async def ratios(turns: int, runs: int, failing: str = "") -> list[dict[str, Value]]:
    """Compare all engines and give the lines of ratios."""
    told: list[dict[str, Value]] = []
    engines = {name: engine(name, "died" if name == failing else None) for name in TURN}
    await compare(engines, (turns, runs), 3, lambda line: told.append(dict(line)))
    return [line for line in told if line.get("figure") == "ratio"]


async def test_ours_is_held_beside_bare_temporal_and_the_better_peer() -> None:
    lines = await ratios(50, 1)

    held = [(e["over"], e["median"], e["limit"], e["holds"]) for e in lines if "limit" in e]
    assert held == [("bare", 1.2, "<= 1.3", True), ("openai-agents", 0.6, "<= 0.5", False)]


@pytest.mark.parametrize(("turns", "runs", "limit"), [(5, 20, "<= 1.5"), (1, 1, None)])
async def test_a_crowd_has_a_limit_of_its_own_and_other_lengths_none(
    turns: int, runs: int, limit: str | None
) -> None:
    over_bare = next(e for e in await ratios(turns, runs) if e["engine"] == "legato")

    assert over_bare.get("limit") == limit


async def test_a_peer_that_died_is_compared_with_nothing() -> None:
    lines = await ratios(50, 1, failing="openai-agents")

    assert [e["over"] for e in lines if e["engine"] == "legato"] == ["bare", "pydantic-ai"]


def test_the_table_counts_the_gates_and_names_the_missed_ones() -> None:
    table = Table()
    table.take(rounds_line("lost worker", [10.0, 12.0], 11.5))
    table.take(rounds_line("database crash", [3.0, 4.0], 5.0))
    table.add(rows_of([Figure("batch", 8, 900.0, "events/s", 0.9, 0.8, 1.0)]))
    table.note("pydantic-ai was not measured")

    lines = table.text().splitlines()

    assert "1 of 3 gates hold" in lines
    assert "missed: legato, from a worker's kill to the next attempt" in lines
    assert "missed: ledger, batch, 8 writers" in lines
    assert "pydantic-ai was not measured" in lines
    assert any(line.endswith("<= 5 s holds") and "4.0 s at most" in line for line in lines)
