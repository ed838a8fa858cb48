"""Working time: the time in which executions of a run are known to have lived, never a wait."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.events import Fact, ModelRequested, RunResumed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.runs.recorded import Recorded

MOST_GAPS = 64
_MICRO = timedelta(microseconds=1)


@dataclass(frozen=True)
class Work:
    """How long a run has worked so far.

    `at` is the last event's time; `gaps` are the stretches between events that no execution
    has vouched for yet, the oldest first. What nobody vouches for is not work: a wait, a
    queue, or a time in which no worker lived.
    """

    micros: int = 0
    at: datetime | None = None
    gaps: tuple[tuple[datetime, datetime], ...] = ()

    @property
    def seconds(self) -> float:
        """Give it in seconds."""
        return self.micros / 1e6


def vouch(work: Work, at: datetime, worked: float) -> Work:
    """Take in an event of an execution that had lived for `worked` seconds at its recording.

    All since then is work that was not counted before, whoever recorded what in between.
    """
    if work.at is None:
        return Work(at=at)
    gaps = (*work.gaps, (work.at, at)) if at > work.at else work.gaps
    begun = at - timedelta(seconds=max(0.0, worked))
    micros, left = work.micros, list[tuple[datetime, datetime]]()
    for since, until in gaps:
        if until <= begun:
            left.append((since, until))
            continue
        micros += (until - max(since, begun)) // _MICRO
        if since < begun:
            left.append((since, begun))
    return Work(micros, max(at, work.at), tuple(left[-MOST_GAPS:]))


def tell(work: Work, fact: Fact, at: datetime, worked: float) -> Work:
    """Take in one event of a run's stream; events are told in order, once each.

    No execution reaches back behind the end of a wait, or behind the beginning of a step.
    """
    work = vouch(work, at, worked)
    first = isinstance(fact, ModelRequested) and fact.n == 1
    return replace(work, gaps=()) if first or isinstance(fact, RunResumed) else work


def work_of(events: Iterable[Recorded]) -> Work:
    """Fold the working time of a run from its events."""
    work = Work()
    for event in events:
        work = tell(work, event.fact, event.at, event.worked)
    return work
