"""Figures of the whole ledger: how much there is, and how far its readers are behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.connect import Ledger

_RUNS = "select status, count(*) as runs from projection.run group by status"
_STUCK = "select count(*) from projection.run where stuck is not null and ended_at is null"
_OPEN = """select i.kind, count(*) as open,
    extract(epoch from ledger.clock() - min(i.asked_at))::float8 as oldest
  from projection.input i join projection.run r using (run_id)
  where i.settled_at is null and i.asked_at is not null
    and (r.ended_at is null or i.kind = 'unknown_effect') group by i.kind"""
_MARKS = """select 'projections' as reader, global_seq from projection.checkpoint
  union all select case relay when 'reconciler' then relay else 'relay ' || relay end, global_seq
  from ledger.hand_over"""


@dataclass(frozen=True)
class Gauges:
    """One look at the installation.

    `runs` by status; `questions` that are open, by kind, each with the oldest's age in
    seconds; `feed` is its last number, `behind` how many numbers each reader has to go.
    """

    runs: Mapping[str, int]
    stuck: int
    questions: Mapping[str, tuple[int, float]]
    feed: int
    behind: Mapping[str, int]
    parked: int


async def read_gauges(ledger: Ledger) -> Gauges:
    """Look; every figure is as the projections have it, which `behind` qualifies."""
    pool = ledger.pool
    feed = int(await pool.fetchval("select global_seq from ledger.feed_head") or 0)
    return Gauges(
        runs={row["status"]: row["runs"] for row in await pool.fetch(_RUNS)},
        stuck=int(await pool.fetchval(_STUCK)),
        questions={
            row["kind"]: (row["open"], max(0.0, row["oldest"])) for row in await pool.fetch(_OPEN)
        },
        feed=feed,
        behind={
            row["reader"]: max(0, feed - row["global_seq"]) for row in await pool.fetch(_MARKS)
        },
        parked=int(await pool.fetchval("select count(*) from ledger.parked")),
    )
