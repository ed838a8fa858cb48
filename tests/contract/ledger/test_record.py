"""A run's record: what it is taught by its own appends is what the ledger would tell."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from activities.record import Record, Records, append_own, refresh, refresh_after_append
from domain.ids import incoming_stream, run_stream
from ledger.append import Part, TakenError, append
from tests.support import facts
from tests.support.ledger import PERSON

if TYPE_CHECKING:
    from domain.events import Fact
    from ledger.connect import Ledger

RUN = run_stream("r")
TURN: tuple[Fact, ...] = (
    facts.turn_started(),
    facts.requested(),
    facts.responded(calls=2),
    facts.settled(position=0),
    facts.settled(position=1),
)


async def begun(ledger: Ledger, records: Records) -> Record:
    """Begin a run and read it."""
    await append(ledger, PERSON, Part(RUN, (facts.accepted("r"), facts.attached())))
    return await refresh(ledger, records, "r")


async def own(ledger: Ledger, record: Record, *new: Fact) -> None:
    """Append as the run's own activity."""
    await append_own(ledger, record, PERSON, Part(RUN, new))


async def test_a_record_taught_by_its_own_appends_equals_one_that_is_read(ledger: Ledger) -> None:
    records = Records()
    record = await begun(ledger, records)

    await own(ledger, record, *TURN[:2])
    for fact in TURN[2:]:
        await own(ledger, record, fact)

    read = await refresh(ledger, Records(), "r")
    assert await refresh_after_append(ledger, records, record) is record
    assert record.run == read.run
    assert record.facts == read.facts
    assert record.head == read.head
    assert record.transcript == read.transcript


async def test_what_another_wrote_before_an_append_is_read_after_it(ledger: Ledger) -> None:
    records = Records()
    record = await begun(ledger, records)
    await own(ledger, record, *TURN[:2])

    await append(ledger, PERSON, Part(RUN, (facts.stopped(),)))
    await own(ledger, record, TURN[2])

    assert record.run.stop is None
    record = await refresh_after_append(ledger, records, record)
    assert record.run.stop is not None
    assert record.run == (await refresh(ledger, Records(), "r")).run


async def test_an_append_that_lost_is_followed_by_a_read(ledger: Ledger) -> None:
    records = Records()
    record = await begun(ledger, records)
    await append(ledger, PERSON, Part(RUN, (facts.turn_started(text="the winner's"),)))

    with pytest.raises(TakenError):
        await own(ledger, record, facts.turn_started(text="the loser's"))

    record = await refresh_after_append(ledger, records, record)
    assert record.run.turn is not None
    assert record.run.turn.text == "the winner's"


async def test_appends_side_by_side_are_taken_in_once_each_and_in_order(ledger: Ledger) -> None:
    records = Records()
    record = await begun(ledger, records)
    await own(ledger, record, facts.turn_started(), facts.requested(), facts.responded(calls=8))

    settled = [facts.settled(position=n) for n in range(8)]
    reads = (refresh(ledger, records, "r") for _ in range(4))
    await asyncio.gather(*(own(ledger, record, fact) for fact in settled), *reads)

    record = await refresh_after_append(ledger, records, record)
    read = await refresh(ledger, Records(), "r")
    assert record.facts == read.facts
    assert record.transcript == read.transcript


async def test_a_record_that_was_dropped_meanwhile_is_read_anew(ledger: Ledger) -> None:
    records = Records()
    record = await begun(ledger, records)
    await own(ledger, record, *TURN)

    records.kept.clear()

    assert await refresh_after_append(ledger, records, record) is not record


async def test_a_message_to_the_session_is_read_with_the_run(ledger: Ledger) -> None:
    records = Records()
    record = await begun(ledger, records)
    await append(ledger, PERSON, Part(incoming_stream("r"), (facts.message("m1"),)))

    await refresh(ledger, records, "r")

    assert record.texts == {1: "hello"}
    assert record.incoming_version == 1
