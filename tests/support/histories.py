"""Histories of runs for property tests: plausible ones, step by step, and arbitrary ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from domain.agents.request import AgentRequest
from domain.events import (
    BudgetRaised,
    CheckCompleted,
    ContextCompacted,
    Entry,
    Fact,
    InputSettled,
    ItemCompleted,
    ModelDiscarded,
    ModelFailed,
    ModelLost,
    RunHealed,
    RunRefused,
    RunResumed,
    RunStuck,
    RunWaiting,
    SummarySettled,
)
from domain.runs.budget import Budget, Limits
from domain.runs.conversation import Usage
from domain.runs.inputs import How, InputKind
from domain.runs.run import TERMINAL
from domain.tools.results import error, not_run, ok
from tests.support import facts

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

PROPERTY = settings(deadline=None, max_examples=35, suppress_health_check=[HealthCheck.too_slow])

ENDINGS = st.sampled_from(sorted(status.value for status in TERMINAL))
_SMALL = st.integers(1, 3)
_PLACE = st.integers(0, 3)
USAGES = st.sampled_from(
    [
        Usage(input_tokens=tokens, output_tokens=tokens and tokens // 3, cost=cost)
        for tokens in (None, 0, 7, 9_999)
        for cost in (None, "0", "0.0003", "4.1")
    ]
)
BUDGETS = st.sampled_from(
    [
        Budget(),
        Budget(seconds=20, steps=9, cost="2.50"),
        Budget(calls=4, tokens=900, soft=Limits(tokens=100, cost="1")),
    ]
)
OUTCOMES = st.sampled_from([ok("fine"), error("tool_raised", "bad"), not_run("stopped", "no")])

_AT = {"turn": _SMALL, "step": _SMALL}


def _made(build: Callable[..., Fact], **given: SearchStrategy[object]) -> SearchStrategy[Fact]:
    return st.builds(build, **given)


ANY_FACT: SearchStrategy[Fact] = st.one_of(
    _made(facts.accepted, run_id=st.just("r"), entry=st.sampled_from(Entry)),
    _made(facts.attached, epoch=_SMALL),
    _made(facts.defined),
    _made(RunRefused, code=st.just("definition_refused"), problems=st.just(("bad",))),
    _made(facts.turn_started, turn=_SMALL),
    _made(facts.requested, **_AT, n=_SMALL, reserved=USAGES, incoming=_PLACE),
    _made(facts.responded, **_AT, n=_SMALL, calls=_PLACE),
    _made(ModelFailed, **_AT, n=_SMALL, code=st.just("c"), message=st.just("m"),
          disposition=st.just("retry")),
    _made(ModelLost, **_AT, n=_SMALL),
    _made(ModelDiscarded, **_AT, n=_SMALL, usage=USAGES),
    _made(facts.summary_requested, **_AT, n=_SMALL, reserved=USAGES),
    _made(SummarySettled, **_AT, n=_SMALL, code=st.sampled_from(["lost", "empty"]), usage=USAGES),
    _made(facts.intended, **_AT, position=_PLACE, round_=_SMALL),
    _made(facts.unknown, **_AT, position=_PLACE, round_=_SMALL),
    _made(facts.settled, **_AT, position=_PLACE, outcome=OUTCOMES),
    _made(facts.asked, input_id=st.sampled_from("ab"), kind=st.sampled_from(InputKind)),
    _made(facts.answered, input_id=st.sampled_from("ab")),
    _made(facts.stopped, submission=st.sampled_from("ab")),
    _made(RunWaiting, n=_SMALL, on=st.just("input"), ref=st.just("a")),
    _made(RunResumed, n=_SMALL),
    _made(RunStuck, n=_SMALL, code=st.just("start_refused"), where=st.just("w"), why=st.just("y"),
          attempts=_SMALL),
    _made(RunHealed, n=_SMALL),
    _made(CheckCompleted, item=_PLACE, attempt=_PLACE, ok=st.booleans(), terminal=st.booleans(),
          failures=st.just(()), report=st.just("")),
    _made(facts.turn_completed, turn=_SMALL),
    _made(ItemCompleted, item=_PLACE),
    _made(facts.run_ended, status=ENDINGS),
    _made(facts.message, submission=st.sampled_from("ab")),
)  # fmt: skip

ANY_FACTS: SearchStrategy[list[Fact]] = st.lists(ANY_FACT, max_size=25)


@dataclass
class _Writer:
    """Writes one plausible run, as the activities would."""

    draw: DrawFn
    told: list[Fact] = field(default_factory=list[Fact])
    waits: int = 0

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def step(self, turn: int, step: int) -> bool:
        """Take one step; tells whether the turn goes on."""
        n = 1
        if self.chance():
            self._compact(turn, step)
        self.told.append(facts.requested(turn, step, n, reserved=self.draw(USAGES)))
        while n < 3 and self.chance():
            self.told.append(self._without_answer(turn, step, n))
            n += 1
            self.told.append(facts.requested(turn, step, n, reserved=self.draw(USAGES)))
        calls = self.draw(st.integers(0, 3))
        self.told.append(facts.responded(turn, step, n, calls=calls))
        if n > 1 and self.chance():
            usage = self.draw(USAGES)
            self.told.append(ModelDiscarded(turn=turn, step=step, n=1, usage=usage))
        for position in self.draw(st.permutations(range(calls))):
            self._call(turn, step, position)
        return calls > 0

    def _compact(self, turn: int, step: int) -> None:
        """Ask for summaries until one takes its place, or take it from the record."""
        n = self.draw(st.integers(0, 2))
        for asked in range(1, n + 1):
            self.told.append(facts.summary_requested(turn, step, asked, reserved=self.draw(USAGES)))
            if asked < n or self.chance():
                self.told.append(self._without_summary(turn, step, asked))
        late = self.draw(st.sampled_from([0, n]))
        self.told.append(
            ContextCompacted(
                turn=turn, step=step, through_turn=0, through_step=0, summary="so far", kept=(),
                model="", usage=self.draw(USAGES), n=late,
            )
        )  # fmt: skip

    def _without_summary(self, turn: int, step: int, n: int) -> Fact:
        code = self.draw(st.sampled_from(["lost", "model_timeout", "rate_limited", "discarded"]))
        usage = self.draw(USAGES)
        return SummarySettled(turn=turn, step=step, n=n, code=code, usage=usage)

    def _without_answer(self, turn: int, step: int, n: int) -> Fact:
        if self.chance():
            return ModelLost(turn=turn, step=step, n=n)
        return ModelFailed(
            turn=turn, step=step, n=n, code="overloaded", message="", disposition="retry"
        )

    def _call(self, turn: int, step: int, position: int) -> None:
        at = (turn, step, position)
        if self.chance():
            self.told.append(facts.intended(*at))
        if self.chance():
            self.told.append(facts.unknown(*at))
            self._ask(f"unknown-{turn}.{step}.{position}")
        self.told.append(facts.settled(*at, outcome=self.draw(OUTCOMES)))

    def _ask(self, input_id: str) -> None:
        self.told.append(facts.asked(input_id))
        self.waits += 1
        self.told.append(RunWaiting(n=self.waits, on="unknown_effect", ref=input_id))
        how = self.draw(st.sampled_from(How))
        self.told.append(InputSettled(input_id=input_id, how=how, answer="", by="person:a"))
        self.told.append(RunResumed(n=self.waits))


@st.composite
def runs(draw: DrawFn) -> list[Fact]:
    """A run as it could stand in a ledger: cut short anywhere, ended or not, late facts after."""
    writer = _Writer(draw)
    request = AgentRequest(role="generic", message="go", budget=draw(BUDGETS))
    writer.told += [facts.accepted("r", request=request), facts.attached(), facts.defined()]
    for turn in range(1, 1 + draw(st.integers(0, 3))):
        writer.told.append(facts.turn_started(turn))
        step = 1
        while writer.step(turn, step) and step < 3:
            step += 1
        writer.told.append(facts.turn_completed(turn))
    told = writer.told[: draw(st.integers(1, len(writer.told)))]
    if draw(st.booleans()):
        told.insert(draw(st.integers(1, len(told))), facts.stopped())
    if draw(st.booleans()):
        added = Limits(steps=5, cost="0.25", seconds=1.5)
        raised = BudgetRaised(submission="more", added=added, by="person:a")
        told.insert(draw(st.integers(1, len(told))), raised)
    if draw(st.booleans()):
        late = [fact for fact in writer.told[len(told) :] if fact.after_end]
        told.append(facts.run_ended(draw(ENDINGS)))
        told += [fact for fact in late if _is_known(fact, told)]
    return told


def _is_known(fact: Fact, told: list[Fact]) -> bool:
    """Tell whether what a late fact speaks of was recorded before the end."""
    match fact.type:
        case "call.settled":
            return any(
                f.type == "model.responded"
                and (f.turn, f.step) == (fact.turn, fact.step)
                and any(call.position == fact.position for call in f.calls)
                for f in told
            )
        case "model.discarded":
            return any(f.type == "model.requested" and f.key() == fact.key() for f in told)
        case "summary.settled":
            return any(f.type == "summary.requested" and f.key() == fact.key() for f in told)
        case _:
            return True
