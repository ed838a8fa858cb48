"""A run in plain words: what may stand in its stream and what state that makes, without tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from domain.events import (
    CallIntended,
    CallSettled,
    CallUnknown,
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
    RunEnded,
    RunReconciled,
    RunResumed,
    RunWaiting,
    StopRequested,
    SummaryRequested,
    SummarySettled,
    TurnCompleted,
)

ENDS = [
    "completed",
    "failed",
    "stopped",
    "expired",
    "over_budget",
    "superseded",
    "interrupted",
    "escalated",
    "lost",
]

Place = tuple[int, int, int]


@dataclass
class PlainRun:
    """What is true of a run, kept by the simplest means."""

    run_id: str
    status: str = "queued"
    facts: int = 0
    ended: bool = False
    requests: set[Place] = field(default_factory=set[Place])
    summaries: set[Place] = field(default_factory=set[Place])
    responses: int = 0
    calls: set[Place] = field(default_factory=set[Place])
    settled: set[Place] = field(default_factory=set[Place])
    unknown: set[Place] = field(default_factory=set[Place])
    asked: set[str] = field(default_factory=set[str])
    answered: set[str] = field(default_factory=set[str])
    attached: list[str] = field(default_factory=list[str])
    turns_done: int = 0
    items_done: int = 0

    def admits(self, fact: Fact) -> bool:
        """Tell whether a fact may come next."""
        if (self.facts == 0) != isinstance(fact, RunAccepted):
            return False
        if self.ended and not fact.after_end:
            return False
        match fact:
            case RunAccepted():
                return fact.run_id == self.run_id
            case RunReconciled():
                return self.ended
            case RunEnded():
                return fact.status in ENDS
            case ModelResponded() | ModelFailed() | ModelLost() | ModelDiscarded():
                return (fact.turn, fact.step, fact.n) in self.requests
            case SummarySettled():
                return (fact.turn, fact.step, fact.n) in self.summaries
            case ContextCompacted():
                asked = fact.n == 0 or (fact.turn, fact.step, fact.n) in self.summaries
                return asked and (fact.through_turn, fact.through_step) < (fact.turn, fact.step)
            case CallIntended() | CallUnknown() | CallSettled():
                return (fact.turn, fact.step, fact.position) in self.calls
            case _:
                return True

    def tell(self, fact: Fact) -> None:
        """Take one fact that may come."""
        self.facts += 1
        if not self.ended:
            self._move(fact)
        match fact:
            case ModelRequested():
                self.requests.add((fact.turn, fact.step, fact.n))
            case SummaryRequested():
                self.summaries.add((fact.turn, fact.step, fact.n))
            case ModelResponded():
                self.responses += 1
                self.calls |= {(fact.turn, fact.step, call.position) for call in fact.calls}
            case CallUnknown():
                self.unknown.add((fact.turn, fact.step, fact.position))
            case CallSettled():
                self.settled.add((fact.turn, fact.step, fact.position))
            case InputAsked():
                self.asked.add(fact.input_id)
            case InputSettled():
                self.answered.add(fact.input_id)
            case TurnCompleted():
                self.turns_done = fact.turn
            case ItemCompleted():
                self.items_done = max(self.items_done, fact.item + 1)
            case _:
                pass

    def _move(self, fact: Fact) -> None:
        match fact:
            case RunEnded():
                self.ended, self.status = True, fact.status
            case StopRequested():
                self.status = "stopping"
            case RunAttached():
                self.attached.append(fact.temporal_run)
                self.status = "running" if self.status == "queued" else self.status
            case RunWaiting() if self.status == "running":
                self.status = "waiting"
            case RunResumed() if self.status == "waiting":
                self.status = "running"
            case _:
                pass
