"""A run told line by line: one line for each event that a person wants to see."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from domain.codec import decode_object
from domain.events import (
    BudgetRaised,
    BudgetSpent,
    BudgetWarned,
    CallIntended,
    CallSettled,
    CallUnknown,
    CheckCompleted,
    ContextCompacted,
    ContinuationDropped,
    Fact,
    FindingRecorded,
    FindingsClaimed,
    InputAsked,
    InputLate,
    InputSettled,
    ItemCompleted,
    ModelDiscarded,
    ModelFailed,
    ModelLost,
    ModelRequested,
    ModelResponded,
    ReceiptWritten,
    RunAccepted,
    RunAttached,
    RunDefined,
    RunEnded,
    RunHealed,
    RunJoined,
    RunQueued,
    RunReconciled,
    RunRefused,
    RunResumed,
    RunStuck,
    RunWaiting,
    StopRequested,
    SummaryRequested,
    SummarySettled,
    TurnStarted,
)
from domain.runs.budget import tokens_of
from domain.runs.budget_texts import added_text, over_message
from domain.runs.excerpts import MOST_LINES, first_line, tail
from domain.runs.pipeline import PRICES as PIPELINE
from domain.runs.recorded import short, stamp
from domain.runs.sequence import Item
from domain.tools.results import Tag
from domain.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from domain.codec import Json
    from domain.runs.recorded import Recorded
    from domain.tools.results import Outcome

SAID = 72
"""How many characters of what a model wrote stand on its line."""


@dataclass(frozen=True)
class Line:
    """One line. `at` is ISO 8601 in UTC, `level` 0 for the run, 1 for a turn, 2 below it.

    `outcome` is "" where the event is none of `ok`, `failed`, `waiting`; `seconds` is how
    long the thing took that the line reports the end of, None where it reports none.
    `detail` is what stands on lines of its own below it: the end of a failed check's output.
    """

    version: int
    at: str
    type: str
    level: int
    text: str
    outcome: str = ""
    seconds: float | None = None
    detail: str = ""


@dataclass
class Timeline:
    """Lines under construction; events are told in order, once each.

    `texts` are the session's messages by number, as far as they are known.
    """

    texts: dict[int, str] = field(default_factory=dict[int, str])
    _items: tuple[Item, ...] = ()
    _asked: str = "the model"
    _began: dict[str, datetime] = field(default_factory=dict[str, "datetime"])
    _calls: dict[tuple[int, int, int], str] = field(default_factory=dict[tuple[int, int, int], str])

    def tell(self, event: Recorded) -> Line | None:
        """Take one event; gives its line, or None where it has none."""
        said = self._said(event.fact, event.at)
        if said is None:
            return None
        level, text, outcome, seconds = said
        taken = None if seconds is None else round(max(0.0, seconds), 3)
        kind = event.fact.type
        detail = _detail(event.fact)
        return Line(event.version, stamp(event.at), kind, level, text, outcome, taken, detail)

    def _said(self, fact: Fact, at: datetime) -> _Said | None:
        match fact:
            case ModelRequested():
                self._began[f"request {fact.key()}"] = at
                return self._request(fact)
            case ModelResponded() | ModelFailed() | ModelLost() | ModelDiscarded():
                return self._model(fact, at)
            case CallIntended():
                self._began[f"call {fact.turn}.{fact.step}.{fact.position}"] = at
                again = f"call of {fact.name}: run again"
                return (2, again, "", None) if fact.round > 1 else None
            case CallSettled() | CallUnknown():
                return self._call(fact, at)
            case RunDefined():
                self._items = fact.items
                self._asked = asked_of(fact)
                return _begin(fact)
            case TurnStarted():
                return self._turn(fact)
            case ItemCompleted():
                return 1, f"{self._item(fact.item)} done", "ok", None
            case CheckCompleted():
                return self._check(fact)
            case _:
                return _begin(fact) or _people(fact) or _summary(fact) or _findings(fact)

    def _request(self, fact: ModelRequested) -> _Said | None:
        if fact.delivered:
            known = [self.texts[number] for number in fact.delivered if number in self.texts]
            many = "message" if len(fact.delivered) == 1 else f"{len(fact.delivered)} messages"
            said = f": {short('; '.join(known), 120)}" if known else ""
            return 2, f"step {fact.step}: {many} delivered{said}", "", None
        again = f"step {fact.step}: request {fact.n} is sent"
        return (2, again, "", None) if fact.n > 1 else None

    def _item(self, index: int) -> str:
        known = 0 <= index < len(self._items)
        name = self._items[index].name if known else str(index + 1)
        return f"item {index + 1} of {max(len(self._items), index + 1)} ({name})"

    def _turn(self, fact: TurnStarted) -> _Said:
        if fact.origin == "repair":
            return 1, f"turn {fact.turn}: repair of {self._item(fact.item)}", "", None
        return 1, f"turn {fact.turn}: {self._item(fact.item)}", "", None

    def _check(self, fact: CheckCompleted) -> _Said:
        what = f"checks of {self._item(fact.item)}"
        if fact.ok:
            return 2, f"{what} passed", "ok", None
        failures = "; ".join(first_line(failure) for failure in fact.failures)
        why = short(failures or first_line(fact.report), 300)
        verb = "cannot run" if fact.terminal else "failed"
        return 2, f"{what} {verb}: {why}", "failed", None

    def _since(self, key: str, at: datetime) -> float | None:
        began = self._began.get(key)
        return None if began is None else (at - began).total_seconds()

    def _model(
        self, fact: ModelResponded | ModelFailed | ModelLost | ModelDiscarded, at: datetime
    ) -> _Said:
        where = f"step {fact.step}"
        took = self._since(f"request {fact.turn}.{fact.step}.{fact.n}", at)
        match fact:
            case ModelResponded():
                self._began[f"step {fact.turn}.{fact.step}"] = at
                for call in fact.calls:
                    place = (fact.turn, fact.step, call.position)
                    self._calls[place] = call_title(call.name, call.arguments)
                return 2, f"{where}: {self._asked} {_answer(fact)}", "ok", took
            case ModelFailed():
                why = f"{fact.code}: {short(fact.message)}"
                return 2, f"{where}: the request failed, {why}", "failed", took
            case ModelLost():
                text = f"{where}: request {fact.n} was lost, counted at its reservation"
                return 2, text, "failed", took
            case ModelDiscarded():
                return 2, f"{where}: a second response was discarded", "", took

    def _call(self, fact: CallSettled | CallUnknown, at: datetime) -> _Said:
        place = f"{fact.turn}.{fact.step}.{fact.position}"
        title = self._calls.get((fact.turn, fact.step, fact.position), fact.name)
        took = self._since(f"call {place}", at)
        if isinstance(fact, CallUnknown):
            text = f"{title}: nobody can tell whether it happened ({short(fact.reason)})"
            return 2, text, "waiting", took
        if took is None:
            took = self._since(f"step {fact.turn}.{fact.step}", at)
        outcome = fact.outcome
        came = "ok" if outcome.tag is Tag.OK else _failure(outcome)
        by = "" if fact.by == "execution" else f", by {fact.by}"
        changed = f", changed {', '.join(outcome.changed)}" if outcome.changed else ""
        text = f"{title}: {came}{short(changed, 120)}{by}"
        return 2, text, "ok" if outcome.tag is Tag.OK else "failed", took


_Said = tuple[int, str, str, float | None]


def _failure(outcome: Outcome) -> str:
    """Say how a call failed: its code, and the beginning of what it said."""
    why = short(first_line(outcome.text), 200)
    said = f"{outcome.tag.value} {outcome.code}".strip()
    return f"{said}: {why}" if why else said


def _detail(fact: Fact) -> str:
    """Give the end of each failed check's output."""
    if not isinstance(fact, CheckCompleted) or fact.ok:
        return ""
    most = MOST_LINES // max(1, len(fact.failures))
    outputs = [failure.partition("\n")[2] for failure in fact.failures]
    return "\n".join(tail(output, max(10, most)) for output in outputs if output.strip())


def lines(events: Iterable[Recorded], texts: dict[int, str] | None = None) -> tuple[Line, ...]:
    """Tell a whole run; `texts` are its session's messages by number."""
    timeline = Timeline(texts or {})
    told = [timeline.tell(event) for event in events]
    return tuple(line for line in told if line is not None)


def call_title(name: str, arguments: str) -> str:
    """Write a call with its arguments on one short line."""
    try:
        given = decode_object(arguments)
        said = ", ".join(f"{k}={_value(v)}" for k, v in given.items())
    except (ValueError, RecursionError):  # writing a value may go deeper than reading it did
        return f"{name}({short(arguments, 60)})"
    return f"{name}({short(said, 80)})"


def waits_for(waiting: RunWaiting) -> str:
    """Say what a run waits for, why and until when as far as that is known."""
    until = f"until {waiting.until[:19].replace('T', ' ')}" if waiting.until else ""
    why = f"({waiting.why})" if waiting.why else ""
    return " ".join(part for part in (waiting.on, waiting.ref, why, until) if part)


def asked_of(defined: RunDefined) -> str:
    """Say who answers in a run: its model, or the pipeline of a run without one."""
    return "the pipeline" if defined.runtime.pipeline else "the model"


def _value(value: Json) -> str:
    return short(value, 60) if isinstance(value, str) else short(str(value), 40)


def _answer(fact: ModelResponded) -> str:
    asked = ", ".join(call.name for call in fact.calls)
    if fact.usage.prices == PIPELINE:
        return f"asked for {short(asked)}" if asked else "reported"
    spent = f"{tokens_of(fact.usage)} tokens"
    if fact.usage.cost is not None:
        spent += f", ${fact.usage.cost}"
    if not fact.calls:
        return f"answered ({spent}): {short(fact.text, SAID)}"
    said = f", saying: {short(fact.text, SAID)}" if fact.text.strip() else ""
    return f"asked for {short(asked)} ({spent}){said}"


def _begin(fact: Fact) -> _Said | None:
    match fact:
        case RunQueued() | RunJoined():
            return _in_line(fact)
        case RunAccepted():
            going_on = f", going on from {fact.resumes}" if fact.resumes else ""
            where = f" in {fact.workspace}" if fact.request.workspace else ""
            return 0, f"accepted: {fact.agent}{where}{going_on}", "", None
        case RunAttached(epoch=1):
            return 0, "taken up by a worker", "", None
        case RunAttached():
            return 0, f"goes on in a new Temporal run (link {fact.epoch} of its chain)", "", None
        case RunDefined():
            return 0, f"defined: fingerprint {fact.fingerprint[:12]}, {_counted(fact)}", "", None
        case RunRefused():
            return 0, f"refused: {'; '.join(fact.problems)}", "failed", None
        case RunEnded():
            outcome = "ok" if fact.status == "completed" else "failed"
            why = f": {short(fact.message, 160)}" if fact.message else ""
            return 0, f"{fact.status} ({fact.reason}, by {fact.by}){why}", outcome, None
        case _:
            return _watched(fact)


def _watched(fact: Fact) -> _Said | None:
    """Tell what was found in Temporal of the run."""
    match fact:
        case RunStuck():
            text = f"stuck ({fact.code}) at {fact.where}: {short(fact.why, 160)}"
            return 0, text, "failed", None
        case RunHealed():
            return 0, "no longer stuck", "ok", None
        case RunReconciled(result="checked"):
            text = f"compared with Temporal: all {fact.results} activity results agree"
            return 0, text, "ok", None
        case RunReconciled():
            outcome = "failed" if fact.result == "mismatch" else ""
            return (
                0,
                f"compared with Temporal: {fact.result}, {short(fact.where, 160)}",
                outcome,
                None,
            )
        case _:
            return None


def _in_line(fact: RunQueued | RunJoined) -> _Said:
    if isinstance(fact, RunJoined):
        return 0, f"request {fact.request_id} became part of it", "", None
    return 0, f"in line for the slot {fact.slot}, held by run {fact.holder}", "waiting", None


def _counted(fact: RunDefined) -> str:
    names = ", ".join(item.name for item in fact.items)
    return f"{len(fact.items)} item{'s' if len(fact.items) > 1 else ''}: {short(names)}"


def _people(fact: Fact) -> _Said | None:
    match fact:
        case InputAsked():
            return 2, f"asks a person: {short(fact.question.text, 160)}", "waiting", None
        case InputSettled():
            said = f": {short(fact.answer)}" if fact.answer else ""
            return 2, f"question {fact.how.value} by {fact.by}{said}", "", None
        case InputLate():
            return 2, f"an answer of {fact.by} came too late: {short(fact.answer)}", "", None
        case StopRequested():
            reason = f": {short(fact.reason)}" if fact.reason else ""
            return 0, f"stop asked for by {fact.by}{reason}", "", None
        case ContinuationDropped():
            answers = "an answer" if fact.answers == 1 else f"{fact.answers} answers"
            return 1, f"the other model is not given the reasoning of {answers}", "", None
        case BudgetWarned():
            return 2, f"step {fact.step}: told to wrap up ({', '.join(fact.limits)})", "", None
        case BudgetRaised():
            return 0, f"budget raised by {fact.by}: {added_text(fact.added)}", "", None
        case BudgetSpent():
            return 0, f"budget spent: {over_message(fact)}", "failed", None
        case RunWaiting():
            return 1, f"waits for {waits_for(fact)}", "waiting", None
        case RunResumed():
            return 1, "goes on", "", None
        case _:
            return None


def _summary(fact: Fact) -> _Said | None:
    match fact:
        case SummaryRequested():
            return 1, f"step {fact.step}: the model is asked for a summary", "", None
        case SummarySettled():
            why = "lost, counted at its reservation" if fact.code == "lost" else fact.code
            return 1, f"step {fact.step}: no summary by the model: {why}", "failed", None
        case ContextCompacted():
            by = "by its model" if fact.model else "from the record"
            until = f"up to turn {fact.through_turn} step {fact.through_step}"
            return 1, f"the conversation {until} summed up {by}: {short(fact.summary)}", "", None
        case _:
            return None


def _findings(fact: Fact) -> _Said | None:
    match fact:
        case FindingRecorded():
            where = f" in {fact.path}" if fact.path else ""
            return 2, f"finding ({fact.severity}){where}: {short(fact.title)}", "", None
        case FindingsClaimed():
            return 2, f"{counted(len(fact.fingerprints), 'finding')} claimed", "", None
        case ReceiptWritten():
            text = f"receipt for {fact.module or 'the workspace'}: {fact.result}"
            return 2, f"{text}, {short(fact.text)}" if fact.text else text, "", None
        case _:
            return None
