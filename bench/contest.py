"""Contenders measured in interleaved rounds: short slices in changing order, ratios by round."""

from __future__ import annotations

import asyncio
import gc
import os
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import random

Slice: TypeAlias = Callable[[int, float], Awaitable[float]]
"""Works with so many writers for so many seconds; gives what was done a second."""

Rounds: TypeAlias = Mapping[str, Sequence[float]]
"""What each contender did a second, round by round."""

WARM = 0.15
"""Seconds of a first slice that is not counted: plans, caches and connections are there after."""


@dataclass(frozen=True)
class Figure:
    """One line of the bench.

    `ratio` is the median over the rounds of its rate divided by that of the raw insert of
    the same round, None where there is nothing to divide by; `least` and `most` are its noise.
    """

    figure: str
    writers: int
    value: float
    unit: str
    ratio: float | None = None
    least: float | None = None
    most: float | None = None

    def line(self) -> dict[str, str | int | float | None]:
        """Give the fields of its JSON line."""
        return {
            "figure": self.figure,
            "writers": self.writers,
            "value": round(self.value, 2),
            "unit": self.unit,
            "ratio": _rounded(self.ratio),
        }

    def told(self) -> dict[str, str | int | float | None]:
        """Give its line with its noise; `load` is the machine's, now."""
        return {
            **self.line(),
            "least": _rounded(self.least),
            "most": _rounded(self.most),
            "load": round(os.getloadavg()[0], 1),
        }


@dataclass(frozen=True)
class Length:
    """How long is measured: so many rounds, of slices of so many seconds."""

    rounds: int
    seconds: float


async def contest(
    slices: Mapping[str, Slice], writers: int, length: Length, order: random.Random
) -> Rounds:
    """Measure all contenders in every round, each once, in an order drawn anew."""
    for each in slices.values():
        await each(writers, min(WARM, length.seconds))
    done: dict[str, list[float]] = {name: [] for name in slices}
    for _ in range(length.rounds):
        for name in order.sample(list(slices), k=len(slices)):
            gc.collect()
            done[name].append(await slices[name](writers, length.seconds))
    return done


async def race(steps: Sequence[Callable[[], Awaitable[int]]], seconds: float) -> float:
    """Let each writer repeat its step until the time is over; gives what they did a second."""
    began = time.perf_counter()
    until = began + seconds

    async def repeat(step: Callable[[], Awaitable[int]]) -> int:
        count = 0
        while time.perf_counter() < until:
            count += await step()
        return count

    counts = await asyncio.gather(*(repeat(step) for step in steps))
    return sum(counts) / (time.perf_counter() - began)


def rate(figure: str, writers: int, rounds: Rounds, over: str) -> Figure:
    """Sum a contender up: its median rate, and its ratio to another's."""
    ratios = by_round(rounds, figure, over)
    return Figure(
        figure,
        writers,
        statistics.median(rounds[figure]),
        "events/s",
        *(statistics.median(ratios), min(ratios), max(ratios)),
    )


def by_round(rounds: Rounds, one: str, over: str) -> list[float]:
    """Divide one contender's rate by another's, round by round."""
    return [a / b for a, b in zip(rounds[one], rounds[over], strict=True) if b]


def compared(figure: str, writers: int, rounds: Rounds, one: str, over: str) -> Figure:
    """Tell how many times another's rate one contender's is; the ratio is the value."""
    ratios = by_round(rounds, one, over)
    median = statistics.median(ratios)
    return Figure(figure, writers, median, f"times {over}", None, min(ratios), max(ratios))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
