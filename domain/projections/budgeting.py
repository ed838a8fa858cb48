"""What a run's events do to the figures of its budget: its limits, and how long it has worked."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import orjson

from domain.codec import canonical
from domain.runs.budget import Budget, Limits, Spent, raised
from domain.runs.budget_view import limit_views
from domain.runs.conversation import Usage
from domain.runs.working import Work, begins_anew, vouch

if TYPE_CHECKING:
    from domain.projections.rows import RunRow
    from domain.projections.tables import Sequenced, Tables
    from domain.runs.budget_view import LimitView

_NO_GAPS = "[]"


def budget_raised(_tables: Tables, run: RunRow, event: Sequenced) -> None:
    """Add to what it may spend."""
    more = raised(_budget(run.budget), Limits.model_validate(event.body["added"]))
    run.budget = canonical(more.model_dump(mode="json")).decode()


def worked(run: RunRow, event: Sequenced) -> None:
    """Take in for how long the execution had lived that recorded an event."""
    gaps = () if run.work_gaps == _NO_GAPS else tuple(orjson.loads(run.work_gaps))
    work = vouch(Work(run.worked, run.work_at, gaps), event.at, event.worked)
    run.worked, run.work_at = work.micros, work.at
    left = () if begins_anew(event.type, event.body.get("n", 0)) else work.gaps
    run.work_gaps = orjson.dumps(left).decode() if left else _NO_GAPS


def budget_of(run: RunRow) -> tuple[LimitView, ...]:
    """Give what it has spent, reserved and left of each limit."""
    spent = Spent(
        steps=run.steps,
        calls=run.calls,
        tokens=run.tokens,
        cost=format(run.cost, "f"),
        cost_unknown=run.cost_unknown,
        tokens_unknown=run.tokens_unknown,
    )
    reserved = Usage(
        input_tokens=run.reserved_tokens,
        output_tokens=0,
        cost=None if run.reserved_unpriced else format(run.reserved_cost, "f"),
    )
    return limit_views(_budget(run.budget), spent, reserved, seconds(run))


@lru_cache(maxsize=256)
def _budget(text: str) -> Budget:
    """Read a budget; most runs have one that others have too."""
    return Budget.model_validate(orjson.loads(text))


def seconds(run: RunRow) -> float:
    """Give its working time."""
    return run.worked / 1e6
