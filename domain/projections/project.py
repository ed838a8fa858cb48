"""The projector: one event to the rows that it changes, by the rules that a run is folded by."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

from domain.errors import LegatoError
from domain.events import Fact
from domain.projections import asking, budgeting, running, stepping
from domain.projections.tables import CallKey, InputKey, ItemKey, StepKey
from domain.runs.hand_over import is_from_outside
from domain.runs.run import MOVING, moved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from domain.projections.rows import RunRow
    from domain.projections.tables import Sequenced, Tables

_OfRun: TypeAlias = "Callable[[Tables, RunRow, Sequenced], None]"
_OfSession: TypeAlias = "Callable[[Tables, Sequenced, str], None]"

KNOWN: Mapping[str, int] = {
    fact.model_fields["type"].default: fact.version for fact in get_args(Fact)
}
"""Every type of event with the version that this build reads."""

_OF_RUN: dict[str, _OfRun] = {
    "run.queued": running.queued,
    "run.accepted": running.accepted,
    "run.attached": running.attached,
    "run.defined": running.defined,
    "run.refused": running.refused,
    "turn.started": running.turn_started,
    "turn.completed": running.turn_completed,
    "check.completed": running.check_completed,
    "item.completed": running.item_completed,
    "run.waiting": running.waiting,
    "run.resumed": running.resumed,
    "stop.requested": running.stop_requested,
    "budget.raised": budgeting.budget_raised,
    "budget.spent": running.budget_spent,
    "run.stuck": running.stuck,
    "run.ended": running.ended,
    "model.requested": stepping.requested,
    "model.responded": stepping.responded,
    "model.failed": stepping.failed,
    "model.lost": stepping.lost,
    "model.discarded": stepping.discarded,
    "summary.requested": stepping.summary_requested,
    "summary.settled": stepping.summary_settled,
    "context.compacted": stepping.compacted,
    "call.intended": stepping.intended,
    "call.unknown": stepping.unknown,
    "call.settled": stepping.settled,
    "input.asked": asking.asked,
    "input.settled": asking.settled,
    "input.late": asking.late,
}
_OF_SESSION: dict[str, _OfSession] = {
    "session.taken": asking.taken,
    "session.released": asking.released,
    "message.accepted": asking.accepted,
}

DECODED = frozenset(_OF_RUN) | frozenset(_OF_SESSION)
"""The types whose bodies are looked at; of all others only type and version are."""

UNREADABLE = "event_unreadable"
"""The damage of an event whose body is JSON and not what its type has."""

_STRANGE = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a body raises that is not what its type has."""

_STEPS = frozenset(name for name in _OF_RUN if name.startswith(("model.", "summary.", "context.")))
_CALLS = frozenset(name for name in _OF_RUN if name.startswith("call."))
_INPUTS = frozenset(name for name in _OF_RUN if name.startswith("input."))
_ITEMS = frozenset({"turn.started", "check.completed", "item.completed"})


@dataclass
class Keys:
    """Keys of rows, by table."""

    runs: set[str] = field(default_factory=set[str])
    items: set[ItemKey] = field(default_factory=set["ItemKey"])
    steps: set[StepKey] = field(default_factory=set["StepKey"])
    calls: set[CallKey] = field(default_factory=set["CallKey"])
    inputs: set[InputKey] = field(default_factory=set["InputKey"])
    sessions: set[str] = field(default_factory=set[str])


@dataclass
class Needs:
    """The rows that a batch goes on from, and those that it makes and nobody need look for."""

    used: Keys = field(default_factory=Keys)
    made: Keys = field(default_factory=Keys)

    def add(self, event: Sequenced) -> None:
        """Name what one event needs; one that says less than that is marked as damaged."""
        kind, name = event.kind, event.name
        if kind == "run":
            (self.used if event.version > 1 else self.made).runs.add(name)
            if event.damage:
                return
            try:
                self._add(name, event.type, event.body)
            except _STRANGE:
                event.damage = UNREADABLE
        elif kind in {"session", "incoming"}:
            self.used.sessions.add(name)

    def _add(self, name: str, type_name: str, body: dict[str, Any]) -> None:
        used, made = self.used, self.made
        if type_name in _STEPS:
            key = (name, body["turn"], body["step"])
            used.steps.add(key)
            if type_name == "model.responded":
                made.calls.update((*key, asked["position"]) for asked in body["calls"])
        elif type_name in _CALLS:
            used.calls.add((name, body["turn"], body["step"], body["position"]))
        elif type_name in _INPUTS:
            (made if type_name == "input.asked" else used).inputs.add((name, body["input_id"]))
        elif type_name in _ITEMS:
            used.items.add((name, body["item"] + 1))
        elif type_name == "run.defined":
            made.items.update((name, n) for n, _ in enumerate(body["items"], start=1))


def check_known(stream: str, version: int, type_name: str, schema_version: int) -> None:
    """Refuse an event that this build cannot read; raises `event_too_new`."""
    reads = KNOWN.get(type_name)
    if reads == schema_version:
        return
    known = f"reads version {reads}" if reads is not None else "does not know the type"
    raise LegatoError(
        "event_too_new",
        f"event {version} of {stream} is a {type_name} of version {schema_version}, "
        "and lists cannot pass it",
        cause=f"this build {known}: another build wrote it",
        next="stop this build's workers and run the newest build: lists go on from there",
        details={"stream": stream, "version": version, "type": type_name},
    )


def project(tables: Tables, event: Sequenced) -> None:
    """Change the rows that one event changes; those of `Needs` stand in the tables.

    One that is damaged marks its run and changes nothing else, so that the others go on.
    """
    if event.kind == "run":
        _project_run(tables, tables.run(event.name), event)
    elif event.kind in {"session", "incoming"} and not event.damage:
        of_session = _OF_SESSION.get(event.type)
        if of_session is not None:
            try:
                of_session(tables, event, event.name)
            except _STRANGE:
                event.damage = UNREADABLE


def _project_run(tables: Tables, run: RunRow, event: Sequenced) -> None:
    run.version = event.version
    if run.damaged is not None and event.type != "run.ended":
        return
    try:
        if not event.damage:
            _told(tables, run, event)
    except _STRANGE:
        event.damage = UNREADABLE
    if event.damage and run.damaged is None:
        run.damaged, run.damaged_at = event.damage, event.version


def _told(tables: Tables, run: RunRow, event: Sequenced) -> None:
    run.changed_at = event.at
    budgeting.worked(run, event)
    if run.stuck is not None and not is_from_outside(event.type, event.body.get("by", "")):
        run.stuck = None
    if event.type in MOVING:
        run.status = moved(run.status, event.type, event.body.get("status", ""))
    of_run = _OF_RUN.get(event.type)
    if of_run is not None:
        of_run(tables, run, event)
