"""Appends that wait together go in one statement, and one writer's error is never another's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from domain.tools.results import ok
from ledger.append import Appended, Part, TakenError, VersionConflictError, append
from ledger.reads import read_head, read_stream
from ledger.statement import MOST
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import PERSON, begin_run

if TYPE_CHECKING:
    from domain.events import Fact
    from ledger.connect import Ledger
    from ledger.together import Together

STREAMS = [f"incoming/s{n}" for n in range(24)]
TRANSACTIONS = "select count(distinct order_key) from ledger.event"


async def begun(ledger: Ledger) -> None:
    """Give each stream a first event, so that its head is there."""
    for stream in STREAMS:
        await append(ledger, PERSON, Part(stream, (facts.message("first"),)))


def at_rest(together: Together) -> bool:
    """Tell whether nothing waits and nothing is on its way."""
    return (together.on_way, together.inside, len(together.waiting)) == (0, 0, 0)


async def test_facts_of_many_streams_share_statements(ledger: Ledger) -> None:
    """Each writer is given its own head, and every chain holds."""
    await begun(ledger)

    done = await asyncio.gather(
        *(append(ledger, PERSON, Part(s, (facts.message("m"),), 1)) for s in STREAMS)
    )

    for stream, appended in zip(STREAMS, done, strict=True):
        stored = await read_stream(ledger, stream)
        assert [event.fact for event in stored] == [facts.message("first"), facts.message("m")]
        assert appended.heads == {stream: (2, stored[-1].hash)}
    assert await ledger.pool.fetchval(TRANSACTIONS) < 2 * len(STREAMS)
    assert (await verify(ledger)).problems == ()
    assert at_rest(ledger.together)


async def test_appends_of_several_facts_share_statements_too(ledger: Ledger) -> None:
    """Each is whole and in order, with one recorded time, whatever stands beside it."""
    await begun(ledger)
    given = [[facts.message(f"m{i}") for i in range(1 + n % MOST)] for n in range(len(STREAMS))]

    done = await asyncio.gather(
        *(append(ledger, PERSON, Part(s, tuple(g), 1)) for s, g in zip(STREAMS, given, strict=True))
    )

    for stream, wrote, appended in zip(STREAMS, given, done, strict=True):
        _, *stored = await read_stream(ledger, stream)
        assert [event.fact for event in stored] == wrote
        assert appended.heads == {stream: (1 + len(wrote), stored[-1].hash)}
        assert {event.recorded_at for event in stored} == {appended.at}
    assert await ledger.pool.fetchval(TRANSACTIONS) < 2 * len(STREAMS)
    assert (await verify(ledger)).problems == ()
    assert at_rest(ledger.together)


async def test_a_run_ends_beside_appends_to_others(ledger: Ledger) -> None:
    """Its stream closes, theirs stay open."""
    runs = [await begin_run(ledger, f"r{n}", facts.attached()) for n in range(8)]

    def last(n: int) -> tuple[Fact, ...]:
        return (facts.stopped(), facts.run_ended()) if n % 2 else (facts.stopped(),)

    await asyncio.gather(*(append(ledger, PERSON, Part(r, last(n))) for n, r in enumerate(runs)))

    closed = [(await read_head(ledger, run)).closed for run in runs]
    assert closed == [n % 2 == 1 for n in range(8)]
    assert (await verify(ledger)).problems == ()


async def test_a_writer_that_is_refused_stops_no_other(ledger: Ledger) -> None:
    """A wrong version, a repeated id, a lost first, half a batch, a new stream: all wait beside."""
    await begun(ledger)
    first = facts.settled(outcome=ok("theirs"))
    await append(ledger, PERSON, Part(STREAMS[2], (first,)))
    odd = {
        0: Part(STREAMS[0], (facts.message("m"),), 7),
        1: Part(STREAMS[1], (facts.message("first"),)),
        2: Part(STREAMS[2], (facts.settled(outcome=ok("ours")),)),
        3: Part(STREAMS[3], (facts.message("m"), facts.message("first"))),
        4: Part("incoming/new", (facts.message("m"), facts.message("n"))),
    }
    parts = [odd.get(n, Part(s, (facts.message("m"),))) for n, s in enumerate(STREAMS)]

    ends = await asyncio.gather(
        *(append(ledger, PERSON, part) for part in reversed(parts)), return_exceptions=True
    )

    wrong, repeated, lost, half, *fine = reversed(ends)
    assert isinstance(wrong, VersionConflictError)
    assert isinstance(repeated, Appended)
    assert repeated.repeated
    assert isinstance(lost, TakenError)
    assert isinstance(half, TakenError)
    assert len(await read_stream(ledger, STREAMS[3])) == 1
    assert all(isinstance(end, Appended) and not end.repeated for end in fine)
    assert (await verify(ledger)).problems == ()
    assert at_rest(ledger.together)


async def test_facts_of_one_stream_stand_one_after_the_other(ledger: Ledger) -> None:
    """A statement takes one fact a stream; the others keep their place."""
    names = [f"m{n}" for n in range(20)]

    await asyncio.gather(
        *(append(ledger, PERSON, Part(STREAMS[0], (facts.message(name),))) for name in names)
    )

    stored = await read_stream(ledger, STREAMS[0])
    assert len(stored) == len(names)
    assert all(facts.message(name) in [event.fact for event in stored] for name in names)
    assert [event.version for event in stored] == list(range(1, 21))
    assert at_rest(ledger.together)


async def test_a_writer_that_gives_up_while_it_waits_holds_nobody_up(ledger: Ledger) -> None:
    await begun(ledger)
    tasks = [
        asyncio.create_task(append(ledger, PERSON, Part(s, (facts.message("m"),)))) for s in STREAMS
    ]
    while not ledger.together.waiting:  # noqa: ASYNC110 - the loop is let go on
        await asyncio.sleep(0)
    tasks[-1].cancel()

    ends = await asyncio.gather(*tasks, return_exceptions=True)

    assert all(isinstance(end, Appended) for end in ends[:-1])
    assert isinstance(ends[-1], asyncio.CancelledError)
    assert at_rest(ledger.together)
