"""Facts that wait together go in one statement, and one writer's error is never another's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from domain.tools.results import ok
from ledger.append import Appended, Part, TakenError, VersionConflictError, append
from ledger.reads import read_stream
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import PERSON

if TYPE_CHECKING:
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


async def test_a_writer_that_is_refused_stops_no_other(ledger: Ledger) -> None:
    """Among those that wait: a wrong version, a repeated id, a lost first, a new stream."""
    await begun(ledger)
    first = facts.settled(outcome=ok("theirs"))
    await append(ledger, PERSON, Part(STREAMS[2], (first,)))
    odd = {
        0: Part(STREAMS[0], (facts.message("m"),), 7),
        1: Part(STREAMS[1], (facts.message("first"),)),
        2: Part(STREAMS[2], (facts.settled(outcome=ok("ours")),)),
        3: Part("incoming/new", (facts.message("m"),)),
    }
    parts = [odd.get(n, Part(s, (facts.message("m"),))) for n, s in enumerate(STREAMS)]

    ends = await asyncio.gather(
        *(append(ledger, PERSON, part) for part in reversed(parts)), return_exceptions=True
    )

    wrong, repeated, lost, *fine = reversed(ends)
    assert isinstance(wrong, VersionConflictError)
    assert isinstance(repeated, Appended)
    assert repeated.repeated
    assert isinstance(lost, TakenError)
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
