"""A run folded from its facts: states, the transition table, and `evolve`."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from domain.events import (
    BudgetRaised,
    BudgetSpent,
    BudgetWarned,
    CallIntended,
    CallSettled,
    CallUnknown,
    CheckCompleted,
    ContextCompacted,
    Fact,
    InputAsked,
    InputSettled,
    ItemCompleted,
    ModelDiscarded,
    ModelFailed,
    ModelLost,
    ModelRequested,
    ModelResponded,
    RunAccepted,
    RunAttached,
    RunDefined,
    RunEnded,
    RunHealed,
    RunJoined,
    RunQueued,
    RunRefused,
    RunResumed,
    RunStuck,
    RunWaiting,
    StopRequested,
    SummaryRequested,
    SummarySettled,
    TurnCompleted,
    TurnStarted,
)
from domain.replace import replace
from domain.runs.account import Account, Held, Place, fail, give_up, reserve, settle
from domain.runs.budget import Budget, Spent, raised
from domain.runs.conversation import CallRequest
from domain.runs.hand_over import comes_from_outside
from domain.runs.inputs import InputKind
from domain.runs.malformed import counted
from domain.tools.results import Outcome, Tag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.runs.inputs import Question


SLOT = "slot"
"""What a run waits for that stands in its slot's line."""


class Status(StrEnum):
    """Every state of a run."""

    QUEUED = "queued"
    RUNNING = "running"
    WAITING = "waiting"
    STOPPING = "stopping"
    COMPLETED = "completed"
    FAILED = "failed"
    STOPPED = "stopped"
    EXPIRED = "expired"
    OVER_BUDGET = "over_budget"
    SUPERSEDED = "superseded"
    INTERRUPTED = "interrupted"
    ESCALATED = "escalated"
    LOST = "lost"


OPEN = frozenset({Status.QUEUED, Status.RUNNING, Status.WAITING, Status.STOPPING})
TERMINAL = frozenset(Status) - OPEN

OUT_OF_CALLS = "budget_calls"
"""The code of a call that was not run for want of budget."""

TRANSITIONS: dict[tuple[Status, str], Status] = {
    (Status.QUEUED, "run.attached"): Status.RUNNING,
    (Status.QUEUED, "stop.requested"): Status.STOPPING,
    (Status.RUNNING, "run.waiting"): Status.WAITING,
    (Status.RUNNING, "stop.requested"): Status.STOPPING,
    (Status.RUNNING, "budget.spent"): Status.STOPPING,
    (Status.WAITING, "run.resumed"): Status.RUNNING,
    (Status.WAITING, "stop.requested"): Status.STOPPING,
    (Status.WAITING, "budget.spent"): Status.STOPPING,
    **{(status, "run.ended"): Status.COMPLETED for status in OPEN},
}
"""What moves a run; `run.ended` moves it to the state that the event names."""

MOVING = frozenset(type_name for _, type_name in TRANSITIONS)
"""The types of events that can move a run."""


@dataclass(frozen=True)
class CallState:
    """One call of the current step: who means to run it, and what it came to.

    `asks` tells that it put a question to a person and has no effect of its own, `counted`
    that it was begun, or ended, and counts as spent.
    """

    request: CallRequest
    round: int = 0
    owner: str = ""
    tool: str = ""
    unknown: bool = False
    asks: bool = False
    counted: bool = False
    outcome: Outcome | None = None


@dataclass(frozen=True)
class StepState:
    """The step that is being taken: its open request, its response and its calls.

    `failures` counts its requests that came to nothing since it last waited for capacity,
    `waits` those waits, `waited` their seconds in all.
    """

    turn: int
    step: int
    requested: tuple[ModelRequested, ...] = ()
    open: ModelRequested | None = None
    answered: ModelResponded | None = None
    failed: ModelFailed | None = None
    failures: int = 0
    waits: int = 0
    waited: float = 0.0
    calls: tuple[CallState, ...] = ()

    def asked(self) -> ModelRequested | None:
        """Give the request that the response answers: what it pinned still holds."""
        n = self.answered.n if self.answered is not None else 0
        return next((request for request in self.requested if request.n == n), None)


@dataclass(frozen=True)
class InputState:
    """A question that is open or settled."""

    asked: InputAsked
    settled: InputSettled | None = None


@dataclass(frozen=True)
class Run:
    """A run as its facts tell it: the present in detail, the past as sums.

    `queued` is how it came to wait for its slot, None where it never did; `incoming` is the
    position read in the session's incoming stream, `ordinal` the count of
    answered model steps, `asked` the model that was asked last, `fell_back` the turn in which
    the other one was asked last, `malformed` the steps in a row whose calls were none,
    `unknown` the calls whose effect nobody can tell, `stuck` what keeps it from going
    on, `stucks` how often that was found. `budget` is what it may spend with all that was
    added, `account` what it has spent, `turned_away` the count of calls that were not run for
    want of budget since that was last raised.
    """

    version: int = 0
    status: Status = Status.QUEUED
    accepted: RunAccepted | None = None
    queued: RunQueued | None = None
    joined: tuple[RunJoined, ...] = ()
    defined: RunDefined | None = None
    refused: RunRefused | None = None
    temporal_runs: tuple[str, ...] = ()
    turn: TurnStarted | None = None
    turns_done: int = 0
    step: StepState | None = None
    ordinal: int = 0
    incoming: int = 0
    budget: Budget = Budget()
    account: Account = field(default_factory=Account)
    turned_away: int = 0
    warned: tuple[BudgetWarned, ...] = ()
    raises: int = 0
    over: BudgetSpent | None = None
    inputs: tuple[InputState, ...] = ()
    unknown: tuple[CallUnknown, ...] = ()
    waiting: RunWaiting | None = None
    waits: int = 0
    stop: StopRequested | None = None
    check: CheckCompleted | None = None
    compacted: ContextCompacted | None = None
    asked: str = ""
    fell_back: int = 0
    malformed: int = 0
    items_done: int = 0
    stuck: RunStuck | None = None
    stucks: int = 0
    ended: RunEnded | None = None

    @property
    def asked_for(self) -> RunAccepted | RunQueued | None:
        """What it is asked to be, whether or not its turn has come."""
        return self.accepted or self.queued

    @property
    def never_held(self) -> bool:
        """Tell whether it ended without having held its slot."""
        return self.accepted is None and self.ended is not None

    @property
    def in_line(self) -> bool:
        """Tell whether it waits until its slot is free."""
        return self.accepted is None and self.queued is not None and self.ended is None

    @property
    def spent(self) -> Spent:
        """Give what it has spent, working time aside."""
        return self.account.spent

    @property
    def halted(self) -> str:
        """Say why nothing more may be begun: "stopped", "over_budget", or "" where it may."""
        if self.stop is not None:
            return "stopped"
        return "over_budget" if self.over is not None else ""


def moved(status: str, type_name: str, named: str = "") -> Status:
    """Tell where an event of a type moves a run; `named` is the state that `run.ended` names."""
    at = Status(status)
    if type_name == "run.ended" and at in OPEN:
        return Status(named)
    return TRANSITIONS.get((at, type_name), at)


def next_status(run: Run, fact: Fact) -> Status:
    """Look a fact up in the transition table; what stands not in it moves nothing."""
    return moved(run.status, fact.type, fact.status if isinstance(fact, RunEnded) else "")


def evolve(run: Run, fact: Fact) -> Run:
    """Apply one fact; a fact that does not concern the run's state changes its version only."""
    stuck = run.stuck if comes_from_outside(fact) else None
    run = replace(run, version=run.version + 1, status=next_status(run, fact), stuck=stuck)
    match fact:
        case RunAccepted():
            return replace(run, accepted=fact, incoming=fact.incoming, budget=fact.request.budget)
        case RunQueued() | RunJoined():
            return _evolve_in_line(run, fact)
        case RunAttached():
            return replace(run, temporal_runs=(*run.temporal_runs, fact.temporal_run))
        case RunDefined():
            return replace(run, defined=fact)
        case RunRefused():
            return replace(run, refused=fact)
        case RunWaiting() | RunResumed() | RunStuck() | RunHealed():
            return _evolve_standing(run, fact)
        case StopRequested():
            return replace(run, stop=run.stop or fact)
        case CheckCompleted():
            return replace(run, check=fact)
        case SummaryRequested() | SummarySettled() | ContextCompacted():
            return _evolve_summary(run, fact)
        case ItemCompleted():
            return replace(run, items_done=max(run.items_done, fact.item + 1))
        case RunEnded():
            return replace(run, ended=fact, waiting=None)
        case _:
            return _evolve_turn(run, fact)


def _evolve_in_line(run: Run, fact: RunQueued | RunJoined) -> Run:
    if isinstance(fact, RunQueued):
        return replace(run, queued=fact, incoming=fact.incoming, budget=fact.request.budget)
    return replace(run, joined=(*run.joined, fact))


def _evolve_standing(run: Run, fact: RunWaiting | RunResumed | RunStuck | RunHealed) -> Run:
    """Apply what says whether the run goes on; `evolve` has taken back that it is stuck."""
    match fact:
        case RunWaiting():
            return replace(run, waiting=fact, waits=fact.n)
        case RunResumed():
            return replace(run, waiting=None)
        case RunStuck():
            return replace(run, stuck=fact, stucks=fact.n)
        case RunHealed():
            return run


def _evolve_summary(run: Run, fact: SummaryRequested | SummarySettled | ContextCompacted) -> Run:
    """Reserve for a summary, count it, remember where the conversation was compacted last."""
    account, at = run.account, (fact.turn, fact.step, fact.n)
    place: Place = (*at, "summary")
    match fact:
        case SummaryRequested():
            return replace(run, account=reserve(account, Held(*at, fact.reserved, "summary")))
        case SummarySettled(code="lost"):
            return replace(run, account=give_up(account, place))
        case SummarySettled():
            return replace(run, account=settle(account, place, fact.usage))
        case ContextCompacted():
            return replace(run, compacted=fact, account=settle(account, place, fact.usage))


def _evolve_budget(run: Run, fact: BudgetWarned | BudgetRaised | BudgetSpent) -> Run:
    match fact:
        case BudgetWarned():
            return replace(run, warned=(*run.warned, fact))
        case BudgetSpent():
            return replace(run, over=run.over or fact)
        case BudgetRaised():
            return replace(
                run,
                budget=raised(run.budget, fact.added),
                raises=run.raises + 1,
                turned_away=0 if fact.added.calls else run.turned_away,
            )


def _evolve_turn(run: Run, fact: Fact) -> Run:
    match fact:
        case BudgetWarned() | BudgetRaised() | BudgetSpent():
            return _evolve_budget(run, fact)
        case TurnStarted():
            return replace(run, turn=fact, step=None, malformed=0)
        case TurnCompleted():
            return replace(run, turns_done=fact.turn, incoming=fact.incoming)
        case ModelRequested() | ModelResponded() | ModelFailed() | ModelLost() | ModelDiscarded():
            return _evolve_model(run, fact)
        case CallIntended() | CallUnknown() | CallSettled():
            return _evolve_call(run, fact)
        case InputAsked():
            return _evolve_asked(replace(run, inputs=(*run.inputs, InputState(fact))), fact)
        case InputSettled():
            return replace(run, inputs=tuple(_settle(state, fact) for state in run.inputs))
        case _:
            return run


def _evolve_asked(run: Run, fact: InputAsked) -> Run:
    at = run.step
    if at is None or (at.turn, at.step) != (fact.turn, fact.step):
        return run
    asks = fact.question.kind is not InputKind.UNKNOWN
    calls = tuple(
        replace(call, asks=asks) if call.request.position == fact.position else call
        for call in at.calls
    )
    return replace(run, step=replace(at, calls=calls))


def _settle(state: InputState, fact: InputSettled) -> InputState:
    if state.asked.input_id != fact.input_id or state.settled is not None:
        return state
    return replace(state, settled=fact)


ModelFact = ModelRequested | ModelResponded | ModelFailed | ModelLost | ModelDiscarded


def _current(run: Run, turn: int, step: int) -> StepState:
    at = run.step
    if at is not None and (at.turn, at.step) == (turn, step):
        return at
    return StepState(turn, step)


def _is_behind(run: Run, turn: int, step: int) -> bool:
    """Tell whether a step lies behind the one that is being taken."""
    if run.turn is not None and turn < run.turn.turn:
        return True
    return run.step is not None and (turn, step) < (run.step.turn, run.step.step)


def _evolve_model(run: Run, fact: ModelFact) -> Run:
    at = _current(run, fact.turn, fact.step)
    place: Place = (fact.turn, fact.step, fact.n, "step")
    match fact:
        case ModelRequested():
            account = reserve(run.account, Held(*place[:3], fact.reserved))
            at = replace(at, requested=(*at.requested, fact), open=fact, failed=None)
            return replace(
                run,
                asked=fact.model,
                fell_back=fact.turn if fact.fallback_from else run.fell_back,
                step=at,
                incoming=fact.incoming,
                account=account,
            )
        case ModelResponded():
            calls = tuple(CallState(call) for call in fact.calls)
            account = settle(run.account, place, fact.usage)
            at = replace(at, open=None, answered=fact, calls=calls)
            return replace(run, step=at, ordinal=run.ordinal + 1, account=account)
        case ModelFailed():
            account = fail(run.account, place, fact.code, fact.partial)
            return _evolve_failed(replace(run, account=account), at, fact)
        case ModelLost():
            return _evolve_failed(replace(run, account=give_up(run.account, place)), at, fact)
        case ModelDiscarded():
            return replace(run, account=settle(run.account, place, fact.usage))


def _evolve_failed(run: Run, at: StepState, fact: ModelFailed | ModelLost) -> Run:
    """Count a request that came to nothing as a failure, unless its step lies behind."""
    if _is_behind(run, fact.turn, fact.step):
        return run
    if at.open is not None and at.open.n == fact.n:
        at = _failed_once(replace(at, open=None), fact)
    if isinstance(fact, ModelFailed) and at.open is None and at.answered is None:
        at = replace(at, failed=fact)
    return replace(run, step=at)


def _failed_once(at: StepState, fact: ModelFailed | ModelLost) -> StepState:
    """Count a failure of the step; one for want of capacity is a wait."""
    if isinstance(fact, ModelFailed) and fact.disposition == "fallback":
        return replace(at, failures=0, waits=0, waited=0.0)
    if isinstance(fact, ModelFailed) and fact.disposition == "capacity":
        waited = at.waited + (fact.retry_after or 0.0)
        return replace(at, failures=0, waits=at.waits + 1, waited=waited)
    return replace(at, failures=at.failures + 1)


def _evolve_call(run: Run, fact: CallIntended | CallUnknown | CallSettled) -> Run:
    at = run.step
    if at is None or (at.turn, at.step) != (fact.turn, fact.step):
        return _close_unknown(run, fact)
    calls = tuple(
        _evolve_one(call, fact) if call.request.position == fact.position else call
        for call in at.calls
    )
    more = sum(call.counted for call in calls) - sum(call.counted for call in at.calls)
    spent = run.spent.model_copy(update={"calls": run.spent.calls + more})
    run = replace(run, step=replace(at, calls=calls), account=replace(run.account, spent=spent))
    if isinstance(fact, CallUnknown):
        return replace(run, unknown=(*run.unknown, fact))
    if isinstance(fact, CallSettled):
        outcomes = [call.outcome for call in calls]
        run = replace(run, malformed=counted(run.malformed, outcomes))
        run = replace(run, turned_away=run.turned_away + (fact.outcome.code == OUT_OF_CALLS))
    return _close_unknown(run, fact)


def _close_unknown(run: Run, fact: CallIntended | CallUnknown | CallSettled) -> Run:
    """An outcome, or a new round, ends what was unknown of a call."""
    if isinstance(fact, CallUnknown):
        return run
    left = tuple(
        u
        for u in run.unknown
        if (u.turn, u.step, u.position) != (fact.turn, fact.step, fact.position)
    )
    return replace(run, unknown=left)


def _evolve_one(call: CallState, fact: CallIntended | CallUnknown | CallSettled) -> CallState:
    match fact:
        case CallIntended():
            begun = replace(call, round=fact.round, owner=fact.owner, tool=fact.name)
            return replace(begun, unknown=False, counted=True)
        case CallUnknown():
            return replace(call, unknown=True, counted=True)
        case CallSettled():
            counted = call.counted or fact.outcome.tag is not Tag.NOT_RUN
            return replace(call, outcome=fact.outcome, unknown=False, counted=counted)


def fold(facts: Iterable[Fact], run: Run | None = None) -> Run:
    """Fold facts onto a run, or onto the beginning."""
    run = run or Run()
    for fact in facts:
        run = evolve(run, fact)
    return run


def open_inputs(run: Run) -> tuple[Question, ...]:
    """List the questions that nobody has settled."""
    return tuple(s.asked.question for s in run.inputs if s.settled is None)
