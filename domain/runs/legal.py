"""Which facts may stand in a run's stream, and after what: every illegal step by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from domain.events import (
    CallIntended,
    CallSettled,
    CallUnknown,
    ContextCompacted,
    Fact,
    ModelDiscarded,
    ModelFailed,
    ModelLost,
    ModelRequested,
    ModelResponded,
    RunAccepted,
    RunEnded,
    RunJoined,
    RunQueued,
    RunReconciled,
    StopRequested,
    SummaryRequested,
    SummarySettled,
    event_id,
)
from domain.ids import run_stream
from domain.runs.run import TERMINAL, Run, evolve

if TYPE_CHECKING:
    from collections.abc import Iterable

_IN_LINE = (RunJoined, StopRequested, RunEnded)
_ENDINGS = frozenset(status.value for status in TERMINAL)


@dataclass
class History:
    """A run's stream as far as it has been told; facts are told in order, once each."""

    stream: str
    run: Run = field(default_factory=Run)
    _requests: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])
    _calls: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])
    _summaries: set[tuple[int, int, int]] = field(default_factory=set[tuple[int, int, int]])

    def tell(self, fact: Fact) -> str | None:
        """Take one fact; gives what is illegal about it, None where nothing is."""
        problem = self._place_problem(fact) or self._reference_problem(fact)
        if problem is not None:
            return problem
        self.run = evolve(self.run, fact)
        match fact:
            case ModelRequested():
                self._requests.add((fact.turn, fact.step, fact.n))
            case SummaryRequested():
                self._summaries.add((fact.turn, fact.step, fact.n))
            case ModelResponded():
                self._calls.update((fact.turn, fact.step, c.position) for c in fact.calls)
            case _:
                pass
        return None

    def _place_problem(self, fact: Fact) -> str | None:
        run = self.run
        if isinstance(fact, RunAccepted | RunQueued):
            if run.version and not (run.in_line and isinstance(fact, RunAccepted)):
                return f"{fact.type} stands where a run has begun already"
            if run_stream(fact.run_id) != self.stream:
                return f"{fact.type} is of another run, {fact.run_id}"
        elif isinstance(fact, RunJoined) and run.accepted is not None:
            return f"{fact.type} stands after run.accepted"
        elif run.accepted is None and not (run.queued and isinstance(fact, _IN_LINE)):
            return f"{fact.type} stands before run.accepted"
        if run.ended is not None and not fact.after_end:
            return f"{fact.type} stands after run.ended"
        if isinstance(fact, RunReconciled) and run.ended is None:
            return "run.reconciled stands before run.ended"
        if isinstance(fact, RunEnded) and fact.status not in _ENDINGS:
            return f"run.ended names {fact.status!r}, which is no terminal state"
        return None

    def _asked_for(self, fact: SummarySettled | ContextCompacted) -> bool:
        """Tell whether a summary was requested; one from the record never is."""
        taken = isinstance(fact, ContextCompacted) and fact.n == 0
        return taken or (fact.turn, fact.step, fact.n) in self._summaries

    def _reference_problem(self, fact: Fact) -> str | None:
        match fact:
            case ModelResponded() | ModelFailed() | ModelLost() | ModelDiscarded():
                if (fact.turn, fact.step, fact.n) not in self._requests:
                    return f"{event_id(fact)} answers no request that stands before it"
            case SummarySettled() | ContextCompacted() if not self._asked_for(fact):
                return f"{event_id(fact)} is of no summary that was requested before it"
            case ContextCompacted():
                if (fact.through_turn, fact.through_step) >= (fact.turn, fact.step):
                    return f"{event_id(fact)} sums up a step that was not taken yet"
            case CallIntended() | CallUnknown() | CallSettled():
                if (fact.turn, fact.step, fact.position) not in self._calls:
                    return f"{event_id(fact)} is of no call in a response that stands before it"
            case _:
                pass
        return None


def illegal_step(stream: str, facts: Iterable[Fact]) -> tuple[int, str] | None:
    """Find the first illegal step of a run: its version and what is wrong, or None."""
    history = History(stream)
    for version, fact in enumerate(facts, start=1):
        problem = history.tell(fact)
        if problem is not None:
            return version, problem
    return None
