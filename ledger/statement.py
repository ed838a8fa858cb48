"""The statements that append: a head moves and its events are there, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from ledger.encode import KEY_ID, Row

MOST = 6
"""Events that one statement takes: each link of the chain is computed once more for each after."""

_OWN_KEY = "ledger.own_key()"
_SHARED = 5
_EACH = ("text", "text", "smallint", "bytea", "bytea", "smallint", "bytea", "bytea", "bytea")
_STATEMENT = """
with h as (
  update ledger.stream s set
    version = s.version + {count},
    order_key = greatest(s.order_key, {own_key}),
    head_hash = {head_hash},
    closed_at = case when $4::boolean then statement_timestamp() else s.closed_at end
  where s.stream_id = $1
    and s.version = coalesce($2, s.version)
    and (s.closed_at is null or $3)
  returning old.version as base, old.head_hash as before, new.order_key, new.head_hash
)
insert into ledger.event (stream_id, version, event_id, order_key, type, schema_version,
    correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit, same_digest,
    hash)
  {selects}
returning version, hash, recorded_at
"""
_SELECT = """select $1, h.base + {n}, {id}, h.order_key, {type}, {schema}, $5,
    statement_timestamp(), {envelope}, {body}, {codec}, '{key_id}', {blobs}, {commit}, {same},
    {hash} from h"""
_LINK = """ledger.link({before}, $1, {version}, statement_timestamp(), {envelope}, {codec},
    '{key_id}', {blobs}, {commit}, {same})"""


@lru_cache(maxsize=MOST)
def statement(count: int) -> str:
    """Write the statement for so many events, 1 to MOST; it gives their versions and hashes.

    It gives no row where the head is not as expected, is closed, or is not there.
    """
    moved, selects = "s.head_hash", list[str]()
    link = "h.before"
    for n in range(1, count + 1):
        names = _names(n)
        moved = _LINK.format(before=moved, version=f"s.version + {n}", **names)
        link = _LINK.format(before=link, version=f"h.base + {n}", **names)
        selects.append(_SELECT.format(n=n, hash="h.head_hash" if n == count else link, **names))
    return _STATEMENT.format(
        count=count, own_key=_OWN_KEY, head_hash=moved, selects="\n  union all ".join(selects)
    )


def _names(n: int) -> dict[str, str]:
    first = _SHARED + (n - 1) * len(_EACH) + 1
    names = ("id", "type", "schema", "envelope", "body", "codec", "blobs", "commit", "same")
    values = {
        name: f"${first + k}::{kind}"
        for k, (name, kind) in enumerate(zip(names, _EACH, strict=True))
    }
    return {**values, "key_id": KEY_ID}


def values(
    stream: str, expected: int | None, rows: Sequence[Row], *, after_end: bool
) -> list[object]:
    """Give the values of `statement(len(rows))`."""
    given: list[object] = [
        *(stream, expected, after_end),
        *(any(row.closes for row in rows), rows[0].correlation),
    ]
    for row in rows:
        given += (
            *(row.event_id, row.type, row.schema_version, row.envelope, row.body),
            *(row.codec, row.blobs, row.commit, row.same),
        )
    return given


@dataclass(frozen=True)
class Writing:
    """What one writer appends to one stream."""

    stream: str
    expected: int | None
    rows: Sequence[Row]
    after_end: bool


_EACH_ONE = """select *, statement_timestamp()
  from ledger.append_each($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15)"""
_EACH_SEVERAL = """select *, statement_timestamp()
  from ledger.append_several($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12,$13,$14,$15,$16,$17)"""


def together(writings: Sequence[Writing]) -> tuple[str, list[object]]:
    """Write the statement of several appends; its values name heads in the order of locks.

    It gives stream, version, hash and time of what was written, of each stream the last one last.
    """
    ordered = sorted(writings, key=lambda each: each.stream.encode())
    if all(len(each.rows) == 1 for each in ordered):
        return _EACH_ONE, [*_heads(ordered), *_facts(ordered)]
    lasts = list(accumulate(len(each.rows) for each in ordered))
    firsts = [last - len(each.rows) + 1 for last, each in zip(lasts, ordered, strict=True)]
    return _EACH_SEVERAL, [*_heads(ordered), firsts, lasts, *_facts(ordered)]


def _heads(writings: Sequence[Writing]) -> list[object]:
    return [
        [each.stream for each in writings],
        [each.expected for each in writings],
        [each.after_end for each in writings],
        [any(row.closes for row in each.rows) for each in writings],
        [each.rows[0].correlation for each in writings],
    ]


def _facts(writings: Sequence[Writing]) -> list[object]:
    rows = [row for each in writings for row in each.rows]
    return [
        [row.event_id for row in rows],
        [row.type for row in rows],
        [row.schema_version for row in rows],
        [row.envelope for row in rows],
        [row.body for row in rows],
        [row.codec for row in rows],
        KEY_ID,
        [row.blobs for row in rows],
        [row.commit for row in rows],
        [row.same for row in rows],
    ]
