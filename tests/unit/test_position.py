"""Wherever a run's workflow can come to, it goes forward and it ends."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from hypothesis import given
from hypothesis import strategies as st

from domain.runs.position import (
    Position,
    RunGroup,
    Waiting,
    after_build,
    after_check,
    after_compact,
    after_group,
    after_step,
    after_wait,
    ended,
    next_step,
)
from domain.runs.sequence import MOST_REPAIRS
from domain.runs.steps import (
    BuildInput,
    BuildResult,
    CallRef,
    CallResult,
    CheckInput,
    CheckResult,
    CloseInput,
    CompactInput,
    CompactResult,
    Ending,
    ItemShape,
    StepInput,
    StepResult,
    Written,
)
from tests.support.histories import PROPERTY

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

RUN = "r"
SHAPES = st.builds(
    ItemShape,
    name=st.just("item"),
    has_turn=st.booleans(),
    has_checks=st.booleans(),
    repairs=st.integers(0, MOST_REPAIRS),
).filter(lambda shape: shape.has_turn or shape.has_checks)
WRITTEN = st.builds(Written, last=st.integers(0, 50))
BUILDS = st.builds(
    BuildResult,
    code=st.sampled_from(["ok", "ok", "ok", "definition_refused"]),
    items=st.lists(SHAPES, max_size=3).map(tuple),
    written=WRITTEN,
)
CHECKS = st.builds(
    CheckResult,
    outcome=st.sampled_from(["passed", "failed", "failed", "terminal"]),
    written=WRITTEN,
)
COMPACTED = st.builds(
    CompactResult,
    outcome=st.sampled_from(["compacted", "compacted", "too_large"]),
    written=WRITTEN,
)
Took = Literal[
    "calls", "again", "turn_completed", "capacity", "overflow", "stopped", "over_budget", "failed"
]
GOES_ON: tuple[Took, ...] = ("calls", "again", "turn_completed", "capacity", "overflow")
ENDS_RUN: tuple[Took, ...] = ("stopped", "over_budget", "failed")
STOPPED = Ending("stopped", "stop_requested")


@st.composite
def group_lists(draw: DrawFn, at: Position) -> tuple[tuple[CallRef, ...], ...]:
    """What a step leaves to run: groups of calls, none empty."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    positions = iter(range(9))
    return tuple(
        tuple(CallRef(at.turn, at.step, next(positions), "tool", 10.0) for _ in range(size))
        for size in sizes
    )


@st.composite
def step_results(draw: DrawFn, at: Position) -> StepResult:
    """Every outcome of a step; the run goes on more often than it ends."""
    ends = draw(st.integers(0, 9)) == 0
    outcome = draw(st.sampled_from(ENDS_RUN if ends else GOES_ON))
    groups = draw(group_lists(at)) if outcome == "calls" else ()
    retry = draw(st.sampled_from([0.0, 30.0]))
    return StepResult(outcome, "code", groups, retry, written=draw(WRITTEN))


def call_results(count: int) -> st.SearchStrategy[tuple[CallResult, ...]]:
    """Every mixture of settled and waiting calls."""
    outcomes = st.sampled_from(["settled", "settled", "waiting"])
    one = st.builds(CallResult, outcome=outcomes, ref=st.just("q"), written=WRITTEN)
    return st.lists(one, min_size=count, max_size=count).map(tuple)


def moved(draw: DrawFn, at: Position) -> Position:
    """Do the next thing, whatever it comes to."""
    step = next_step(RUN, at)
    match step:
        case BuildInput():
            return after_build(at, draw(BUILDS))
        case StepInput():
            return after_step(at, draw(step_results(at)))
        case CompactInput():
            return after_compact(at, draw(COMPACTED))
        case RunGroup():
            return after_group(at, draw(call_results(len(step.calls))))
        case CheckInput():
            return after_check(at, draw(CHECKS))
        case Waiting():
            return after_wait(at)
        case CloseInput():
            return at


@st.composite
def walks(draw: DrawFn) -> list[Position]:
    """A run's positions from its beginning, up to 25 moves or its end."""
    walked = [Position()]
    for _ in range(draw(st.integers(0, 25))):
        if walked[-1].phase == "close":
            break
        walked.append(moved(draw, walked[-1]))
    return walked


def stopped(at: Position) -> Position:
    """What a stop makes of a position: by the activity that sees it, or by the workflow."""
    step = next_step(RUN, at)
    match step:
        case StepInput():
            return after_step(at, StepResult("stopped", "stop_requested"))
        case RunGroup():
            results = tuple(CallResult("settled") for _ in step.calls[1:])
            return after_group(at, (*results, CallResult("stopped")))
        case CheckInput():
            return after_check(at, CheckResult("stopped"))
        case CompactInput():
            return after_compact(at, CompactResult("stopped"))
        case BuildInput() | Waiting() | CloseInput():
            return ended(at, STOPPED)


def gone_well(at: Position) -> Position:
    """Do the next thing, and it goes well."""
    step = next_step(RUN, at)
    match step:
        case BuildInput():
            return after_build(at, BuildResult("ok", (ItemShape("only", True, True, 1),)))  # noqa: FBT003 - the shape's own fields
        case StepInput():
            return after_step(at, StepResult("turn_completed"))
        case CompactInput():
            return after_compact(at, CompactResult("compacted"))
        case RunGroup():
            return after_group(at, tuple(CallResult("settled") for _ in step.calls))
        case CheckInput():
            return after_check(at, CheckResult("passed"))
        case Waiting():
            return after_wait(at)
        case CloseInput():
            return at


@PROPERTY
@given(walks())
def test_from_anywhere_a_run_ends_once_things_go_well(walked: list[Position]) -> None:
    """In no more moves than there are groups, items and their checks left, and a compaction."""
    at = walked[-1]
    most = 4 + len(at.groups) + 2 * max(1, len(at.items))
    for _ in range(most):
        at = gone_well(at)

    assert at.phase == "close"
    assert at.ending is not None
    assert at.ending == walked[-1].ending or at.ending.status == "completed"
    assert isinstance(next_step(RUN, at), CloseInput)


@PROPERTY
@given(walks())
def test_a_stop_leads_to_the_end_from_anywhere(walked: list[Position]) -> None:
    """Nothing is left to run or to wait for; an ending that stood already is kept."""
    at = walked[-1]
    end = stopped(at)

    assert (end.phase, end.groups, end.wait) == ("close", (), None)
    assert end.ending == (at.ending or STOPPED)
    assert gone_well(end) == end


@PROPERTY
@given(walks())
def test_numbers_never_go_back(walked: list[Position]) -> None:
    """Items, turns, steps, waits and the version seen; a new turn begins at step 1."""
    for before, after in pairwise(walked):
        assert (after.item, after.turn, after.step) >= (before.item, before.turn, before.step)
        assert after.turn - before.turn in {0, 1}
        assert after.turn == before.turn or after.step == 1
        assert after.waits >= before.waits
        assert after.version >= before.version
        assert after.spent_tokens >= before.spent_tokens


@PROPERTY
@given(walks())
def test_a_step_is_taken_again_only_after_a_wait_or_a_compaction(walked: list[Position]) -> None:
    """So no coordinates are used for two responses, and no check attempt for two checks."""
    asked: list[tuple[int, int]] = []
    checked: list[tuple[int, int]] = []
    for before, at in pairwise(walked):
        step = next_step(RUN, at)
        if isinstance(step, StepInput) and before.phase not in {"wait", "compact"}:
            asked.append((step.turn, step.step))
        if isinstance(step, CheckInput):
            checked.append((step.item, step.attempt))

    assert len(set(asked)) == len(asked)
    assert len(set(checked)) == len(checked)


@PROPERTY
@given(walks())
def test_repairs_never_exceed_the_items_limit(walked: list[Position]) -> None:
    """And an item begins with none."""
    for before, at in pairwise(walked):
        if at.items:
            assert 0 <= at.repair <= at.items[at.item].repairs
        assert at.item == before.item or at.repair == 0


@PROPERTY
@given(walks())
def test_a_step_or_check_belongs_to_an_item_that_has_it(walked: list[Position]) -> None:
    """A first turn only where the item has one; checks only where it has some."""
    for at in walked:
        step = next_step(RUN, at)
        if isinstance(step, StepInput):
            assert at.items[at.item].has_turn or at.repair
            assert min(step.turn, step.step) >= 1
        if isinstance(step, CheckInput):
            assert at.items[at.item].has_checks


@PROPERTY
@given(walks())
def test_a_wait_goes_back_to_what_it_interrupted(walked: list[Position]) -> None:
    """The calls that were not settled, or the same step."""
    for before, at in pairwise(walked):
        if at.phase == "wait":
            back = after_wait(at)
            assert back.phase == before.phase
            assert (back.turn, back.step) == (before.turn, before.step)
            assert set(sum(back.groups, ())) <= set(sum(before.groups, ()))


def test_a_sequence_without_items_is_done_at_once() -> None:
    """There is nothing to do, and that is said."""
    at = after_build(Position(), BuildResult("ok"))

    assert at.ending == Ending("completed", "done")
    assert next_step(RUN, at) == CloseInput(RUN, Ending("completed", "done"))


def test_failing_checks_end_the_run_after_the_last_repair() -> None:
    """Each repair is a turn of its own."""
    at = after_build(Position(), BuildResult("ok", (ItemShape("only", True, True, 2),)))  # noqa: FBT003 - the shape's own fields
    turns: list[int] = []
    while at.phase != "close":
        turns.append(at.turn)
        at = after_check(after_step(at, StepResult("turn_completed")), CheckResult("failed"))

    assert turns == [1, 2, 3]
    assert at.ending == Ending("failed", "checks_failed")
    assert ended(at, STOPPED) == replace(at, wait=None)
