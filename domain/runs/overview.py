"""A run on one screen: what it is doing, what it waits for, what it changed, what it cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, TypeVar

from domain.agents.imported.loss import FieldReport
from domain.events import (
    CallSettled,
    Decision,
    Event,
    FindingRecorded,
    InputAsked,
    ModelRequested,
    ModelResponded,
    ReceiptWritten,
    RunAttached,
    RunEnded,
    TurnStarted,
)
from domain.runs.budget_texts import over_message
from domain.runs.budget_view import LimitView, budget_view
from domain.runs.inputs import InputKind
from domain.runs.reconcile import way_out
from domain.runs.recorded import facts_of, stamp
from domain.runs.run import OPEN, SLOT, Status, fold
from domain.runs.slots import decided
from domain.runs.timeline import asked_of, waits_for
from domain.runs.working import work_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.events import Asked
    from domain.runs.recorded import Recorded
    from domain.runs.run import Run

F = TypeVar("F", bound=Event)

PEOPLE = frozenset({"input", "approval", "unknown_effect"})
"""The waits that only a person ends."""


@dataclass(frozen=True)
class Identity:
    """What the run is; `fingerprint` and `confinement` are "" until it is defined.

    `workspace` and its path are "" for a run without one. `n` counts the slot's holders, 0
    for a run that has not held it; `decision` is what was decided when it came, `holder` the
    run that held the slot then, "" for none; `request_ids` are those that became this run.
    `step_file` and `step_id` name the saved plan step that it was built from, "" for none, and
    `step_report` what became of each field of it.
    """

    run_id: str
    workflow_id: str
    temporal_runs: tuple[str, ...]
    agent: str
    entry: str
    workspace: str
    workspace_path: str
    session: str
    slot: str
    n: int
    decision: str
    holder: str
    request_ids: tuple[str, ...]
    resumes: str
    model: str
    fingerprint: str
    confinement: str
    attended: bool
    notes: tuple[str, ...]
    step_file: str
    step_id: str
    step_report: tuple[FieldReport, ...]


@dataclass(frozen=True)
class State:
    """How it stands; times are ISO 8601 in UTC, "" for what has not happened."""

    status: str
    reason: str
    by: str
    message: str
    doing: str
    accepted_at: str
    started_at: str
    ended_at: str
    version: int


@dataclass(frozen=True)
class Stuck:
    """What keeps a run from going on by itself; all "" where nothing does.

    `stuck` is a code, `stuck_next` what is true to do about it.
    """

    stuck: str = ""
    stuck_where: str = ""
    stuck_why: str = ""
    stuck_next: str = ""


@dataclass(frozen=True)
class ItemView:
    """One item of the sequence: `done`, `now`, `todo`, or `not_done` in an ended run."""

    name: str
    kind: str
    state: str


@dataclass(frozen=True)
class Place:
    """Where in its sequence it is: `item`, `turn`, `step`, `repair` count from 1, 0 is none.

    `item` is the one that it works on or, once it has ended, the one that it ended in.
    """

    items: tuple[ItemView, ...]
    items_done: int
    item: int
    turn: int
    step: int
    repair: int


@dataclass(frozen=True)
class AskedView:
    """A question that nobody has settled; `expires_at` is "" where it waits for ever."""

    input_id: str
    kind: str
    text: str
    choices: tuple[str, ...]
    who: tuple[str, ...]
    since: str
    expires_at: str


@dataclass(frozen=True)
class UnknownView:
    """A call whose effect nobody can tell: its place (turn.step.position), name, and why."""

    call: str
    name: str
    reason: str


@dataclass(frozen=True)
class Waits:
    """What it waits for, and everything that a person is asked beside it."""

    waiting_on: str
    waiting_ref: str
    waiting_why: str
    waiting_until: str
    open_questions: tuple[AskedView, ...]
    unknown_effects: tuple[UnknownView, ...]

    @property
    def for_person(self) -> bool:
        """Tell whether only a person can move the run on."""
        return self.waiting_on in PEOPLE and bool(self.open_questions)


@dataclass(frozen=True)
class ReceiptView:
    """What was done about one module's findings."""

    module: str
    result: str
    proof: str
    text: str


@dataclass(frozen=True)
class Work:
    """What it did: workspace paths that calls are known to have changed, and receipts.

    `answer` is what the agent said last without asking for a call, "" before it did.
    """

    answer: str
    changed: tuple[str, ...]
    receipts: tuple[ReceiptView, ...]
    findings: int


@dataclass(frozen=True)
class Cost:
    """What it used: `cost` in US dollars as text, beside `cost_unknown` unpriced requests.

    `seconds` is working time; `tokens_unknown` counts the requests that count as reserved, as
    nobody told what they used; `budget` is all of it against the limits.
    """

    requests: int
    steps: int
    calls: int
    tokens: int
    cost: str
    cost_unknown: int
    tokens_unknown: int
    seconds: float
    budget: tuple[LimitView, ...]


@dataclass(frozen=True)
class Overview:
    """A run as its events tell it; nothing in it depends on now."""

    identity: Identity
    state: State
    stuck: Stuck
    place: Place
    waits: Waits
    work: Work
    cost: Cost

    def flat(self) -> dict[str, object]:
        """Give all fields in one mapping; no two parts share a name."""
        parts = (
            *(self.identity, self.state, self.stuck, self.place),
            *(self.waits, self.work, self.cost),
        )
        report = [row.model_dump(mode="json") for row in self.identity.step_report]
        flat = {name: value for part in parts for name, value in asdict(part).items()}
        return {**flat, "step_report": report}


def overview(events: Sequence[Recorded]) -> Overview | None:
    """Fold a run's events; None where they do not begin with its acceptance."""
    run = fold(facts_of(events))
    if run.asked_for is None:
        return None
    return Overview(
        identity=_identity(run, run.asked_for),
        state=_state(run, events),
        stuck=_stuck(run, run.asked_for.run_id),
        place=_place(run, events),
        waits=Waits(
            waiting_on=_waiting_on(run),
            waiting_ref=_waiting_ref(run),
            waiting_why=run.waiting.why if run.waiting is not None else "",
            waiting_until=run.waiting.until if run.waiting is not None else "",
            open_questions=open_questions(run, events),
            unknown_effects=tuple(
                UnknownView(f"{one.turn}.{one.step}.{one.position}", one.name, one.reason)
                for one in run.unknown
            ),
        ),
        work=_work(events),
        cost=_cost(run, events),
    )


def _cost(run: Run, events: Sequence[Recorded]) -> Cost:
    seconds = work_of(events).seconds
    return Cost(
        requests=len(_facts(events, ModelRequested)),
        **run.spent.model_dump(),
        seconds=round(seconds, 3),
        budget=budget_view(run, seconds),
    )


def _waiting_on(run: Run) -> str:
    """Name what the run waits for, "" for nothing; in line it waits for its slot."""
    if run.in_line:
        return SLOT
    return run.waiting.on if run.waiting is not None else ""


def _waiting_ref(run: Run) -> str:
    if run.in_line and run.queued is not None:
        return run.queued.slot
    return run.waiting.ref if run.waiting is not None else ""


def _facts(events: Sequence[Recorded], kind: type[F]) -> list[F]:
    return [event.fact for event in events if isinstance(event.fact, kind)]


def _when(events: Sequence[Recorded], kind: type[Event]) -> str:
    return stamp(next((event.at for event in events if isinstance(event.fact, kind)), None))


def _identity(run: Run, accepted: Asked) -> Identity:
    defined, begun, queued = run.defined, run.accepted, run.queued
    joined = tuple(one.request_id for one in run.joined)
    return Identity(
        run_id=accepted.run_id,
        workflow_id="" if begun is None else begun.workflow_id,
        temporal_runs=run.temporal_runs,
        agent=accepted.agent,
        entry=accepted.entry.value,
        workspace=accepted.workspace if accepted.request.workspace else "",
        workspace_path=accepted.request.workspace,
        session=accepted.session,
        slot=accepted.slot,
        n=0 if begun is None else begun.n,
        decision=(Decision.STARTED if queued is None else decided(queued.on_collision)).value,
        holder="" if queued is None else queued.holder,
        request_ids=(accepted.run_id, *joined),
        resumes=accepted.resumes,
        model=accepted.request.model if defined is None else defined.runtime.model,
        fingerprint="" if defined is None else defined.fingerprint,
        confinement="" if defined is None else defined.confinement,
        attended=accepted.request.attended,
        notes=() if defined is None else defined.notes,
        step_file=accepted.request.step_file,
        step_id=accepted.request.step,
        step_report=() if defined is None else defined.step,
    )


def _state(run: Run, events: Sequence[Recorded]) -> State:
    reason, by, message = _why(run)
    return State(
        status=run.status.value,
        reason=reason,
        by=by,
        message=message,
        doing=doing(run),
        accepted_at=stamp(events[0].at),
        started_at=_when(events, RunAttached),
        ended_at=_when(events, RunEnded),
        version=run.version,
    )


def _stuck(run: Run, run_id: str) -> Stuck:
    said = run.stuck
    if said is None:
        return Stuck()
    return Stuck(said.code, said.where, said.why, way_out(said.code, run_id))


def _why(run: Run) -> tuple[str, str, str]:
    ended, stop = run.ended, run.stop
    return why(
        None if ended is None else (ended.reason, ended.by, ended.message),
        None if stop is None else (stop.by, stop.reason),
        "" if run.waiting is None else run.waiting.on,
        None if run.over is None else (run.over.reason, over_message(run.over)),
    )


def why(
    ended: tuple[str, str, str] | None,
    stop: tuple[str, str] | None,
    waiting_on: str,
    over: tuple[str, str] | None = None,
) -> tuple[str, str, str]:
    """Say why a run stands as it does: a code, who, and a sentence.

    `ended` is the same of its end, `stop` who wanted it stopped and why, `over` the code of
    the limit that it reached and a sentence.
    """
    if ended is not None:
        return ended
    if stop is not None:
        return "stop_requested", *stop
    if over is not None:
        return over[0], "", over[1]
    return waiting_on, "", ""


def doing(run: Run) -> str:
    """Say in words what a run is doing."""
    if run.stuck is not None:
        return f"nothing: it is stuck at {run.stuck.where}"
    match run.status:
        case Status.QUEUED if run.in_line and run.queued is not None:
            return f"waiting in line for the slot {run.queued.slot}"
        case Status.QUEUED:
            return "waiting for a worker to take it up"
        case Status.STOPPING:
            return "stopping"
        case Status.WAITING:
            waiting = run.waiting
            return f"waiting for {waits_for(waiting)}" if waiting else "waiting"
        case Status.RUNNING:
            return _running(run)
        case _:
            return "ended"


def _running(run: Run) -> str:
    if run.defined is None:
        return "building the agent's definition"
    step = run.step
    if any(held.what == "summary" for held in run.account.reserved):
        return "having the conversation, which is too long, summed up"
    if step is not None and step.open is not None:
        return f"asking {asked_of(run.defined)} (request {step.open.n} of step {step.step})"
    if step is not None:
        left = [call.request.name for call in step.calls if call.outcome is None]
        if left:
            return f"running {', '.join(left)}"
    if run.turn is not None and run.turns_done >= run.turn.turn:
        return "between turns: checks, or the next item"
    return "taking the next step"


def _place(run: Run, events: Sequence[Recorded]) -> Place:
    turn, items = run.turn, _items(run)
    at = -1 if turn is None else min(max(turn.item, run.items_done), len(items) - 1)
    return Place(
        items=items,
        items_done=run.items_done,
        item=at + 1,
        turn=0 if turn is None else turn.turn,
        step=0 if run.step is None else run.step.step,
        repair=sum(1 for one in _facts(events, TurnStarted) if _repairs(one, at)),
    )


def _repairs(turn: TurnStarted, item: int) -> bool:
    return turn.item == item and turn.origin == "repair"


def _items(run: Run) -> tuple[ItemView, ...]:
    if run.defined is None:
        return ()
    after = "now" if run.status in OPEN else "not_done"
    later = "todo" if run.status in OPEN else "not_done"
    states = ["done" if n < run.items_done else later for n in range(len(run.defined.items))]
    if run.items_done < len(states):
        states[run.items_done] = after
    return tuple(
        ItemView(item.name, item.kind, state)
        for item, state in zip(run.defined.items, states, strict=True)
    )


def open_questions(run: Run, events: Sequence[Recorded]) -> tuple[AskedView, ...]:
    """List what a person is asked and nobody has settled, the oldest first.

    An ended run's own questions are withdrawn with it; those about an effect that nobody
    can tell stay.
    """
    asked_at = {e.fact.input_id: e.at for e in events if isinstance(e.fact, InputAsked)}
    unsettled = [state.asked for state in run.inputs if state.settled is None]
    return tuple(
        AskedView(
            input_id=asked.input_id,
            kind=asked.question.kind.value,
            text=asked.question.text,
            choices=asked.question.choices,
            who=asked.question.who,
            since=stamp(asked_at.get(asked.input_id)),
            expires_at=asked.expires_at or "",
        )
        for asked in unsettled
        if run.ended is None or asked.question.kind is InputKind.UNKNOWN
    )


def _work(events: Sequence[Recorded]) -> Work:
    paths = [path for call in _facts(events, CallSettled) for path in call.outcome.changed]
    answers = [one.text for one in _facts(events, ModelResponded) if not one.calls and one.text]
    return Work(
        answer=answers[-1] if answers else "",
        changed=tuple(dict.fromkeys(paths)),
        receipts=tuple(
            ReceiptView(one.module, one.result, one.proof, one.text)
            for one in _facts(events, ReceiptWritten)
        ),
        findings=len({one.fingerprint for one in _facts(events, FindingRecorded)}),
    )
