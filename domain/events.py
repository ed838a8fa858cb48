"""The facts: one closed union of frozen events, each with its id and how it is repeated."""

from __future__ import annotations

from typing import ClassVar, Literal, TypeAlias, cast, get_args

from pydantic import ValidationError

from domain.agents.definition import RuntimeConfig
from domain.agents.imported.loss import FieldReport
from domain.asked_events import Asked, Entry, RunAccepted, RunJoined, RunQueued
from domain.budget_events import BudgetRaised, BudgetSpent, BudgetWarned
from domain.codec import Json, canonical
from domain.errors import Kind, LegatoError, bug
from domain.event import AtCall, AtRequest, AtStep, Event, Use
from domain.mcp.snapshot import McpAccepted
from domain.runs.conversation import CallRequest, Native, Text, Usage
from domain.runs.inputs import How, Question
from domain.runs.sequence import Item
from domain.slot_events import (
    Decision,
    OnCollision,
    SessionReleased,
    SessionTaken,
    SlotCollided,
    SlotLeft,
    SlotReleased,
    SlotTaken,
)
from domain.summary_events import ContextCompacted, SummaryRequested, SummarySettled
from domain.tools.results import Outcome
from domain.watch_events import RunHealed, RunReconciled, RunStuck


class RunAttached(Event):
    """A Temporal run took the Legato run over; activities of an older epoch are refused."""

    keys: ClassVar[tuple[str, ...]] = ("epoch",)
    type: Literal["run.attached"] = "run.attached"
    epoch: int
    temporal_run: str


class RunDefined(Event):
    """The agent was built: `bundle` is the stored definition's blob, `items` the sequence.

    `step` says what became of each field of the saved plan step that it was built from.
    """

    type: Literal["run.defined"] = "run.defined"
    fingerprint: str
    bundle: str
    runtime: RuntimeConfig
    items: tuple[Item, ...]
    confinement: str
    notes: tuple[str, ...] = ()
    step: tuple[FieldReport, ...] = ()


class RunRefused(Event):
    """The agent cannot be built: everything that is wrong, at once."""

    type: Literal["run.refused"] = "run.refused"
    code: str
    problems: tuple[str, ...]


class TurnStarted(Event):
    """A turn began with this message: the item's own, or what a repair is told."""

    keys: ClassVar[tuple[str, ...]] = ("turn",)
    type: Literal["turn.started"] = "turn.started"
    turn: int
    item: int
    origin: Literal["item", "repair"]
    text: str


class ModelRequested(AtRequest):
    """A request is about to be sent: the view and the reservation are pinned.

    `view` names the effective tools in order; `incoming` is the position read in the
    session's incoming stream, `delivered` the messages that this request delivers.
    `fallback_from` is the run's own model where that could not answer and `model` is the other.
    """

    type: Literal["model.requested"] = "model.requested"
    owner: str
    model: str
    view: tuple[str, ...]
    view_digest: str
    request_digest: str
    incoming: int
    delivered: tuple[int, ...]
    reserved: Usage
    ordinal: int
    fallback_from: str = ""


class ModelResponded(AtStep):
    """A complete response; `n` is the request that it answers."""

    keys: ClassVar[tuple[str, ...]] = ("turn", "step")
    type: Literal["model.responded"] = "model.responded"
    n: int
    text: Text
    calls: tuple[CallRequest, ...]
    usage: Usage
    finish: str
    native: Native | None = None


class ModelFailed(AtRequest):
    """A request came to nothing; `partial` is text that had arrived."""

    type: Literal["model.failed"] = "model.failed"
    code: str
    message: Text
    disposition: str
    retry_after: float | None = None
    partial: Text = ""


class ModelLost(AtRequest):
    """An open request of another execution was given up, counted at its reservation."""

    use: ClassVar[Use] = Use.SAME
    type: Literal["model.lost"] = "model.lost"


class ModelDiscarded(AtRequest):
    """A response that came after another had been recorded: only its usage counts."""

    use: ClassVar[Use] = Use.SAME
    after_end: ClassVar[bool] = True
    type: Literal["model.discarded"] = "model.discarded"
    usage: Usage


class ContinuationDropped(AtRequest):
    """A request goes to another model than what `answers` answers were said by.

    What only their own model understands (signed or encrypted reasoning) is not sent to it;
    their text and calls are.
    """

    type: Literal["continuation.dropped"] = "continuation.dropped"
    model: str
    answers: int


class CallIntended(AtCall):
    """A call is about to be executed by the execution that holds `owner`.

    `limit` is the call's own limit in seconds: 'run it again' is offered only after it.
    """

    keys: ClassVar[tuple[str, ...]] = ("turn", "step", "position", "round")
    type: Literal["call.intended"] = "call.intended"
    round: int
    owner: str
    name: str
    binding: str
    limit: float


class CallUnknown(AtCall):
    """Nobody can tell whether the call's effect happened; a person is asked beside it."""

    keys: ClassVar[tuple[str, ...]] = ("turn", "step", "position", "round")
    type: Literal["call.unknown"] = "call.unknown"
    round: int
    name: str
    reason: str


class CallSettled(AtCall):
    """A call's outcome, whole; `by` says who knew: the execution, a probe, a person."""

    after_end: ClassVar[bool] = True
    type: Literal["call.settled"] = "call.settled"
    name: str
    outcome: Outcome
    by: Literal["execution", "probe", "person", "rule"] = "execution"


class InputAsked(Event):
    """A person was asked; `expires_at` is by the ledger's clock, ISO 8601 in UTC."""

    keys: ClassVar[tuple[str, ...]] = ("input_id",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["input.asked"] = "input.asked"
    input_id: str
    turn: int
    step: int
    position: int
    question: Question
    expires_at: str | None = None


class InputSettled(Event):
    """How a question ended: the first of all who try; `submission` tells two alike apart."""

    keys: ClassVar[tuple[str, ...]] = ("input_id",)
    after_end: ClassVar[bool] = True
    type: Literal["input.settled"] = "input.settled"
    input_id: str
    how: How
    answer: str
    by: str
    submission: str = ""


class InputLate(Event):
    """An answer that lost: kept, and its sender told."""

    keys: ClassVar[tuple[str, ...]] = ("submission",)
    use: ClassVar[Use] = Use.SAME
    after_end: ClassVar[bool] = True
    type: Literal["input.late"] = "input.late"
    input_id: str
    submission: str
    answer: str
    by: str


Cause: TypeAlias = Literal["stop_requested", "superseded"]


class StopRequested(Event):
    """A person or a rule wants the run to end now; `cause` is the code of why."""

    keys: ClassVar[tuple[str, ...]] = ("submission",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["stop.requested"] = "stop.requested"
    submission: str
    reason: str
    by: str
    cause: Cause = "stop_requested"


class RunWaiting(Event):
    """The run waits; `n` counts its waits, `ref` names what for.

    `until` is when a wait of fixed length ends by the ledger's clock, ISO 8601 in UTC, `why`
    the code of what is waited out.
    """

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["run.waiting"] = "run.waiting"
    n: int
    on: Literal["input", "approval", "capacity", "pause", "child", "unknown_effect", "home"]
    ref: str
    until: str = ""
    why: str = ""


class RunResumed(Event):
    """The n-th wait is over."""

    keys: ClassVar[tuple[str, ...]] = ("n",)
    type: Literal["run.resumed"] = "run.resumed"
    n: int


class CheckCompleted(Event):
    """One run of an item's checks. `terminal` tells that a check could not run at all."""

    keys: ClassVar[tuple[str, ...]] = ("item", "attempt")
    type: Literal["check.completed"] = "check.completed"
    item: int
    attempt: int
    ok: bool
    terminal: bool
    failures: tuple[str, ...]
    report: str


class TurnCompleted(Event):
    """A turn ended, asserting that no message up to `incoming` was left unread."""

    keys: ClassVar[tuple[str, ...]] = ("turn",)
    type: Literal["turn.completed"] = "turn.completed"
    turn: int
    incoming: int


class ItemCompleted(Event):
    """An item is done."""

    keys: ClassVar[tuple[str, ...]] = ("item",)
    type: Literal["item.completed"] = "item.completed"
    item: int


class RunEnded(Event):
    """The one terminal event of a run: which state, why, and by whom."""

    closes: ClassVar[bool] = True
    type: Literal["run.ended"] = "run.ended"
    status: str
    reason: str
    by: str
    message: str
    items_done: int


class MessageAccepted(Event):
    """A message waits in the session; `later` asks not to steer the running turn."""

    keys: ClassVar[tuple[str, ...]] = ("submission",)
    use: ClassVar[Use] = Use.SAME
    type: Literal["message.accepted"] = "message.accepted"
    submission: str
    text: str
    later: bool
    run_id: str


class FindingRecorded(AtCall):
    """A finding, by its stable fingerprint; filing it again updates it."""

    type: Literal["finding.recorded"] = "finding.recorded"
    fingerprint: str
    title: str
    detail: str
    severity: Literal["low", "medium", "high"]
    module: str
    path: str = ""


class FindingsClaimed(AtCall):
    """The agent took a bounded batch of findings to fix."""

    type: Literal["findings.claimed"] = "findings.claimed"
    fingerprints: tuple[str, ...]


class ReceiptWritten(AtCall):
    """What was done about one module's findings; `changed` needs proof."""

    type: Literal["receipt.written"] = "receipt.written"
    module: str
    result: Literal["changed", "unchanged", "deferred"]
    fingerprints: tuple[str, ...]
    proof: str
    text: str


Fact: TypeAlias = (
    RunQueued
    | RunJoined
    | RunAccepted
    | RunAttached
    | RunDefined
    | RunRefused
    | TurnStarted
    | ModelRequested
    | ModelResponded
    | ModelFailed
    | ModelLost
    | ModelDiscarded
    | ContinuationDropped
    | SummaryRequested
    | SummarySettled
    | ContextCompacted
    | CallIntended
    | CallUnknown
    | CallSettled
    | InputAsked
    | InputSettled
    | InputLate
    | StopRequested
    | BudgetWarned
    | BudgetRaised
    | BudgetSpent
    | RunWaiting
    | RunResumed
    | CheckCompleted
    | TurnCompleted
    | ItemCompleted
    | RunEnded
    | McpAccepted
    | RunStuck
    | RunHealed
    | RunReconciled
    | MessageAccepted
    | SlotTaken
    | SlotCollided
    | SlotLeft
    | SlotReleased
    | SessionTaken
    | SessionReleased
    | FindingRecorded
    | FindingsClaimed
    | ReceiptWritten
)


def event_id(fact: Fact) -> str:
    """Name a fact within its stream: its type and the run's own coordinates."""
    key = fact.key()
    return f"{fact.type}:{key}" if key else fact.type


_KINDS = {
    str(kind.model_fields["type"].default): kind
    for kind in cast("tuple[type[Fact], ...]", get_args(Fact))
}


def encode(fact: Fact) -> bytes:
    """Encode a fact's body: canonical JSON of its fields without the type."""
    body: dict[str, Json] = fact.model_dump(mode="json")
    del body["type"]
    return canonical(body)


def _wrong(place: tuple[int | str, ...], kind: str) -> str:
    """Say what is wrong with a field, without what it holds."""
    return f"{'.'.join(map(str, place))}: {kind}"


def decode(type_name: str, schema_version: int, body: bytes) -> Fact:
    """Decode a stored body.

    Raises `event_unknown` for a type or version of another build, `event_damaged` for a
    body that is none of its type's.
    """
    kind = _KINDS.get(type_name)
    if kind is None or schema_version != kind.version:
        raise bug(
            "event_unknown",
            f"{type_name!r} is stored with schema version {schema_version}, "
            f"this build reads {'no such event' if kind is None else kind.version}",
        )
    try:
        return kind.model_validate_json(body)
    except ValidationError as exc:
        found = [
            _wrong((type_name, *one["loc"]), one["type"])
            for one in exc.errors(include_url=False, include_input=False)
        ]
    raise LegatoError(
        "event_damaged",
        f"a stored event of type {type_name!r} cannot be read",
        kind=Kind.BUG,
        next="restore a backup; `legato ledger verify` names all that is damaged",
        details={"problems": found},
    )


__all__ = [  # those that stand in other modules; the union is whole here
    "Asked",
    "AtCall",
    "AtRequest",
    "AtStep",
    "BudgetRaised",
    "BudgetSpent",
    "BudgetWarned",
    "ContextCompacted",
    "Decision",
    "Entry",
    "Event",
    "McpAccepted",
    "OnCollision",
    "RunAccepted",
    "RunHealed",
    "RunJoined",
    "RunQueued",
    "RunReconciled",
    "RunStuck",
    "SessionReleased",
    "SessionTaken",
    "SlotCollided",
    "SlotLeft",
    "SlotReleased",
    "SlotTaken",
    "SummaryRequested",
    "SummarySettled",
    "Use",
]
