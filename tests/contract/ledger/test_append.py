"""What one writer can rely on: versions, guards, closed streams, the two uses of ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.codec import digest
from domain.errors import Kind, LegatoError
from domain.events import RunAccepted
from domain.tools.results import ok
from ledger.append import Part, TakenError, VersionConflictError, append
from ledger.reads import read_head, read_stream
from ledger.statement import MOST
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import PERSON, begin_run, events_of, put

if TYPE_CHECKING:
    from domain.events import Fact
    from ledger.connect import Ledger

RUN, OTHER = "run/r", "incoming/r"
LONG = "".join(digest(n) for n in range(200))
START = (facts.accepted("r"), facts.attached())


async def refusal(ledger: Ledger, *parts: Part) -> LegatoError:
    """Give the error with which an append is refused."""
    with pytest.raises(LegatoError) as caught:
        await append(ledger, PERSON, *parts)
    return caught.value


async def test_a_run_keeps_who_asked_for_it(ledger: Ledger) -> None:
    """Whoever signed the launch answers for what the run does."""
    stream = await begin_run(ledger, "r")

    facts_there = await events_of(ledger, stream)

    assert [f.principal for f in facts_there if isinstance(f, RunAccepted)] == ["person:a"]


async def test_a_single_event_makes_its_stream(ledger: Ledger) -> None:
    """The stream begins at version 1 and holds what was appended."""
    done = await append(ledger, PERSON, Part(RUN, START[:1]))

    stored = await read_stream(ledger, RUN)
    assert [event.fact for event in stored] == [START[0]]
    assert done.heads == {RUN: (1, stored[0].hash)}
    assert not done.repeated
    assert (await verify(ledger)).ok


@pytest.mark.parametrize("count", range(1, MOST + 2))
async def test_events_of_one_part_stand_in_order_however_many(ledger: Ledger, count: int) -> None:
    """Dense versions, one recorded time, a chain that holds, whichever statement wrote them."""
    before, given = facts.message("before"), [facts.message(f"m{n}") for n in range(count)]
    await put(ledger, OTHER, before)

    done = await append(ledger, PERSON, Part(OTHER, tuple(given), 1))

    stored = await read_stream(ledger, OTHER)
    assert [event.fact for event in stored] == [before, *given]
    assert [event.version for event in stored] == list(range(1, count + 2))
    assert len({event.recorded_at for event in stored[1:]}) == 1
    assert done.heads == {OTHER: (count + 1, stored[-1].hash)}
    assert (await verify(ledger)).ok


async def test_an_event_keeps_who_caused_it(ledger: Ledger) -> None:
    """The envelope says actor, door and correlation."""
    await append(ledger, PERSON, Part(RUN, START))

    envelope = (await read_stream(ledger, RUN))[0].envelope
    assert (envelope["actor"], envelope["via"]) == ("person:a", "cli")
    assert (envelope["event_id"], envelope["correlation_id"]) == ("run.accepted", "r")


async def test_parts_of_several_streams_are_appended_together(ledger: Ledger) -> None:
    """Each stream gets its events in order, in one order key."""
    done = await append(ledger, PERSON, Part(RUN, START, 0), Part(OTHER, (facts.message("m1"),), 0))

    run, other = await read_stream(ledger, RUN), await read_stream(ledger, OTHER)
    assert [event.version for event in run] == [1, 2]
    assert {event.order_key for event in (*run, *other)} == {run[0].order_key}
    assert done.heads == {RUN: (2, run[1].hash), OTHER: (1, other[0].hash)}


@pytest.mark.parametrize("given", [START[:1], START], ids=["one event", "two events"])
@pytest.mark.parametrize(("there", "expected"), [(0, 1), (2, 1), (2, 0), (2, 3)])
async def test_a_wrong_expected_version_is_a_conflict(
    ledger: Ledger, given: tuple[Fact, ...], there: int, expected: int
) -> None:
    """Nothing is written, and the error says where the stream is."""
    for n in range(there):
        await put(ledger, OTHER, facts.message(f"m{n}"))

    error = await refusal(ledger, Part(OTHER, given, expected))

    assert isinstance(error, VersionConflictError)
    assert f"at version {expected}, it is at {there}" in error.message
    assert (await read_head(ledger, OTHER)).version == there


async def test_one_conflict_stops_every_part(ledger: Ledger) -> None:
    """All or nothing: a part that fits is not written either."""
    await put(ledger, OTHER, facts.message("m1"))

    error = await refusal(ledger, Part(RUN, START, 0), Part(OTHER, (), 0))

    assert error.code == "version_conflict"
    assert await read_stream(ledger, RUN) == []


async def test_a_part_without_events_asserts_a_version_and_changes_nothing(ledger: Ledger) -> None:
    """It holds also for a stream that nothing has been written to."""
    await append(ledger, PERSON, Part(RUN, START), Part(OTHER, (), 0))
    await append(ledger, PERSON, Part(RUN, (facts.stopped(),)), Part(OTHER, (), 0))

    assert (await read_head(ledger, OTHER)).version == 0
    assert (await verify(ledger)).ok


@pytest.mark.parametrize("late", [(facts.stopped(),), (facts.settled(), facts.stopped())])
async def test_a_closed_stream_takes_nothing_more(ledger: Ledger, late: tuple[Fact, ...]) -> None:
    """Alone or beside a fact that may come late."""
    await put(ledger, RUN, *START, facts.run_ended())

    error = await refusal(ledger, Part(RUN, late))

    assert (error.code, error.kind) == ("run_closed", Kind.REFUSED)
    assert "the run r has ended" in error.message
    assert (await read_head(ledger, RUN)).version == 3


async def test_a_closed_stream_takes_a_late_outcome(ledger: Ledger) -> None:
    """An outcome, a late answer and an assertion are good after the end."""
    await put(ledger, RUN, *facts.short_run("r", calls=1)[:6], facts.run_ended())

    await append(ledger, PERSON, Part(RUN, (facts.settled(),)))
    await append(ledger, PERSON, Part(OTHER, (facts.message("m1"),)), Part(RUN, (), 8))

    head = await read_head(ledger, RUN)
    assert (head.version, head.closed) == (8, True)


async def test_open_only_refuses_a_closed_stream_and_names_it(ledger: Ledger) -> None:
    """The guard of another stream's append."""
    guard = Part(RUN, (), open_only=True)
    await put(ledger, RUN, *START)
    await append(ledger, PERSON, Part(OTHER, (facts.message("m1"),)), guard)
    await put(ledger, RUN, facts.run_ended())

    error = await refusal(ledger, Part(OTHER, (facts.message("m2"),)), guard)

    assert error.code == "run_closed"
    assert "the run r has ended" in error.message
    assert (await read_head(ledger, OTHER)).version == 1


async def test_open_only_refuses_even_what_may_come_late(ledger: Ledger) -> None:
    """One event or several."""
    await put(ledger, RUN, *START, facts.run_ended())

    one = await refusal(ledger, Part(RUN, (facts.settled(),), open_only=True))
    two = await refusal(ledger, Part(RUN, (facts.settled(), facts.answered()), open_only=True))

    assert (one.code, two.code) == ("run_closed", "run_closed")


async def test_a_repeated_command_gives_the_first_result(ledger: Ledger) -> None:
    """Also after the stream has gone on, or has closed."""
    first = await append(ledger, PERSON, Part(RUN, START, 0))
    stop = await append(ledger, PERSON, Part(RUN, (facts.stopped(),)))
    await put(ledger, RUN, facts.run_ended())

    again = await append(ledger, PERSON, Part(RUN, START, 0))
    stop_again = await append(ledger, PERSON, Part(RUN, (facts.stopped(),)))

    assert (again.heads, again.repeated) == (first.heads, True)
    assert (stop_again.heads, stop_again.repeated) == (stop.heads, True)
    assert (await read_head(ledger, RUN)).version == 4


async def test_a_repeated_command_with_other_content_is_a_mismatch(ledger: Ledger) -> None:
    """The id is of use `same`; one event or a batch."""
    await put(ledger, OTHER, facts.message("m1"), facts.message("m2"))
    other = facts.message("m1", "something else")

    one = await refusal(ledger, Part(OTHER, (other,)))
    batch = await refusal(ledger, Part(OTHER, (other, facts.message("m2"))))
    partly = await refusal(ledger, Part(OTHER, (other, facts.message("m3"))))

    assert {e.code for e in (one, batch, partly)} == {"idempotency_mismatch"}
    assert one.details == {"stream": OTHER, "event_id": "message.accepted:m1"}


async def test_the_loser_of_a_first_goes_on_from_the_winner(ledger: Ledger) -> None:
    """No alarm: the id is of use `first`, and the winner's event is there to read."""
    await put(ledger, RUN, *START, facts.settled(outcome=ok("winner")))

    error = await refusal(ledger, Part(RUN, (facts.settled(outcome=ok("loser")),)))

    assert isinstance(error, TakenError)
    assert "call.settled:1.1.0" in error.message
    assert (await events_of(ledger, RUN))[-1] == facts.settled(outcome=ok("winner"))


async def test_a_first_with_equal_content_is_the_same_append(ledger: Ledger) -> None:
    """A writer that repeats itself has won."""
    first = await append(ledger, PERSON, Part(RUN, (*START, facts.settled())))

    again = await append(ledger, PERSON, Part(RUN, (facts.settled(),)))

    assert again.repeated
    assert again.heads == first.heads


async def test_a_batch_of_which_a_part_is_there_is_taken_whole(ledger: Ledger) -> None:
    """A batch is a unit: none of the rest is written."""
    await put(ledger, RUN, *START, facts.settled())
    batch = (facts.settled(), facts.settled(position=1))

    error = await refusal(ledger, Part(RUN, batch))

    assert isinstance(error, TakenError)
    assert (await read_head(ledger, RUN)).version == 3


async def test_a_batch_that_holds_an_id_twice_is_a_bug(ledger: Ledger) -> None:
    """It can never be written; nothing is."""
    error = await refusal(ledger, Part(RUN, (facts.stopped(), facts.stopped())))

    assert error.kind is Kind.BUG
    assert await read_stream(ledger, RUN) == []


@pytest.mark.parametrize(
    ("stream", "fact"),
    [("no kind", facts.stopped()), (RUN, facts.stopped("a\0b")), (RUN, facts.stopped(LONG))],
    ids=["stream without kind", "NUL in an id", "id too long for the index"],
)
async def test_what_the_database_cannot_store_is_a_bug_and_not_an_outage(
    ledger: Ledger, stream: str, fact: Fact
) -> None:
    """Nobody is told to repeat what can never work."""
    error = await refusal(ledger, Part(stream, (fact,)))

    assert (error.code, error.kind) == ("append_invalid", Kind.BUG)


@pytest.mark.parametrize("size", [0, 1_000, 1_100, 8_000, 8_300, 3_000_000], ids="{} bytes".format)
@pytest.mark.parametrize("alike", [True, False], ids=["repetitive", "random"])
async def test_a_body_of_any_size_comes_back_as_it_was(
    ledger: Ledger,
    size: int,
    alike: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    """Plain, compressed, or kept as a blob; alone and in a batch."""
    text = "ä" * (size // 2) if alike else "".join(chr(33 + n * n % 93) for n in range(size))
    one, two = facts.settled(outcome=ok(text)), facts.settled(position=1, outcome=ok(text + "."))
    await put(ledger, RUN, facts.accepted("r"), facts.requested(), facts.responded(calls=2))
    await put(ledger, RUN, one)
    await put(ledger, RUN, two, facts.stopped())

    assert (await events_of(ledger, RUN))[3:5] == [one, two]
    assert (await verify(ledger)).problems == ()


async def test_text_with_nul_and_every_plane_comes_back(ledger: Ledger) -> None:
    """Bodies are bytes to the database."""
    fact = facts.message("m1", "a\0b \u2028 \U0001f9ea \ufffd")
    await put(ledger, OTHER, fact)

    assert await events_of(ledger, OTHER) == [fact]
