"""What a reader can rely on: nothing missed below the horizon, marks that never go back."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from domain.errors import Kind, LegatoError
from domain.tools.results import ok
from ledger.append import Part, append
from ledger.feed import read_mark, write_mark
from ledger.reads import (
    Stored,
    find_streams,
    list_streams,
    read_event,
    read_head,
    read_since,
    read_stream,
)
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import LIVED_IN, PERSON, connected, on_connection, put

if TYPE_CHECKING:
    from ledger.connect import Ledger

TYPES = ("message.accepted", "stop.requested")
WRITERS = 16
SECONDS = 4.0


class _UndoneError(Exception):
    """A writer changes its mind."""


async def _write(url: str, ledger: Ledger, writer: int, streams: int, until: float) -> int:
    """Append in transactions whose id is taken long before; some are rolled back."""
    chance = random.Random(writer)  # noqa: S311 - a repeatable order, no secret
    names = [f"incoming/s{n}" for n in range(streams)]
    kept = n = 0
    async with connected(url) as connection:
        inside = on_connection(ledger, connection)
        while asyncio.get_running_loop().time() < until:
            n += 1
            chosen = chance.sample(names, k=min(streams, chance.randint(1, 3)))
            undone = chance.random() < 0.2
            try:
                async with connection.transaction():
                    await connection.execute("select pg_current_xact_id()")
                    await asyncio.sleep(chance.random() * 0.05)
                    given = [Part(s, (facts.message(f"{writer}.{n}"),)) for s in chosen]
                    await append(inside, PERSON, *given)
                    await asyncio.sleep(chance.random() * 0.01)
                    _undo(undone=undone)
                kept += len(chosen)
            except _UndoneError:
                pass
    return kept


def _undo(*, undone: bool) -> None:
    if undone:
        raise _UndoneError


async def _follow(ledger: Ledger, writers: asyncio.Future[list[int]]) -> list[Stored]:
    """Read as the relay does, while the writers write and then to the end."""
    seen: list[Stored] = []
    mark = (0, 0)
    while True:
        finished = writers.done()
        batch = await read_since(ledger, mark, TYPES, 50)
        seen.extend(batch)
        if batch:
            mark = (batch[-1].order_key, batch[-1].pos)
        elif finished:
            return seen
        else:
            await asyncio.sleep(0.001)


@pytest.mark.parametrize("streams", [1, 12])
async def test_a_reader_below_the_horizon_misses_nothing_and_keeps_every_order(
    url: str, ledger: Ledger, streams: int
) -> None:
    """Under random writers whose transactions begin early, end late, or are undone."""
    until = asyncio.get_running_loop().time() + SECONDS
    writers = asyncio.gather(*(_write(url, ledger, n, streams, until) for n in range(WRITERS)))

    seen = await _follow(ledger, writers)

    assert len(seen) == sum(await writers) > 100
    marks = [(event.order_key, event.pos) for event in seen]
    assert marks == sorted(set(marks))
    for n in range(streams):
        stream = f"incoming/s{n}"
        told = [event.version for event in seen if event.stream == stream]
        assert told == list(range(1, (await read_head(ledger, stream)).version + 1))
    assert (await verify(ledger)).problems == ()


async def test_an_event_above_an_open_transaction_is_not_told_yet(url: str, ledger: Ledger) -> None:
    """An older transaction could still add an event before it."""
    async with connected(url) as other:
        transaction = other.transaction()
        await transaction.start()
        await other.execute("select pg_current_xact_id()")
        await put(ledger, "incoming/s", facts.message("m1"))
        before = await read_since(ledger, (0, 0), TYPES)
        await transaction.rollback()

    assert before == []
    assert len(await read_since(ledger, (0, 0), TYPES)) == 1


async def test_a_reader_is_told_its_types_only_and_so_many_at_once(ledger: Ledger) -> None:
    """It goes on after its mark."""
    await put(ledger, "run/r", facts.accepted("r"), facts.stopped())
    await put(ledger, "incoming/s", *(facts.message(f"m{n}") for n in range(5)))

    first = await read_since(ledger, (0, 0), TYPES, 4)
    rest = await read_since(ledger, (first[-1].order_key, first[-1].pos), TYPES, 4)

    told = [f"{e.stream}@{e.version}" for e in (*first, *rest)]
    assert told == ["run/r@2", *(f"incoming/s@{n}" for n in range(1, 6))]


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
