"""A run folded from its facts keeps to its table, whatever facts there are and in what order."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from domain.events import RunEnded
from domain.runs.legal import illegal_step
from domain.runs.run import (
    OPEN,
    TERMINAL,
    TRANSITIONS,
    Run,
    Status,
    evolve,
    fold,
    open_inputs,
)
from tests.support import facts
from tests.support.histories import ANY_FACTS, PROPERTY, runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from domain.events import Fact

HISTORIES = runs() | ANY_FACTS


def steps(told: Sequence[Fact]) -> Iterator[tuple[Run, Fact, Run]]:
    """Each fact with the run before and after it."""
    run = Run()
    for fact in told:
        after = evolve(run, fact)
        yield run, fact, after
        run = after


@PROPERTY
@given(HISTORIES)
def test_a_run_never_leaves_the_transition_table(told: list[Fact]) -> None:
    """What moves it stands in the table; what does not stand there moves nothing."""
    for before, fact, after in steps(told):
        row = TRANSITIONS.get((before.status, fact.type))
        if row is None:
            assert after.status is before.status
        elif isinstance(fact, RunEnded):
            assert after.status is Status(fact.status)
        else:
            assert after.status is row


@PROPERTY
@given(HISTORIES)
def test_a_terminal_state_is_final(told: list[Fact]) -> None:
    """Nothing that comes after the end changes it."""
    for before, _, after in steps(told):
        if before.status in TERMINAL:
            assert after.status is before.status
            assert after.ended is not None


@PROPERTY
@given(HISTORIES, st.integers(0, 40))
def test_a_fold_can_be_taken_up_anywhere(told: list[Fact], cut: int) -> None:
    """A prefix and the rest give what all give."""
    assert fold(told[cut:], fold(told[:cut])) == fold(told)


@PROPERTY
@given(HISTORIES)
def test_what_was_spent_becomes_less_only_where_a_guess_makes_way_for_the_truth(
    told: list[Fact],
) -> None:
    """Steps, calls, tokens, money, and the count of unknown costs."""
    for before, _, after in steps(told):
        was, now = before.spent, after.spent
        assert now.steps >= was.steps
        assert now.calls >= was.calls
        if len(after.account.guessed) < len(before.account.guessed):
            continue
        assert now.tokens >= was.tokens
        assert Decimal(now.cost) >= Decimal(was.cost)
        assert now.cost_unknown >= was.cost_unknown


@PROPERTY
@given(HISTORIES)
def test_a_fold_counts_every_fact_and_what_it_counts_only_grows(told: list[Fact]) -> None:
    """The version is the number of facts; items done and answered steps only grow."""
    for before, _, after in steps(told):
        assert after.version == before.version + 1
        assert after.items_done >= before.items_done
        assert after.ordinal >= before.ordinal
        assert len(after.inputs) >= len(before.inputs)


@PROPERTY
@given(runs())
def test_what_the_engine_writes_is_legal(told: list[Fact]) -> None:
    """However it was cut short, and with what came late."""
    assert illegal_step("run/r", told) is None


@PROPERTY
@given(runs())
def test_a_settled_question_is_open_no_more(told: list[Fact]) -> None:
    """And one that was never settled is."""
    run = fold(told)
    settled = {state.asked.input_id for state in run.inputs if state.settled is not None}
    asked = {state.asked.input_id for state in run.inputs}

    assert len(open_inputs(run)) == len(asked - settled)


def test_every_open_state_can_end_and_no_terminal_one_moves() -> None:
    """The table itself: complete where it must be, silent where it must be."""
    sources = {status for status, _ in TRANSITIONS}

    assert sources == OPEN
    assert all((status, "run.ended") in TRANSITIONS for status in OPEN)
    assert frozenset(Status) == OPEN | TERMINAL
    assert not OPEN & TERMINAL


def test_an_illegal_step_is_found_at_its_version() -> None:
    """The first one counts."""
    told = [*facts.short_run("r"), facts.settled(), facts.stopped(), facts.attached(2)]

    assert illegal_step("run/r", told) == (14, "stop.requested stands after run.ended")
    assert illegal_step("run/other", told) == (1, "run.accepted is of another run, r")
    assert illegal_step("run/r", told[:1] * 2) == (
        2,
        "run.accepted stands where a run has begun already",
    )
