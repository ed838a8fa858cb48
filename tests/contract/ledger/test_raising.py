"""A run's budget is raised: accepted once, on what the run says then, or refused with advice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.agents.request import AgentRequest
from domain.budget_events import BudgetSpent
from domain.errors import LegatoError
from domain.events import BudgetRaised, Entry
from domain.ids import run_stream
from domain.runs.budget import Budget, Limits
from domain.runs.raising import Wanted
from ledger.accept import accept_stop, load_run
from ledger.append import Part, append
from ledger.dispatch import Launch, dispatch
from ledger.encode import Author
from ledger.raising import accept_raise
from ledger.reads import read_head
from tests.support import facts
from tests.support.ledger import events_of, put

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from ledger.connect import Ledger

RUN = "11111111-aaaa"
STREAM = run_stream(RUN)
ANN = Author("person:ann", "person:ann", "cli", correlation=RUN)
BUDGET = Budget(steps=5, cost="1.50", soft=Limits(steps=3))


@pytest.fixture
async def run(ledger: Ledger) -> Ledger:
    """A ledger with a run of 5 steps and $1.50."""
    await begin(ledger, RUN)
    await put(ledger, STREAM, facts.attached())
    return ledger


async def begin(ledger: Ledger, run_id: str, scope: str = "one") -> None:
    """Ask for a run of the one slot."""
    request = AgentRequest(role="generic", message="go", budget=BUDGET)
    await dispatch(ledger, ANN, Launch(run_id, Entry.HAND, request, "home/t", scope=scope))


def more(**limits: object) -> Wanted:
    """Ask for more of some limits."""
    return Wanted(more=Limits.model_validate(limits))


def total(**limits: object) -> Wanted:
    """Ask for limits as they shall be."""
    return Wanted(total=Limits.model_validate(limits))


async def refusal(submitting: Awaitable[object]) -> LegatoError:
    """Give the error with which a submission is refused; each names a next step."""
    with pytest.raises(LegatoError) as caught:
        await submitting
    assert caught.value.next
    return caught.value


async def test_a_limit_is_raised_by_so_much_or_to_so_much(run: Ledger) -> None:
    """Its soft limit moves with it, and the event says what was added."""
    first = await accept_raise(run, ANN, RUN, "s1", more(steps=2))
    second = await accept_raise(run, ANN, RUN, "s2", total(steps=10, cost="2"))

    assert first.run.budget == Budget(steps=7, cost="1.50", soft=Limits(steps=5))
    assert second.run.budget == Budget(steps=10, cost="2.00", soft=Limits(steps=8))
    raised = [fact for fact in await events_of(run, STREAM) if isinstance(fact, BudgetRaised)]
    assert [one.added for one in raised] == [Limits(steps=2), Limits(steps=3, cost="0.50")]
    assert (await load_run(run, RUN))[0].budget == second.run.budget


async def test_a_repeated_submission_gives_the_first_result_even_after_the_end(
    run: Ledger,
) -> None:
    """Also one that named the limit as it shall be; other content is refused."""
    first = await accept_raise(run, ANN, RUN, "s1", total(steps=9))
    await put(run, STREAM, facts.run_ended())

    again = await accept_raise(run, ANN, RUN, "s1", total(steps=9))
    other = await refusal(accept_raise(run, ANN, RUN, "s1", total(steps=8)))

    assert (again.event, again.version) == (first.event, first.version)
    assert other.code == "idempotency_mismatch"


async def test_everything_wrong_with_what_is_asked_is_told_at_once(run: Ledger) -> None:
    """A limit that is not there, one that would be lower, none at all: nothing is appended."""
    before = (await read_head(run, STREAM)).version

    wrong = await refusal(accept_raise(run, ANN, RUN, "s1", total(steps=2, tokens=9, cost="1.5")))
    nothing = await refusal(accept_raise(run, ANN, RUN, "s1", Wanted()))

    assert (wrong.code, nothing.code) == ("budget_refused", "budget_refused")
    codes = [str(one).split(":")[0] for one in wrong.details["problems"]]  # type: ignore[attr-defined]
    assert codes == ["limit_not_raised", "limit_not_set", "limit_not_raised"]
    assert (await read_head(run, STREAM)).version == before


@pytest.mark.parametrize("how", ["ended", "stopped", "spent"])
async def test_a_run_that_spends_nothing_more_is_refused(run: Ledger, how: str) -> None:
    """It has ended, or is being ended: what is added would change nothing."""
    if how == "ended":
        await put(run, STREAM, facts.run_ended())
    elif how == "stopped":
        await accept_stop(run, ANN, RUN, "s0", "enough")
    else:
        over = BudgetSpent(reason="budget_steps", limit="steps", spent="5", hard="5")
        await append(run, ANN, Part(STREAM, (over,)))

    error = await refusal(accept_raise(run, ANN, RUN, "s1", more(steps=2)))

    assert error.code == "run_closed"
    assert RUN in error.message


async def test_a_run_that_waits_in_line_is_refused(run: Ledger) -> None:
    """It has spent nothing of what it has."""
    await begin(run, "22222222-bbbb")

    error = await refusal(accept_raise(run, ANN, "22222222-bbbb", "s1", more(steps=2)))

    assert error.code == "run_not_begun"
