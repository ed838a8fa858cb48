"""A run goes on from an ended one: its items, session and slot; or refused with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.agents.request import AgentRequest
from domain.errors import LegatoError
from domain.events import Decision, Entry, ItemCompleted
from domain.ids import incoming_stream, run_stream
from domain.runs.budget import Budget, Limits
from domain.runs.raising import Wanted
from domain.runs.sequence import Item
from ledger.accept import accept_message, accept_stop, load_run
from ledger.append import Part, append
from ledger.closing import closing_parts
from ledger.dispatch import Dispatched, Launch, dispatch
from ledger.encode import Author
from ledger.going_on import dispatch_resumed, resuming
from ledger.reads import read_head
from tests.support import facts

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ledger.connect import Ledger

RUN, OTHER = "11111111-aaaa", "22222222-bbbb"
STREAM = run_stream(RUN)
ANN = Author("person:ann", "person:ann", "cli", correlation=RUN)
ITEMS = tuple(Item(kind="message", name=name, text=f"do {name}") for name in ("a", "b", "c"))
REQUEST = AgentRequest(role="generic", items=ITEMS, budget=Budget(steps=5))


async def begin(ledger: Ledger, run_id: str = RUN) -> None:
    """Ask for a run of the one slot."""
    await dispatch(ledger, ANN, Launch(run_id, Entry.HAND, REQUEST, "home/t", scope="one"))


async def end(ledger: Ledger, done: int, status: str = "over_budget") -> None:
    """End the run after so many items, as its workflow does."""
    items = tuple(ItemCompleted(item=n) for n in range(done))
    await append(ledger, ANN, Part(STREAM, (facts.attached(), *items)))
    run, _ = await load_run(ledger, RUN)
    ended = facts.run_ended().model_copy(update={"status": status})
    assert run.accepted is not None
    read = (await read_head(ledger, incoming_stream(RUN))).version
    parts = await closing_parts(ledger, run, run.accepted, (ended,), None, read)
    await append(ledger, ANN, *parts)


async def resume(ledger: Ledger, wanted: Wanted | None = None, run_id: str = RUN) -> Dispatched:
    """Go on from the run."""
    launch = await resuming(ledger, run_id, wanted or Wanted(), Entry.HAND)
    return await dispatch_resumed(ledger, ANN, launch)


async def refusal(submitting: Awaitable[object]) -> LegatoError:
    """Give the error with which a command is refused; each names a next step."""
    with pytest.raises(LegatoError) as caught:
        await submitting
    assert caught.value.next
    return caught.value


async def test_it_begins_at_the_first_unfinished_item_of_the_same_session(ledger: Ledger) -> None:
    await begin(ledger)
    await end(ledger, 1)

    done = await resume(ledger, Wanted(more=Limits(steps=2), total=Limits(calls=9)))

    begun = done.accepted
    assert begun is not None
    assert (done.decision, begun.resumes, begun.session, begun.n) == ("started", RUN, RUN, 2)
    assert [item.name for item in begun.request.items] == ["b", "c"]
    assert begun.request.budget == Budget(steps=7, calls=9)


async def test_the_same_again_gives_the_first_result_and_other_content_is_refused(
    ledger: Ledger,
) -> None:
    await begin(ledger)
    await end(ledger, 1)
    first = await resume(ledger)

    again = await resume(ledger)
    other = await refusal(resume(ledger, Wanted(more=Limits(steps=1))))

    assert (again.run_id, again.version) == (first.run_id, first.version)
    assert other.code == "run_resumed"
    assert first.run_id in other.next


async def test_it_waits_in_line_where_the_slot_is_taken(ledger: Ledger) -> None:
    await begin(ledger)
    await begin(ledger, OTHER)
    await end(ledger, 1)

    done = await resume(ledger)

    assert (done.decision, done.holder) == (Decision.QUEUED, OTHER)


async def test_it_reads_the_messages_that_a_stopped_run_was_not_given(ledger: Ledger) -> None:
    await begin(ledger)
    await accept_message(ledger, ANN, RUN, "s1", "mind the gap", later=False)
    await accept_stop(ledger, ANN, RUN, "s2", "enough")
    await end(ledger, 0, "stopped")

    done = await resume(ledger)

    assert done.accepted is not None
    assert done.accepted.incoming == 0
    assert (await read_head(ledger, incoming_stream(done.accepted.session))).version == 1


async def test_an_open_run_and_one_without_unfinished_items_are_refused(ledger: Ledger) -> None:
    await begin(ledger)

    still = await refusal(resume(ledger))
    await end(ledger, 3, "completed")
    nothing = await refusal(resume(ledger))
    unknown = await refusal(resume(ledger, run_id=OTHER))

    codes = (still.code, nothing.code, unknown.code)
    assert codes == ("run_open", "run_has_nothing_left", "run_not_found")


async def test_more_of_a_limit_that_was_never_set_is_refused(ledger: Ledger) -> None:
    await begin(ledger)
    await end(ledger, 1)

    error = await refusal(resume(ledger, Wanted(more=Limits(tokens=100))))

    assert error.code == "budget_refused"
    assert "limit_not_set" in error.message
