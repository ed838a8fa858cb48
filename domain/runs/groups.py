"""Which calls of one response run together, and which one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.runs.steps import CallRef

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Planned:
    """One call that is left: whether it only reads, and what it keeps others from touching."""

    ref: CallRef
    reads: bool
    resource: str


def call_groups(calls: Sequence[Planned]) -> tuple[tuple[CallRef, ...], ...]:
    """Group calls in the order they were written.

    Neighbouring reads are one group; neighbouring effectful calls are one group only while
    their resources all differ.
    """
    groups: list[list[Planned]] = []
    for call in calls:
        if groups and _joins(groups[-1], call):
            groups[-1].append(call)
        else:
            groups.append([call])
    return tuple(tuple(call.ref for call in group) for group in groups)


def _joins(group: Sequence[Planned], call: Planned) -> bool:
    if group[0].reads != call.reads:
        return False
    return call.reads or all(other.resource != call.resource for other in group)
