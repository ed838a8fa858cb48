"""Working time: the time in which executions of a run are known to have lived, never a wait."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from domain.events import ModelRequested

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.events import Fact
    from domain.runs.recorded import Recorded

MOST_GAPS = 64
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_DAY, _SECOND = 86_400, 1_000_000

Gap: TypeAlias = tuple[int, int]


class Work(NamedTuple):
    """How long a run has worked so far, in microseconds.

    `at` is the last event's time, in microseconds since 1970; `gaps` are the stretches between
    events that no execution has vouched for yet, the oldest first. What nobody vouches for is
    not work: a wait, a queue, or a time in which no worker lived.
    """

    micros: int = 0
    at: int | None = None
    gaps: tuple[Gap, ...] = ()

    @property
    def seconds(self) -> float:
        """Give it in seconds."""
        return self.micros / 1e6


def vouch(work: Work, at: datetime, worked: float) -> Work:
    """Take in an event of an execution that had lived for `worked` seconds at its recording.

    All since then is work that was not counted before, whoever recorded what in between.
    """
    since = at - _BEGINNING
    now = (since.days * _DAY + since.seconds) * _SECOND + since.microseconds
    micros, last, gaps = work
    if last is None:
        return Work(0, now)
    if now > last:
        joins = bool(gaps) and gaps[-1][1] == last
        gaps = (*gaps[:-1], (gaps[-1][0], now)) if joins else (*gaps, (last, now))
        last = now
    begun = now - int(worked * _SECOND) if worked > 0 else now
    if not gaps or gaps[-1][1] <= begun:
        return Work(micros, last, gaps[-MOST_GAPS:])
    left: list[Gap] = []
    for first, until in gaps:
        if until <= begun:
            left.append((first, until))
            continue
        micros += until - max(first, begun)
        if first < begun:
            left.append((first, begun))
    return Work(micros, last, tuple(left[-MOST_GAPS:]))


def tell(work: Work, fact: Fact, at: datetime, worked: float) -> Work:
    """Take in one event of a run's stream; events are told in order, once each."""
    n = fact.n if isinstance(fact, ModelRequested) else 0
    work = vouch(work, at, worked)
    return work._replace(gaps=()) if begins_anew(fact.type, n) else work


def begins_anew(type_name: str, n: int) -> bool:
    """Tell whether no execution reaches back behind an event; `n` is a model request's number.

    None does behind the end of a wait, or behind the beginning of a step.
    """
    return type_name == "run.resumed" or (type_name == "model.requested" and n == 1)


def work_of(events: Iterable[Recorded]) -> Work:
    """Fold the working time of a run from its events."""
    work = Work()
    for event in events:
        work = tell(work, event.fact, event.at, event.worked)
    return work
