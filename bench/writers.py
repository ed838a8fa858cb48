"""The contenders that write: a bare insert, the product's append, and the append without a part."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import asyncpg

from bench.contest import race
from bench.sequencing import sequencing
from domain.events import CallSettled
from domain.tools.results import ok
from ledger.append import Part, append
from ledger.connect import Ledger
from ledger.encode import KEY_ID, Author, row_of
from ledger.sequence import catch_up

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
UNCHAIN = """
create or replace function ledger.link(
  prev bytea, stream text, version bigint, recorded timestamptz, envelope bytea,
  codec smallint, key_id text, blobs bytea, body_commit bytea, same_digest bytea
) returns bytea language sql stable return prev
"""
"""Takes the chain out of a ledger: each link is the one before it, all else is as it was."""


@dataclass(frozen=True)
class Writers:
    """What writes into one ledger; every writer has a stream of its own in each slice.

    `unchained` is one of the same build whose chain is taken out, `sequenced` one beside which
    passes run; `held` are connections for the bare inserts, while a ledger holds its own.
    """

    ledger: Ledger
    unchained: Ledger
    sequenced: Ledger
    held: Sequence[asyncpg.Connection[asyncpg.Record]]
    numbers: Iterator[int] = field(default_factory=itertools.count)
    facts: list[CallSettled] = field(default_factory=list[CallSettled])

    def slices(self) -> Mapping[str, Slice]:
        """Name the contenders."""
        return {
            "raw": self._slice(self.ledger, self._raw),
            "append": self._appending(self.ledger, 1),
            "batch": self._appending(self.ledger, BATCH),
            "chain_off": self._appending(self.unchained, 1),
            "sequencer_on": self._sequenced(self._appending(self.sequenced, 1)),
        }

    def _appending(self, ledger: Ledger, count: int) -> Slice:
        """Append so many facts at a time through the product's entry."""
        return self._slice(ledger, lambda stream, _: self._step(ledger, stream, count))

    def _slice(self, ledger: Ledger, step: Callable[[str, int], Step]) -> Slice:
        async def work(writers: int, seconds: float) -> float:
            streams = [f"run/bench-{next(self.numbers)}" for _ in range(writers)]
            await ledger.pool.execute(_HEADS, streams)
            return await race([step(each, n) for n, each in enumerate(streams)], seconds)

        return work

    def _sequenced(self, slice_: Slice) -> Slice:
        """Have the passes of a worker run beside the writers; what lay there has its number."""

        async def work(writers: int, seconds: float) -> float:
            while not await catch_up(self.sequenced, 1.0):
                pass
            async with sequencing(self.sequenced):
                return await slice_(writers, seconds)

        return work

    def _fact(self, number: int) -> CallSettled:
        """Give a writer's n-th fact: they are made once, before the time that counts."""
        while len(self.facts) <= number:
            self.facts.append(FACT.model_copy(update={"step": len(self.facts)}))
        return self.facts[number]

    def _step(self, ledger: Ledger, stream: str, count: int) -> Step:
        numbers = itertools.count()

        async def step() -> int:
            facts = tuple([self._fact(next(numbers)) for _ in range(count)])
            await append(ledger, AUTHOR, Part(stream, facts))
            return count

        return step

    def _raw(self, stream: str, number: int) -> Step:
        """Insert bytes that lie ready; only version and id differ from row to row."""
        versions, row, connection = (
            itertools.count(1),
            _encoded(self.ledger, FACT),
            self.held[number],
        )
        shared = (
            *(0, row.type, row.schema_version, row.correlation, row.envelope, row.body),
            *(row.codec, KEY_ID, row.blobs, row.commit, row.same, bytes(32)),
        )

        async def step() -> int:
            version = next(versions)
            await connection.execute(_RAW, stream, version, f"call.settled:1.{version}.0", *shared)
            return 1

        return step


def _encoded(ledger: Ledger, fact: CallSettled) -> Row:
    return row_of(fact, AUTHOR, datetime.now(UTC).isoformat(), ledger.secret, b"")
