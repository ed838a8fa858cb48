"""Where a run's workflow stands, what it does next, and how each result moves it on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from domain.runs.shapes import count, shape_at
from domain.runs.steps import (
    BuildInput,
    BuildResult,
    CallInput,
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
    WaitOn,
    Written,
)

HEAD_SHOWN = 16
"""Characters of a head's hash that travel: enough to tell two events apart."""

TOO_LARGE = "context_too_large"
"""The end of a run whose conversation does not fit its model, however it is compacted."""

Phase = Literal["define", "step", "compact", "calls", "check", "wait", "close"]


@dataclass(frozen=True)
class Wait:
    """What a run waits for, and for how many seconds at most (0: the ledger knows).

    `why` is a code, `until` ISO 8601 in UTC, both "" where the ledger knows.
    """

    on: WaitOn
    ref: str
    seconds: float = 0.0
    why: str = ""
    until: str = ""


@dataclass(frozen=True)
class Position:
    """All that the workflow carries; everything else is in the ledger.

    `item` counts from 0, `turn` and `step` from 1 (0: none yet), `repair` the repair turns
    of the item so far, `waits` and `signals` what was begun and handed on so far,
    `version` and `head` the last event of the run's stream that was seen, and its hash.
    `spent_cost` is "" where it is not known, `budget` the figures of its limits.
    """

    phase: Phase = "define"
    items: tuple[ItemShape, ...] = ()
    item: int = 0
    turn: int = 0
    step: int = 0
    repair: int = 0
    groups: tuple[tuple[CallRef, ...], ...] = ()
    wait: Wait | None = None
    resume: Phase = "step"
    waits: int = 0
    signals: int = 0
    version: int = 0
    head: str = ""
    ending: Ending | None = None
    spent_tokens: int = 0
    spent_cost: str = "0"
    budget: str = ""


@dataclass(frozen=True)
class Waiting:
    """The next thing is to wait; `n` counts the run's waits."""

    n: int
    wait: Wait


@dataclass(frozen=True)
class RunGroup:
    """The next thing is to run these calls together."""

    calls: tuple[CallInput, ...]


Next: TypeAlias = (
    BuildInput | StepInput | CompactInput | RunGroup | CheckInput | Waiting | CloseInput
)


def next_step(run_id: str, at: Position) -> Next:
    """Tell what to do next; pure, total, and the only place that decides it."""
    match at.phase:
        case "define":
            return BuildInput(run_id)
        case "step":
            return StepInput(run_id, at.item, at.turn, at.step, at.version, at.head)
        case "compact":
            return CompactInput(run_id, at.turn, at.step, at.version, at.head)
        case "calls":
            return RunGroup(tuple(CallInput(run_id, c, at.version, at.head) for c in at.groups[0]))
        case "check":
            return CheckInput(run_id, at.item, at.repair, at.version, at.head)
        case "wait":
            return Waiting(at.waits, at.wait or Wait("input", ""))
        case "close":
            return CloseInput(run_id, at.ending or Ending("failed", "no_ending"))


def ended(at: Position, ending: Ending) -> Position:
    """Turn to the end; an ending that stands already is kept."""
    return replace(at, phase="close", wait=None, groups=(), ending=at.ending or ending)


def _begin_item(at: Position, item: int) -> Position:
    """Go to an item, or to the end after the last one."""
    if item >= count(at.items):
        return ended(at, Ending("completed", "done"))
    shape = shape_at(at.items, item)
    at = replace(at, item=item, repair=0, groups=())
    if shape.has_turn:
        return replace(at, phase="step", turn=at.turn + 1, step=1)
    return replace(at, phase="check")


def after_build(at: Position, result: BuildResult) -> Position:
    """Move on once the agent is built, or end where it cannot be."""
    if result.code != "ok":
        return ended(at, Ending("failed", result.code, result.message))
    return _begin_item(_seen(replace(at, items=result.items), result.written), 0)


def _seen(at: Position, written: Written) -> Position:
    """Remember how far an activity has seen the run's stream."""
    if written.last < at.version:
        return at
    return replace(at, version=written.last, head=written.head[:HEAD_SHOWN])


def after_step(at: Position, result: StepResult) -> Position:
    """Move on after a step."""
    at = replace(
        _seen(at, result.written),
        spent_tokens=max(at.spent_tokens, result.spent_tokens),
        spent_cost=result.spent_cost,
        budget=result.budget or at.budget,
    )
    match result.outcome:
        case "calls":
            return replace(at, phase="calls", groups=result.groups)
        case "again":
            return replace(at, phase="step", step=at.step + 1)
        case "capacity":
            return _to_wait(at, _for_capacity(at, result), "step")
        case "overflow":
            return replace(at, phase="compact")
        case "turn_completed":
            return _after_turn(at)
        case "stopped":
            return ended(at, Ending("stopped", result.code or "stop_requested"))
        case "over_budget":
            return ended(at, Ending("over_budget", result.code))
        case "failed":
            return ended(at, Ending("failed", result.code))


def after_compact(at: Position, result: CompactResult) -> Position:
    """Take the step again with the compacted conversation, or end where that cannot help."""
    at = replace(
        _seen(at, result.written),
        spent_tokens=max(at.spent_tokens, result.spent_tokens),
        spent_cost=result.spent_cost,
    )
    match result.outcome:
        case "compacted":
            return replace(at, phase="step")
        case "stopped":
            return ended(at, Ending("stopped", "stop_requested"))
        case "over_budget":
            return ended(at, Ending("over_budget", result.code))
        case "too_large":
            return ended(at, Ending("failed", TOO_LARGE))


def _for_capacity(at: Position, result: StepResult) -> Wait:
    seconds = max(1.0, result.retry_after)
    return Wait("capacity", f"{at.turn}.{at.step}", seconds, result.code, result.until)


def _after_turn(at: Position) -> Position:
    if shape_at(at.items, at.item).has_checks:
        return replace(at, phase="check")
    return _begin_item(at, at.item + 1)


def _to_wait(at: Position, wait: Wait, resume: Phase) -> Position:
    return replace(at, phase="wait", wait=wait, resume=resume, waits=at.waits + 1)


def after_group(at: Position, results: tuple[CallResult, ...]) -> Position:
    """Move on after a group ran: wait for what is not settled, else go to the next group."""
    for result in results:
        at = _seen(at, result.written)
    if any(result.outcome == "stopped" for result in results):
        return ended(at, Ending("stopped", "stop_requested"))
    for result in results:
        if result.outcome == "over_budget":
            return ended(at, Ending("over_budget", result.code))
    pairs = list(zip(at.groups[0], results, strict=True))
    left = tuple(call for call, result in pairs if result.outcome == "waiting")
    if left:
        first = next(result for _, result in pairs if result.outcome == "waiting")
        at = replace(at, groups=(left, *at.groups[1:]))
        return _to_wait(at, Wait(first.wait_on, first.ref), "calls")
    rest = at.groups[1:]
    if rest:
        return replace(at, phase="calls", groups=rest)
    return replace(at, phase="step", groups=(), step=at.step + 1)


def after_check(at: Position, result: CheckResult) -> Position:
    """Move on after checks: the next item, a repair turn, or a typed failure."""
    at = _seen(at, result.written)
    match result.outcome:
        case "passed":
            return _begin_item(at, at.item + 1)
        case "stopped":
            return ended(at, Ending("stopped", "stop_requested"))
        case "terminal":
            return ended(at, Ending("failed", "check_cannot_run"))
        case "over_budget":
            return ended(at, Ending("over_budget", result.code))
        case "failed":
            if at.repair >= shape_at(at.items, at.item).repairs:
                return ended(at, Ending("failed", "checks_failed"))
            return replace(at, phase="step", turn=at.turn + 1, step=1, repair=at.repair + 1)


def after_wait(at: Position) -> Position:
    """Go back to what the wait interrupted."""
    return replace(at, phase=at.resume, wait=None)
