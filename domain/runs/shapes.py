"""The shapes of a run's items: what the workflow knows of them, in few bytes however many."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.runs.steps import ItemShape

MOST_NAMED = 100
"""Items of a run that are named to the people who watch Temporal; more are numbered only."""


def brief(shapes: Sequence[ItemShape]) -> tuple[ItemShape, ...]:
    """Where there are many, leave out their names and say equal neighbours once.

    A run carries its shapes along whenever it continues as new.
    """
    if len(shapes) <= MOST_NAMED:
        return tuple(shapes)
    groups = groupby(replace(shape, name="") for shape in shapes)
    return tuple(replace(shape, times=sum(1 for _ in group)) for shape, group in groups)


def count(items: Sequence[ItemShape]) -> int:
    """Tell how many items there are."""
    return sum(shape.times for shape in items)


def shape_at(items: Sequence[ItemShape], item: int) -> ItemShape:
    """Give the shape of an item, counting from 0; raises IndexError where there is none."""
    left = item
    for shape in items:
        if left < shape.times:
            return shape
        left -= shape.times
    message = f"there is no item {item}"
    raise IndexError(message)


def name_at(items: Sequence[ItemShape], item: int) -> str:
    """Name an item, counting from 0, for the people who watch."""
    return shape_at(items, item).name or f"item {item + 1}"
