"""The contenders that write: a bare insert, the product's append, and the append without a part."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench.contest import race
from domain.events import CallSettled
from domain.tools.results import ok
from ledger.append import Part, append
from ledger.connect import Ledger
from ledger.encode import KEY_ID, Author, row_of
from ledger.statement import statement, values

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from bench.contest import Slice
    from ledger.encode import Row

    Step = Callable[[], Awaitable[int]]

TEXT = "x" * 300
BATCH = 3
AUTHOR = Author("agent:bench", "person:bench", "activity", "take_step/1", "bench")
FACT = CallSettled(turn=1, step=1, position=0, name="read_file", outcome=ok(TEXT))
"""The fact that is written again and again."""

FACT_BYTES = 672
"""Its envelope and its body."""

RAW_TABLE = """
create schema bench;
create table bench.event (like ledger.event including defaults including identity);
alter table bench.event add primary key (stream_id, version);
"""
_RAW = """
insert into bench.event (stream_id, version, event_id, order_key, type, schema_version,
    correlation_id, recorded_at, envelope, body, codec, key_id, blobs, body_commit, same_digest,
    hash)
values ($1, $2, $3, $4, $5, $6, $7, statement_timestamp(), $8, $9, $10, $11, $12, $13, $14, $15)
"""
_HEADS = """
insert into ledger.stream (stream_id, kind) select s, 'run' from unnest($1::text[]) s
"""
_LINKED = re.compile(r"head_hash = ledger\.link\(.*?\),\n(?=\s*closed_at)", re.DOTALL)


def unchained() -> str:
    """Write the append's own statement for one event, with the head's hash left as it is."""
    text, count = _LINKED.subn("head_hash = s.head_hash,\n", statement(1))
    if count != 1:
        message = "the append's statement has changed: the bench cannot take its chain out"
        raise RuntimeError(message)
    return text


@dataclass(frozen=True)
class Writers:
    """What writes into one ledger; every writer has a stream of its own in each slice."""

    ledger: Ledger
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def slices(self) -> Mapping[str, Slice]:
        """Name the contenders."""
        return {
            "raw": self._slice(self._raw),
            "append": self._slice(lambda stream: self._append(stream, 1)),
            "batch": self._slice(lambda stream: self._append(stream, BATCH)),
            "chain_off": self._slice(self._unchained),
        }

    def _slice(self, step: Callable[[str], Step]) -> Slice:
        async def work(writers: int, seconds: float) -> float:
            streams = [f"run/bench-{next(self.numbers)}" for _ in range(writers)]
            await self.ledger.pool.execute(_HEADS, streams)
            return await race([step(stream) for stream in streams], seconds)

        return work

    def _append(self, stream: str, count: int) -> Step:
        """Append through the product's entry; the facts are made in the time that counts."""
        steps = itertools.count(1)

        async def step() -> int:
            facts = tuple(FACT.model_copy(update={"step": next(steps)}) for _ in range(count))
            await append(self.ledger, AUTHOR, Part(stream, facts))
            return count

        return step

    def _unchained(self, stream: str) -> Step:
        steps, sql = itertools.count(1), unchained()

        async def step() -> int:
            row = _encoded(self.ledger, FACT.model_copy(update={"step": next(steps)}))
            given = values(stream, None, [row], after_end=True)
            await self.ledger.pool.fetch(sql, *given)
            return 1

        return step

    def _raw(self, stream: str) -> Step:
        """Insert bytes that lie ready; only version and id differ from row to row."""
        versions, row = itertools.count(1), _encoded(self.ledger, FACT)
        shared = (
            *(0, row.type, row.schema_version, row.correlation, row.envelope, row.body),
            *(row.codec, KEY_ID, row.blobs, row.commit, row.same, bytes(32)),
        )

        async def step() -> int:
            version = next(versions)
            name = f"call.settled:1.{version}.0"
            await self.ledger.pool.execute(_RAW, stream, version, name, *shared)
            return 1

        return step


def _encoded(ledger: Ledger, fact: CallSettled) -> Row:
    return row_of(fact, AUTHOR, datetime.now(UTC).isoformat(), ledger.secret, b"")
