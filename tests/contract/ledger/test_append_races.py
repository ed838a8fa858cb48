"""Many writers at once: streams stay dense and chained, nobody deadlocks, one wins."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING

import pytest

from domain.tools.results import ok
from ledger.append import Appended, Part, TakenError, VersionConflictError, append
from ledger.reads import read_head, read_stream
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import PERSON

if TYPE_CHECKING:
    from ledger.connect import Ledger

WRITERS, EACH = 16, 12


@pytest.mark.parametrize("streams", [1, 4])
async def test_sixteen_writers_leave_dense_chained_streams(ledger: Ledger, streams: int) -> None:
    """Nobody is refused, nothing is lost, from the first event of a new stream on."""

    async def write(writer: int) -> None:
        for n in range(EACH):
            stream = f"incoming/s{(writer + n) % streams}"
            given = tuple(facts.message(f"{writer}.{n}.{i}") for i in range(1 + n % 2))
            await append(ledger, PERSON, Part(stream, given))

    await asyncio.gather(*(write(writer) for writer in range(WRITERS)))

    stored = [await read_stream(ledger, f"incoming/s{s}") for s in range(streams)]
    for events in stored:
        assert [event.version for event in events] == list(range(1, len(events) + 1))
        keys = [(event.order_key, event.pos) for event in events]
        assert keys == sorted(keys)
    assert sum(map(len, stored)) == WRITERS * EACH * 3 // 2
    assert (await verify(ledger)).problems == ()


async def test_appends_to_several_streams_in_any_order_never_deadlock(ledger: Ledger) -> None:
    """Heads are locked in stream order, whatever the order of the parts, new streams too."""
    names = [f"incoming/s{n}" for n in range(6)]

    async def write(writer: int) -> None:
        chance = random.Random(writer)  # noqa: S311 - a repeatable order, no secret
        for n in range(EACH):
            chosen = chance.sample(names, k=chance.randint(2, 4))
            parts = [Part(s, (facts.message(f"{writer}.{n}"),)) for s in chosen[:-1]]
            await append(ledger, PERSON, *parts, Part(chosen[-1]))

    await asyncio.wait_for(asyncio.gather(*(write(writer) for writer in range(WRITERS))), 60)

    waited = await ledger.pool.fetchval(
        "select deadlocks from pg_stat_database where datname = current_database()"
    )
    assert waited == 0
    assert (await verify(ledger)).problems == ()


async def test_of_competing_firsts_one_wins_and_all_others_learn_it(ledger: Ledger) -> None:
    """One outcome stands."""
    given = [Part("run/r", (facts.settled(outcome=ok(f"by {n}")),)) for n in range(WRITERS)]

    ends = await asyncio.gather(
        *(append(ledger, PERSON, part) for part in given), return_exceptions=True
    )

    stored = await read_stream(ledger, "run/r")
    won = [n for n, end in enumerate(ends) if isinstance(end, Appended)]
    assert len(won) == len(stored) == 1
    assert stored[0].fact == given[won[0]].facts[0]
    assert sum(isinstance(end, TakenError) for end in ends) == WRITERS - 1


async def test_the_same_command_from_many_is_done_once(ledger: Ledger) -> None:
    """All are given the one result."""
    parts = (
        Part("run/r", (facts.accepted("r"), facts.attached()), 0),
        Part("slot/s", (facts.message("m1"),)),
    )

    ends = await asyncio.gather(*(append(ledger, PERSON, *parts) for _ in range(WRITERS)))

    assert [end.repeated for end in ends].count(False) == 1
    assert all(end.heads == ends[0].heads for end in ends)
    assert (await read_head(ledger, "run/r")).version == 2


async def test_of_writers_that_expect_one_version_one_goes_on(ledger: Ledger) -> None:
    """The others must fold and decide again."""
    parts = [Part("incoming/s", (facts.message(f"m{n}"),), 0) for n in range(WRITERS)]

    ends = await asyncio.gather(
        *(append(ledger, PERSON, part) for part in parts), return_exceptions=True
    )

    assert sum(isinstance(end, Appended) for end in ends) == 1
    assert sum(isinstance(end, VersionConflictError) for end in ends) == WRITERS - 1
    assert (await read_head(ledger, "incoming/s")).version == 1


async def test_an_end_and_a_message_guarded_by_it_never_both_hold(ledger: Ledger) -> None:
    """Either the message is before the end, or it is refused."""
    guard = Part("run/r", (), open_only=True)
    await append(ledger, PERSON, Part("run/r", (facts.accepted("r"),)))
    writes = [
        append(ledger, PERSON, Part("incoming/s", (facts.message(f"m{n}"),)), guard)
        for n in range(WRITERS)
    ]
    end = append(ledger, PERSON, Part("run/r", (facts.run_ended(),)), Part("incoming/s"))

    ends = await asyncio.gather(*writes[:8], end, *writes[8:], return_exceptions=True)

    ended = (await read_stream(ledger, "run/r"))[-1]
    messages = await read_stream(ledger, "incoming/s")
    assert len(messages) == sum(isinstance(e, Appended) for e in ends) - 1
    assert all((m.order_key, m.pos) < (ended.order_key, ended.pos) for m in messages)
