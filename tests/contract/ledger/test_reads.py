"""What a reader can rely on: nothing missed below the horizon, marks that never go back."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from domain.errors import Kind, LegatoError
from domain.tools.results import ok
from ledger.feed import Numbered, read_feed, read_feed_head, read_mark, write_mark
from ledger.reads import (
    find_streams,
    list_streams,
    read_event,
    read_head,
    read_stream,
)
from ledger.sequence import catch_up, sequence_once
from tests.support import facts
from tests.support.ledger import LIVED_IN, connected, put

if TYPE_CHECKING:
    from ledger.connect import Ledger

TYPES = ("message.accepted", "stop.requested")


async def told(ledger: Ledger, after: int, limit: int) -> list[Numbered]:
    """Read what a follower of TYPES is told after a number."""
    head = (await read_feed_head(ledger)).global_seq
    read = await read_feed(ledger, after, TYPES, until=head, limit=limit)
    numbered = [one for one in read if isinstance(one, Numbered)]
    assert len(numbered) == len(read), "none is damaged"
    return numbered


async def test_an_event_above_an_open_transaction_is_not_told_yet(url: str, ledger: Ledger) -> None:
    """An older transaction could still add an event before it."""
    async with connected(url) as other:
        transaction = other.transaction()
        await transaction.start()
        await other.execute("select pg_current_xact_id()")
        await put(ledger, "incoming/s", facts.message("m1"))
        assert await sequence_once(ledger.pool) == 0
        before = await told(ledger, 0, 500)
        await transaction.rollback()

    assert before == []
    assert await sequence_once(ledger.pool) == 1
    assert len(await told(ledger, 0, 500)) == 1


async def test_a_reader_is_told_its_types_only_and_so_many_at_once(ledger: Ledger) -> None:
    """It goes on after its mark."""
    await put(ledger, "run/r", facts.accepted("r"), facts.stopped())
    await put(ledger, "incoming/s", *(facts.message(f"m{n}") for n in range(5)))

    assert await catch_up(ledger)

    first = await told(ledger, 0, 4)
    rest = await told(ledger, first[-1].global_seq, 4)

    places = [f"{e.stored.stream}@{e.stored.version}" for e in (*first, *rest)]
    assert len(first) == 4
    assert places == ["run/r@2", *(f"incoming/s@{n}" for n in range(1, 6))]


async def test_a_mark_never_goes_back(ledger: Ledger) -> None:
    """Whoever writes it last; relays do not share one."""
    marks = list(range(1, 65))
    random.Random(1).shuffle(marks)  # noqa: S311 - a repeatable order, no secret

    seen: list[int] = []
    for mark in marks:
        await write_mark(ledger, "a", mark)
        seen.append(await read_mark(ledger, "a"))
    await asyncio.gather(*(write_mark(ledger, "b", mark) for mark in marks))

    assert seen == sorted(seen)
    assert seen[-1] == await read_mark(ledger, "b") == 64
    assert await read_mark(ledger, "c") == 0


async def test_streams_are_listed_by_kind_and_found_by_prefix(lived_in: Ledger) -> None:
    """The youngest first; ended ones can be left out."""
    ended, still_open, large = (f"run/{run}" for run in LIVED_IN)

    assert await list_streams(lived_in, "run") == [large, still_open, ended]
    assert await list_streams(lived_in, "run", only_open=True) == [large, still_open]
    assert await list_streams(lived_in, "run", limit=1) == [large]
    assert await find_streams(lived_in, "run/run-") == sorted([ended, still_open, large])
    assert await find_streams(lived_in, "run/%") == []


async def test_one_event_is_read_by_its_id(lived_in: Ledger) -> None:
    """Or is not there."""
    stream = f"run/{LIVED_IN[0]}"
    found = await read_event(lived_in, stream, "run.ended")

    assert found is not None
    assert found.fact == facts.run_ended()
    assert await read_event(lived_in, stream, "run.refused") is None
    assert await read_stream(lived_in, "run/none") == []
    assert (await read_head(lived_in, "run/none")).version == 0


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("update ledger.blob set data = '\\x00'", "body_damaged"),
        ("delete from ledger.blob", "body_damaged"),
        ("update ledger.event set body = '\\x00', codec = 1", "body_damaged"),
        ("update ledger.event set codec = 9", "body_damaged"),
        ("update ledger.event set type = 'no.such'", "event_unknown"),
        ("update ledger.event set schema_version = 2", "event_unknown"),
    ],
)
async def test_a_damaged_event_is_refused_by_name_and_never_guessed(
    url: str, ledger: Ledger, sql: str, code: str
) -> None:
    """The error names the damage, wherever it is read."""
    text = "".join(chr(33 + n * n % 93) for n in range(9_000))
    await put(ledger, "run/r", facts.settled(outcome=ok(text)))
    async with connected(url) as connection:
        await connection.execute("set session_replication_role = replica")
        await connection.execute(sql)

    with pytest.raises(LegatoError) as caught:
        await read_stream(ledger, "run/r")

    assert (caught.value.code, caught.value.kind) == (code, Kind.BUG)
