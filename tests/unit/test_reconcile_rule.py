"""What is done where the ledger and Temporal differ about a run, case by case."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from domain.budget_events import BudgetSpent
from domain.events import RunHealed, RunStuck
from domain.runs.overview import overview
from domain.runs.reconcile import (
    Action,
    End,
    Heal,
    Leave,
    Look,
    Restart,
    Seen,
    Start,
    Stick,
    Terminate,
    Trouble,
    action_for,
    way_out,
)
from domain.runs.run import fold
from tests.support import facts as f
from tests.support.recorded import recorded

if TYPE_CHECKING:
    from domain.events import Fact
    from domain.watch_events import StuckCode

GRACE, OLD, YOUNG = timedelta(seconds=60), timedelta(hours=1), timedelta(seconds=30)
FRESH: tuple[Fact, ...] = (f.accepted("r"),)
BEGUN: tuple[Fact, ...] = (*FRESH, f.attached(1))
RESET: tuple[Fact, ...] = (*BEGUN, f.attached(2))
TROUBLE = Trouble("workflow_task_failing", "workflow task at event 4", "it differs", 5)
STUCK = RunStuck(
    n=1, code=TROUBLE.code, where=TROUBLE.where, why=TROUBLE.why, attempts=TROUBLE.attempts
)
SPENT: tuple[Fact, ...] = (
    *BEGUN,
    BudgetSpent(reason="budget_seconds", limit="seconds", spent="3.1", hard="3"),
)
OTHER = Trouble("activity_failing", "activity take_step", "timeout", 9)

CASES: list[tuple[tuple[Fact, ...], Seen, timedelta, Action]] = [
    (FRESH, Seen("absent"), YOUNG, Leave()),
    (FRESH, Seen("absent"), OLD, Start()),
    ((*FRESH, f.stopped()), Seen("absent"), OLD, End("workflow_gone")),
    ((*FRESH, STUCK), Seen("absent"), OLD, Start()),
    (BEGUN, Seen("open", "temporal-1"), OLD, Leave()),
    (BEGUN, Seen("open", "a reset one"), OLD, Leave()),
    (BEGUN, Seen("open", "temporal-1", version=2), OLD, Leave()),
    (BEGUN, Seen("open", "temporal-1", version=1), OLD, Look()),
    ((*BEGUN, f.stopped()), Seen("open", "temporal-1", version=2), OLD, Look()),
    ((*BEGUN, f.stopped()), Seen("open", "temporal-1", version=9), OLD, Look()),
    (BEGUN, Seen("absent"), OLD, Restart()),
    (SPENT, Seen("open", "temporal-1"), OLD, Leave()),
    (SPENT, Seen("absent"), OLD, Restart()),
    (SPENT, Seen("failed", "temporal-1"), OLD, End("workflow_failed")),
    ((*BEGUN, f.stopped()), Seen("absent"), OLD, End("workflow_gone")),
    (BEGUN, Seen("terminated", "temporal-1", version=2), OLD, End("workflow_terminated")),
    (BEGUN, Seen("timed_out", "temporal-1"), OLD, End("workflow_timed_out")),
    (BEGUN, Seen("failed", "temporal-1"), OLD, End("workflow_failed")),
    (BEGUN, Seen("terminated", "a reset one"), OLD, End("workflow_terminated")),
    (RESET, Seen("open", "temporal-1"), OLD, Restart("temporal-1")),
    (RESET, Seen("terminated", "temporal-1"), OLD, Restart()),
    ((*RESET, f.stopped()), Seen("open", "temporal-1"), OLD, Terminate("stop_not_obeyed")),
    ((*RESET, f.stopped()), Seen("terminated", "temporal-1"), OLD, End("workflow_terminated")),
    (BEGUN, Seen("open", "temporal-1", TROUBLE), OLD, Stick(TROUBLE)),
    ((*BEGUN, STUCK), Seen("open", "temporal-1", TROUBLE), OLD, Leave()),
    ((*BEGUN, STUCK), Seen("open", "temporal-1", OTHER), OLD, Stick(OTHER)),
    ((*BEGUN, STUCK), Seen("open", "temporal-1"), OLD, Heal()),
    (
        (*BEGUN, STUCK, f.stopped()),
        Seen("open", "temporal-1", TROUBLE),
        OLD,
        Terminate("stop_not_obeyed"),
    ),
]


@pytest.mark.parametrize(("facts", "seen", "since", "action"), CASES)
def test_the_rule_decides_each_case(
    facts: tuple[Fact, ...], seen: Seen, since: timedelta, action: Action
) -> None:
    assert action_for(fold(facts), seen, since, GRACE) == action


@pytest.mark.parametrize(
    "seen",
    [
        Seen("completed", "temporal-1"),
        Seen("terminated", "temporal-1", version=30),
        Seen("open", "temporal-1", version=30),
    ],
)
def test_what_temporal_has_seen_and_the_ledger_does_not_hold_ends_no_run(seen: Seen) -> None:
    action = action_for(fold(BEGUN), seen, OLD, GRACE)

    assert isinstance(action, Stick)
    assert action.trouble.code == "ledger_behind"
    assert "the ledger holds 2 events" in action.trouble.why


def test_a_person_may_end_even_a_run_that_the_ledger_has_forgotten_half() -> None:
    run = fold((*BEGUN, f.stopped()))

    assert action_for(run, Seen("completed", "temporal-1"), OLD, GRACE) == End("workflow_completed")


def test_a_run_is_stuck_until_it_is_healed_or_goes_on() -> None:
    assert fold((*BEGUN, STUCK)).stuck == STUCK
    assert fold((*BEGUN, STUCK, f.stopped())).stuck == STUCK
    assert fold((*BEGUN, STUCK, RunHealed(n=1))).stuck is None
    assert fold((*BEGUN, STUCK, f.defined())).stuck is None
    assert fold((*BEGUN, STUCK, RunHealed(n=1))).stucks == 1


@pytest.mark.parametrize(
    "code", ["workflow_task_failing", "activity_failing", "start_refused", "ledger_behind"]
)
def test_a_stuck_run_is_shown_with_where_why_and_what_to_do(code: StuckCode) -> None:
    seen = overview(recorded(*BEGUN, STUCK.model_copy(update={"code": code})))

    assert seen is not None
    shown = seen.flat()
    assert (shown["stuck"], shown["stuck_where"], shown["stuck_why"]) == (
        code,
        STUCK.where,
        STUCK.why,
    )
    assert shown["stuck_next"] == way_out(code, "r")
    assert "`legato stop r`" in str(shown["stuck_next"])
    assert shown["status"] == "running"
    assert STUCK.where in str(shown["doing"])
