"""A time in seconds as a command line writes it."""

from __future__ import annotations

import math

import click

from domain.runs.budget import MOST


class Seconds(click.FloatRange):
    """A number from 0 to `MOST`. NaN is none, though it is in every range by comparison."""

    def __init__(self) -> None:
        super().__init__(0, MOST)

    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it; raises click's BadParameter."""
        seconds: float = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is no number of seconds", param, ctx)
        return seconds
