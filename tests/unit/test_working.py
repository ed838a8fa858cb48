"""Working time is the union of the times in which executions are known to have lived."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from domain.events import RunResumed, RunWaiting
from domain.runs.recorded import Recorded
from domain.runs.working import Work, vouch, work_of
from tests.support import facts
from tests.support.histories import PROPERTY

if TYPE_CHECKING:
    from domain.events import Fact

START = datetime(2026, 1, 1, tzinfo=UTC)


def event(fact: Fact, at: float, worked: float = 0.0) -> Recorded:
    """An event so many seconds after the start."""
    moment = START + timedelta(seconds=at)
    return Recorded(1, fact.type, moment, "agent:r", fact, worked)


def seconds(*events: Recorded) -> float:
    """How long a run has worked."""
    return work_of(events).seconds


def test_time_in_a_queue_and_between_executions_is_not_work() -> None:
    told = [event(facts.accepted("r"), 0), event(facts.attached(), 60, 0.2)]
    assert seconds(*told) == 0.2

    later = event(facts.turn_started(), 100, 0.1)
    assert round(seconds(*told, later), 6) == 0.3


def test_a_call_counts_from_its_beginning_whoever_recorded_something_meanwhile() -> None:
    told = [
        event(facts.accepted("r"), 0),
        event(facts.requested(), 10, 0.0),
        event(facts.stopped(), 15),
        event(facts.responded(), 40, 30.0),
    ]
    assert seconds(*told) == 30.0


def test_calls_that_run_at_once_count_once() -> None:
    told = [
        event(facts.accepted("r"), 0),
        event(facts.responded(calls=2), 0, 0.0),
        event(facts.settled(position=1), 6, 1.0),
        event(facts.settled(position=0), 10, 10.0),
    ]
    assert seconds(*told) == 10.0


def test_what_an_execution_did_before_its_worker_died_counts_to_its_last_event() -> None:
    told = [
        event(facts.accepted("r"), 0),
        event(facts.requested(), 5, 5.0),
        event(facts.requested(n=2), 3605, 0.5),
        event(facts.responded(n=2), 3615, 10.5),
    ]
    assert seconds(*told) == 15.5


def test_a_wait_never_counts_however_long_the_execution_claims_to_have_lived() -> None:
    told = [
        event(facts.accepted("r"), 0),
        event(facts.responded(calls=1), 10, 10.0),
        event(RunWaiting(n=1, on="input", ref="q"), 10, 0.0),
        event(facts.answered(), 500),
        event(RunResumed(n=1), 500, 0.0),
        event(facts.settled(), 501, 600.0),
    ]
    assert seconds(*told) == 11.0


@PROPERTY
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=12))
def test_it_is_the_union_of_all_executions_in_whatever_order_they_end(
    spans: list[tuple[int, int]],
) -> None:
    ends = sorted(((end, end - length) for end, length in spans), key=lambda span: span[0])
    work = vouch(Work(), START, 0.0)
    for end, begin in ends:
        work = vouch(work, START + timedelta(seconds=end), end - begin)
    lived = {second for end, begin in ends for second in range(max(0, begin), end)}

    assert work.seconds == len(lived)
