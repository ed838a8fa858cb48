"""What Temporal hears of: one row for every type of event, and for each the run it concerns."""

from __future__ import annotations

from typing import get_args

import pytest

from domain.events import Event, Fact, RunHealed, RunReconciled, RunStuck
from domain.runs.hand_over import HAND_OVER, HANDED_OVER, Tell, comes_from_outside, concerned
from tests.support import facts as f

TYPES: tuple[type[Event], ...] = get_args(Fact)


def test_every_type_of_event_has_one_row() -> None:
    types = [str(one.model_fields["type"].default) for one in TYPES]

    assert sorted(HAND_OVER) == sorted(types)


def test_what_people_and_other_runs_decide_is_handed_over() -> None:
    assert set(HANDED_OVER) >= {
        "run.accepted",
        "message.accepted",
        "input.settled",
        "stop.requested",
    }
    assert [name for name in HANDED_OVER if HAND_OVER[name] is Tell.START] == ["run.accepted"]


@pytest.mark.parametrize(
    ("stream", "fact", "run_id"),
    [
        ("run/r1", f.accepted("r1"), "r1"),
        ("incoming/s", f.message("m", run_id="r2"), "r2"),
        ("run/r3", f.stopped(), "r3"),
        ("run/r4", f.answered(), "r4"),
    ],
)
def test_a_fact_that_is_handed_over_names_its_run(stream: str, fact: Fact, run_id: str) -> None:
    assert concerned(stream, fact) == run_id


def test_what_comes_from_outside_is_no_sign_that_a_run_goes_on() -> None:
    stuck = RunStuck(n=1, code="activity_failing", where="w", why="y", attempts=5)
    compared = RunReconciled(result="checked", digest="d", links=1, results=1)
    person = f.settled().model_copy(update={"by": "person"})
    outside = (f.stopped(), f.answered(), f.message("m"), stuck, compared, person)
    inside = (f.attached(), f.requested(), f.settled(), f.run_ended(), RunHealed(n=1))

    assert [comes_from_outside(fact) for fact in outside] == [True] * len(outside)
    assert [comes_from_outside(fact) for fact in inside] == [False] * len(inside)
