"""A taken slot: what becomes of each request, one holder at a time, nothing lost, in order."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from domain.agents.request import AgentRequest
from domain.errors import LegatoError
from domain.events import (
    Decision,
    Entry,
    MessageAccepted,
    OnCollision,
    RunAccepted,
    RunEnded,
    SlotCollided,
    SlotLeft,
    SlotReleased,
    SlotTaken,
    StopRequested,
)
from domain.ids import run_stream, slot_stream
from domain.runs.legal import illegal_step
from domain.runs.run import Run, Status, fold
from domain.runs.slots import MOST_WAITING
from ledger.accept import Accepted, accept_message, accept_stop
from ledger.dispatch import Dispatched, Launch, dispatch
from ledger.lost import end_lost
from ledger.reads import list_streams, read_slot, read_stream
from ledger.verify import verify
from tests.support.ledger import PERSON, events_of

if TYPE_CHECKING:
    from domain.events import Fact
    from ledger.connect import Ledger

MANY = 30


async def ask(
    ledger: Ledger, number: int, policy: OnCollision = OnCollision.QUEUE, **more: object
) -> Dispatched:
    """Ask for a run in the one slot of these tests."""
    fields: dict[str, object] = {"role": "generic", "message": f"do {number}", "workspace": "/ws"}
    request = AgentRequest.model_validate({**fields, **more})
    launch = Launch(f"run-{number:04}", Entry.HAND, request, "home/test", "", "nightly", policy)
    return await dispatch(ledger, PERSON, launch)


async def run_of(ledger: Ledger, run_id: str) -> Run:
    """Fold a run."""
    return fold(await events_of(ledger, run_stream(run_id)))


async def lose(ledger: Ledger, run_id: str, reason: str = "workflow_gone") -> Run:
    """End a run as one whose workflow is gone."""
    return await end_lost(ledger, PERSON, await run_of(ledger, run_id), reason)


async def slot_facts(ledger: Ledger, slot: str) -> list[Fact]:
    """Read the slot's whole past."""
    return await events_of(ledger, slot_stream(slot))


def check_holders(told: list[Fact]) -> list[str]:
    """Check that there was never more than one holder, and dense n; gives them in order."""
    holders: list[str] = []
    held = ""
    for fact in told:
        if isinstance(fact, SlotTaken):
            assert held == ""
            held = fact.run_id
            holders.append(held)
            assert fact.n == len(holders)
        elif isinstance(fact, SlotReleased):
            assert (held, fact.n) == (fact.run_id, len(holders))
            held = ""
    assert held == ""
    assert len(holders) == len(set(holders))
    return holders


async def end_all(ledger: Ledger, slot: str) -> None:
    """End whoever holds the slot, by two writers at once, until nobody does."""
    while (now := await read_slot(ledger, slot)).holder:
        both = (lose(ledger, now.holder) for _ in range(2))
        await asyncio.gather(*both)
    assert now.line == ()


async def check_everything(ledger: Ledger) -> None:
    """Check that every run is legal and has ended, and that the ledger holds together."""
    for stream in await list_streams(ledger, "run"):
        told = await events_of(ledger, stream)
        assert illegal_step(stream, told) is None
        assert fold(told).ended is not None, stream
    assert (await verify(ledger)).problems == ()


async def test_requests_wait_in_line_and_begin_in_order(ledger: Ledger) -> None:
    """Thirty at once on one slot: one holder at a time, none lost, in the order of decision."""
    done = await asyncio.gather(*(ask(ledger, number) for number in range(MANY)))

    assert Counter(one.decision for one in done) == {Decision.STARTED: 1, Decision.QUEUED: 29}
    slot = done[0].asked.slot
    first = next(one.run_id for one in done if one.decision is Decision.STARTED)
    assert {one.holder for one in done} == {"", first}
    decided = [one for one in await slot_facts(ledger, slot) if isinstance(one, SlotCollided)]
    await end_all(ledger, slot)
    holders = check_holders(await slot_facts(ledger, slot))
    assert holders == [first, *(one.run_id for one in decided)]
    assert sorted(holders) == sorted(one.asked.run_id for one in done)
    await check_everything(ledger)


async def test_many_that_wait_become_one_run_that_names_them_all(ledger: Ledger) -> None:
    """Twenty-nine at once that are alike but for their message become one run."""
    coalesce = OnCollision.COALESCE
    done = await asyncio.gather(*(ask(ledger, number, coalesce) for number in range(MANY)))

    assert Counter(one.decision for one in done) == {Decision.STARTED: 1, Decision.COALESCED: 29}
    started = next(one for one in done if one.decision is Decision.STARTED)
    joined = {one.run_id for one in done} - {started.run_id}
    assert len(joined) == 1
    slot, (waiting,) = started.asked.slot, joined
    decided = [one for one in await slot_facts(ledger, slot) if isinstance(one, SlotCollided)]
    await lose(ledger, started.run_id)
    begun = (await run_of(ledger, waiting)).accepted
    assert begun is not None
    assert list(begun.requests) == [one.request for one in decided]
    assert {*begun.requests, started.run_id} == {one.asked.run_id for one in done}
    places = [begun.request.message.index(f"do {int(one[4:])}\n") for one in begun.requests[:-1]]
    assert places == sorted(places)
    await end_all(ledger, slot)
    assert check_holders(await slot_facts(ledger, slot)) == [started.run_id, waiting]
    await check_everything(ledger)


async def test_the_newest_supersedes_and_begins_when_the_holder_has_ended(ledger: Ledger) -> None:
    """Thirty at once: the holder is asked to stop once, the newest of the rest comes next."""
    newest = OnCollision.SUPERSEDE
    done = await asyncio.gather(*(ask(ledger, number, newest) for number in range(MANY)))

    assert Counter(one.decision for one in done) == {Decision.STARTED: 1, Decision.SUPERSEDING: 29}
    first = next(one for one in done if one.decision is Decision.STARTED)
    slot = first.asked.slot
    stops = [
        fact
        for fact in await events_of(ledger, run_stream(first.run_id))
        if isinstance(fact, StopRequested)
    ]
    assert [one.cause for one in stops] == ["superseded"]
    assert len([one for one in done if one.stop is not None]) == 1
    told = await slot_facts(ledger, slot)
    last = [one.run_id for one in told if isinstance(one, SlotCollided)][-1]
    await lose(ledger, first.run_id)
    assert (await run_of(ledger, first.run_id)).status is Status.SUPERSEDED
    assert (await read_slot(ledger, slot)).holder == last
    others = {one.run_id for one in done} - {first.run_id, last}
    assert {(await run_of(ledger, one)).status for one in others} == {Status.SUPERSEDED}
    await end_all(ledger, slot)
    assert check_holders(await slot_facts(ledger, slot)) == [first.run_id, last]
    await check_everything(ledger)


async def test_a_dropped_request_is_recorded_with_the_holder(ledger: Ledger) -> None:
    """Thirty at once: one runs, of the others stands who held the slot."""
    drop = OnCollision.DROP
    done = await asyncio.gather(*(ask(ledger, number, drop) for number in range(MANY)))

    assert Counter(one.decision for one in done) == {Decision.STARTED: 1, Decision.DROPPED: 29}
    first = next(one for one in done if one.decision is Decision.STARTED)
    told = await slot_facts(ledger, first.asked.slot)
    collided = [one for one in told if isinstance(one, SlotCollided)]
    assert {(one.holder, one.n, one.run_id) for one in collided} == {(first.run_id, 1, "")}
    assert len({one.request for one in collided}) == MANY - 1
    assert await list_streams(ledger, "run") == [run_stream(first.run_id)]
    await end_all(ledger, first.asked.slot)
    await check_everything(ledger)


async def test_ends_and_requests_of_every_kind_at_once_lose_nothing(ledger: Ledger) -> None:
    """Requests under all policies race with ends; afterwards each has come to something."""
    first = await ask(ledger, 0)
    slot, policies = first.asked.slot, list(OnCollision)

    async def ends() -> None:
        for _ in range(12):
            if holder := (await read_slot(ledger, slot)).holder:
                await lose(ledger, holder)

    asking = [ask(ledger, number, policies[number % 4]) for number in range(1, MANY)]
    done = [first, *(await asyncio.gather(*asking, ends(), ends()))[: MANY - 1]]
    await end_all(ledger, slot)

    told = await slot_facts(ledger, slot)
    holders = check_holders(told)
    left = [one.run_id for one in told if isinstance(one, SlotLeft)]
    for one in done:
        assert isinstance(one, Dispatched)
        if one.decision is Decision.DROPPED:
            assert one.run_id == ""
            continue
        assert (one.run_id in holders) != (one.run_id in left)
    await check_everything(ledger)


async def test_repeating_a_request_gives_its_first_result(ledger: Ledger) -> None:
    """Whatever was decided: asked again under its id, also after the end, it is the same."""
    started = await ask(ledger, 1)
    met = [
        await ask(ledger, 2 + n, policy)
        for n, policy in enumerate((OnCollision.QUEUE, OnCollision.COALESCE, OnCollision.DROP))
    ]
    again = await ask(ledger, 1)
    assert (again.decision, again.accepted) == (Decision.STARTED, started.accepted)
    for n, policy in enumerate((OnCollision.QUEUE, OnCollision.COALESCE, OnCollision.DROP)):
        assert await ask(ledger, 2 + n, policy) == met[n]
    await end_all(ledger, started.asked.slot)
    assert (await ask(ledger, 2)).decision is Decision.QUEUED
    with pytest.raises(LegatoError) as caught:
        await ask(ledger, 2, message="something else")
    assert caught.value.code == "idempotency_mismatch"


async def test_a_full_line_refuses_with_what_to_do(ledger: Ledger) -> None:
    """The line has its own limit; who is refused is told who holds the slot."""
    first = await ask(ledger, 0)
    for number in range(1, MOST_WAITING + 1):
        await ask(ledger, number)

    with pytest.raises(LegatoError) as caught:
        await ask(ledger, MOST_WAITING + 1)

    assert caught.value.code == "slot_full"
    assert f"`legato stop {first.run_id}`" in caught.value.next
    assert (await ask(ledger, 900, OnCollision.SUPERSEDE)).decision is Decision.SUPERSEDING


async def test_only_requests_that_differ_in_nothing_but_their_message_become_one(
    ledger: Ledger,
) -> None:
    """A reader's request never becomes part of a writer's run."""
    await ask(ledger, 0)
    writer = await ask(ledger, 1, OnCollision.COALESCE, profile="writer")
    reader = await ask(ledger, 2, OnCollision.COALESCE, profile="reader")
    second = await ask(ledger, 3, OnCollision.COALESCE, profile="writer")

    assert (writer.run_id, reader.run_id, second.run_id) == ("run-0001", "run-0002", "run-0001")


async def test_a_run_in_line_can_be_stopped_and_is_passed_over(ledger: Ledger) -> None:
    """It ends at once; the next in line comes in its place."""
    first, second, third = [await ask(ledger, number) for number in range(3)]

    stopped = await accept_stop(ledger, PERSON, second.run_id, "s1", "changed my mind")

    assert stopped.run.ended is not None
    assert (stopped.run.status, stopped.run.ended.message) == (Status.STOPPED, "changed my mind")
    await lose(ledger, first.run_id)
    assert (await read_slot(ledger, first.asked.slot)).holder == third.run_id
    again = await accept_stop(ledger, PERSON, second.run_id, "s1", "changed my mind")
    assert again.version == stopped.version
    await end_all(ledger, first.asked.slot)
    await check_everything(ledger)


async def test_a_stop_in_line_that_races_with_its_turn_ends_one_or_the_other(
    ledger: Ledger,
) -> None:
    """Either it never began, or it is asked to stop as any run that goes on."""
    for number in range(0, 20, 2):
        first, second = await ask(ledger, number), await ask(ledger, number + 1)
        await asyncio.gather(
            lose(ledger, first.run_id),
            accept_stop(ledger, PERSON, second.run_id, "s1", ""),
        )
        run = await run_of(ledger, second.run_id)
        assert run.stop is not None
        assert (run.accepted is None) == (run.ended is not None)
        await end_all(ledger, first.asked.slot)
    await check_everything(ledger)


async def test_messages_for_later_start_the_sessions_next_run_at_the_end_of_the_line(
    ledger: Ledger,
) -> None:
    """Who waited before comes before; the message is not lost."""
    first, second = await ask(ledger, 0), await ask(ledger, 1)
    await accept_message(ledger, PERSON, first.run_id, "m1", "and then this", later=True)
    await accept_message(ledger, PERSON, second.run_id, "m2", "for you in line", later=False)

    await lose(ledger, first.run_id)

    slot = await read_slot(ledger, first.asked.slot)
    assert (slot.holder, len(slot.line)) == (second.run_id, 1)
    following = await run_of(ledger, slot.line[0].run_id)
    assert following.queued is not None
    assert following.queued.session == first.asked.session
    await lose(ledger, second.run_id)
    begun = (await run_of(ledger, slot.line[0].run_id)).accepted
    assert isinstance(begun, RunAccepted)
    assert [item.text for item in begun.request.items] == ["and then this"]
    assert begun.n == 3
    await end_all(ledger, first.asked.slot)
    await check_everything(ledger)


async def test_a_slot_of_long_standing_is_read_from_its_last_turn_on(ledger: Ledger) -> None:
    """What is read does not grow with the holders that the slot has had."""
    first = await ask(ledger, 0)
    for number in range(1, 12):
        await ask(ledger, number)
        await lose(ledger, f"run-{number - 1:04}")
    stored = await read_stream(ledger, slot_stream(first.asked.slot))
    taken = [one.fact for one in stored if isinstance(one.fact, SlotTaken)]

    assert stored[-1].version - taken[-1].since < 5
    slot = await read_slot(ledger, first.asked.slot)
    assert (slot.holder, slot.n, slot.line) == ("run-0011", 12, ())


async def test_an_end_is_one_event_whoever_records_it(ledger: Ledger) -> None:
    """Eight writers end one run: one end, one release, one next turn."""
    first, second = await ask(ledger, 0), await ask(ledger, 1)
    await accept_message(ledger, PERSON, first.run_id, "m1", "later", later=True)

    await asyncio.gather(
        *(lose(ledger, first.run_id, f"workflow_{n}") for n in range(8)),
        *(accept_message_or_not(ledger, first.run_id, f"m{number}") for number in range(2, 8)),
    )

    ends = [f for f in await events_of(ledger, run_stream(first.run_id)) if isinstance(f, RunEnded)]
    assert len(ends) == 1
    assert (await read_slot(ledger, first.asked.slot)).holder == second.run_id
    await end_all(ledger, first.asked.slot)
    told = [
        fact
        for stream in await list_streams(ledger, "incoming")
        for fact in await events_of(ledger, stream)
        if isinstance(fact, MessageAccepted)
    ]
    texts = [
        item.text
        for stream in await list_streams(ledger, "run")
        if (begun := fold(await events_of(ledger, stream)).accepted) is not None
        for item in begun.request.items
    ]
    assert sorted(texts) == sorted(one.text for one in told)
    await check_everything(ledger)


async def accept_message_or_not(ledger: Ledger, run_id: str, submission: str) -> None:
    """Send for later; who comes after the end is told so."""
    accepting = accept_message(ledger, PERSON, run_id, submission, submission, later=True)
    (failed,) = await asyncio.gather(accepting, return_exceptions=True)
    assert not isinstance(failed, LegatoError) or failed.code == "run_closed"
    assert isinstance(failed, LegatoError | Accepted)
