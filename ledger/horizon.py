"""How far the feed is behind the ledger, and for how long something has been holding it back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ledger.connect import Ledger

_LAG = """select ledger.horizon_age() as age, coalesce((
    select extract(epoch from clock_timestamp() - e.recorded_at) from ledger.event e
    where (e.order_key, e.pos) > (
      (select order_key from ledger.feed_head), (select pos from ledger.feed_head))
    order by e.order_key, e.pos limit 1), 0)::double precision as behind"""


@dataclass(frozen=True)
class Lag:
    """Both in seconds.

    `horizon_age`: for how long the oldest writing transaction of the cluster has been open,
    in whatever database; what was appended since cannot get its number. `behind`: how long
    ago the oldest event without a number was appended. 0 where there is none.
    """

    horizon_age: float
    behind: float


async def read_lag(ledger: Ledger) -> Lag:
    """Read how far the feed is behind."""
    row = await ledger.pool.fetchrow(_LAG)
    return Lag(0.0, 0.0) if row is None else Lag(row["age"], max(0.0, row["behind"]))
