"""What the demo claims, each claim judged by the ledger and by the tests' own count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.events import (
    CallSettled,
    CheckCompleted,
    InputAsked,
    ModelLost,
    ModelResponded,
    RunEnded,
)
from domain.review.findings import State, fold_findings
from domain.runs.recorded import facts_of
from domain.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from domain.events import Fact
    from domain.runs.recorded import Recorded
    from legato.demo.kills import Kill
    from legato.worktrees import Change


@dataclass(frozen=True, slots=True)
class Proof:
    """One claim, whether it holds, and what was seen."""

    claim: str
    holds: bool
    seen: str


def prove(
    events: Sequence[Recorded], kills: Sequence[Kill], tests: Sequence[str], change: Change | None
) -> tuple[Proof, ...]:
    """Judge every claim; `tests` are the lines that the test command itself left."""
    facts = facts_of(events)
    return (
        _completed(facts),
        _killed(kills),
        _answers(facts),
        _calls(facts),
        _tests(facts, tests),
        _repaired(facts),
        _nobody_asked(facts),
        _receipt(facts),
        _committed(change),
    )


def _completed(facts: Sequence[Fact]) -> Proof:
    ended = [fact for fact in facts if isinstance(fact, RunEnded)]
    seen = ", ".join(f"{fact.status} ({fact.reason})" for fact in ended) or "no end"
    holds = [fact.status for fact in ended] == ["completed"]
    return Proof("the run completed, and ended once", holds, seen)


def _killed(kills: Sequence[Kill]) -> Proof:
    pids = {kill.pid for kill in kills} | {kill.next_pid for kill in kills}
    seen = "; ".join(f"{kill.pid} {kill.where}, then {kill.next_pid}" for kill in kills)
    return Proof("two workers were killed, a third finished", len(pids) == len(kills) + 1 > 2, seen)  # noqa: PLR2004 - two kills


def _answers(facts: Sequence[Fact]) -> Proof:
    """The request that died with its worker is counted as lost and was sent once more."""
    lost = [fact for fact in facts if isinstance(fact, ModelLost)]
    answers = [(fact.turn, fact.step) for fact in facts if isinstance(fact, ModelResponded)]
    seen = (
        f"{counted(len(answers), 'answer')}, {counted(len(lost), 'request')} lost and asked again"
    )
    holds = len(lost) == 1 and len(set(answers)) == len(answers) > 0
    holds = holds and (lost[0].turn, lost[0].step) in answers
    return Proof("each model answer was recorded once", holds, seen)


def _calls(facts: Sequence[Fact]) -> Proof:
    asked = [
        (fact.turn, fact.step, call.position)
        for fact in facts
        if isinstance(fact, ModelResponded)
        for call in fact.calls
    ]
    settled = [
        (fact.turn, fact.step, fact.position) for fact in facts if isinstance(fact, CallSettled)
    ]
    holds = sorted(asked) == sorted(settled) and bool(asked)
    return Proof("each tool call was done once", holds, f"{len(asked)} asked, {len(settled)} done")


def _tests(facts: Sequence[Fact], tests: Sequence[str]) -> Proof:
    checks = [fact for fact in facts if isinstance(fact, CheckCompleted)]
    seen = (
        f"{counted(len(checks), 'check')} recorded, "
        f"{counted(len(tests), 'run')} counted by the tests themselves"
    )
    holds = len(checks) == len(tests) == 2  # noqa: PLR2004 - one fails, one passes
    return Proof("the killed test command went on and was not run again", holds, seen)


def _repaired(facts: Sequence[Fact]) -> Proof:
    ends = [fact.ok for fact in facts if isinstance(fact, CheckCompleted)]
    seen = ", then ".join("passed" if ok else "failed" for ok in ends)
    return Proof(
        "the first fix was refused by the tests, the repair passed", ends == [False, True], seen
    )


def _nobody_asked(facts: Sequence[Fact]) -> Proof:
    asked = sum(isinstance(fact, InputAsked) for fact in facts)
    return Proof("nobody was asked", asked == 0, counted(asked, "question"))


def _receipt(facts: Sequence[Fact]) -> Proof:
    findings = list(fold_findings(facts).values())
    seen = "; ".join(f"{one.title}: {one.state.value}" for one in findings)
    holds = [one.state for one in findings] == [State.CHANGED] and bool(findings[0].proof)
    return Proof("the finding was closed with proof", holds, seen)


def _committed(change: Change | None) -> Proof:
    if change is None or not change.commit:
        return Proof("the change is on its branch", holds=False, seen="nothing was committed")
    paths = [file.path for file in change.files]
    seen = f"{change.stat} on {change.tree.branch}"
    return Proof("the change is on its branch", paths == ["till/bill.py"], seen)
