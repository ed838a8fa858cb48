"""The bench of the ledger runs here and prints lines that a program can read; no time is held."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from bench.contest import Figure, by_round, race, rate
from bench.ledger_table import held, text
from tests.architecture.tree import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS = {"figure", "writers", "value", "unit", "ratio"}


def lines_of(*words: str) -> list[Mapping[str, object]]:
    """Run the bench by its path and read what it prints."""
    ran = subprocess.run(
        [sys.executable, "bench/ledger.py", "--json", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_the_smallest_run_prints_a_line_a_figure() -> None:
    """It starts a Postgres of its own and stops it."""
    lines = lines_of(
        *("--figure", "append,batch,chain_off,sequencer_on,visible,rebuild,verify"),
        *("--writers", "1,2", "--rounds", "1", "--seconds", "0.05"),
        *("--samples", "2", "--events", "100"),
    )

    found = {(line["figure"], line["writers"]) for line in lines}
    written = {"raw", "append", "batch", "chain_off", "sequencer_on"}
    read = {("visible_p50", 1), ("visible_p99", 1), ("rebuild", 1), ("verify", 1)}
    names = written | {"chain_on_to_off"}
    assert found == {(name, writers) for name in names for writers in (1, 2)} | read
    for line in lines:
        assert set(line) == FIELDS
        assert isinstance(line["value"], float)
        assert line["value"] > 0
        assert (line["ratio"] is None) == (line["figure"] not in written)


def test_a_figure_that_is_not_there_is_refused_by_name() -> None:
    ran = subprocess.run(
        [sys.executable, "bench/ledger.py", "--figure", "speed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert ran.returncode == 2
    assert "no figure speed" in ran.stderr


def test_a_ratio_is_the_median_of_those_of_each_round() -> None:
    """A round in which the machine was slow for both does not move it."""
    rounds = {"raw": [1000.0, 100.0, 1000.0], "append": [700.0, 60.0, 650.0]}

    figure = rate("append", 8, rounds, "raw")

    assert by_round(rounds, "append", "raw") == [0.7, 0.6, 0.65]
    assert (figure.value, figure.ratio, figure.least, figure.most) == (650.0, 0.65, 0.6, 0.7)


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (Figure("append", 8, 700.0, "events/s", 0.7), ">= 0.6 holds"),
        (Figure("append", 8, 500.0, "events/s", 0.5), ">= 0.6 MISSED"),
        (Figure("append", 1, 500.0, "events/s", 0.5), ""),
        (Figure("chain_on_to_off", 32, 0.7, "times chain_off"), ">= 0.75 MISSED"),
    ],
)
def test_the_table_says_which_limit_is_missed(figure: Figure, said: str) -> None:
    assert held(figure) == said
    assert f"{figure.writers} " in text([figure])


async def test_writers_are_counted_until_the_time_is_over() -> None:
    """Each repeats its step; what they did is one rate."""
    done: list[int] = []

    async def step() -> int:
        await asyncio.sleep(0)
        done.append(1)
        return 1

    assert await race([step, step], 0.01) > 0
    assert len(done) >= 2
