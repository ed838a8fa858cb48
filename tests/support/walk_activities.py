"""Activities of a run that is walked at random: each append is a pause that others may use."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, TypeAlias

from domain.events import (
    CallUnknown,
    CheckCompleted,
    Fact,
    InputAsked,
    ItemCompleted,
    ModelDiscarded,
    ModelFailed,
    ModelLost,
    RunResumed,
    RunWaiting,
)
from domain.ids import CallAt
from domain.runs.closing import left_open
from domain.runs.inputs import OWNER, Question
from domain.runs.position import (
    Position,
    RunGroup,
    Waiting,
    after_build,
    after_check,
    after_group,
    after_step,
    after_wait,
    ended,
    next_step,
)
from domain.runs.steps import (
    BuildInput,
    BuildResult,
    CallRef,
    CallResult,
    CheckInput,
    CheckResult,
    CloseInput,
    Ending,
    ItemShape,
    StepInput,
    StepResult,
)
from domain.runs.unknown import unknown_input, unknown_question
from ledger.append import Part
from tests.support import facts
from tests.support.plain_ledger import Done, Refused, Result

if TYPE_CHECKING:
    from random import Random

    from domain.runs.run import CallState, Run
    from tests.support.walk import Walk

Parts: TypeAlias = tuple[Part, ...]
Activity: TypeAlias = Generator[Parts, Result, Position | None]
"""Yields what it appends and is sent what came of it; () appends nothing. None: it gives up."""

STOPPED = Ending("stopped", "stop_requested")


def activity(walk: Walk, at: Position) -> Activity:
    """Begin what is next at a position."""
    doing = _Doing(walk, at)
    step = next_step(walk.run_id, at)
    match step:
        case BuildInput():
            return doing.build()
        case StepInput():
            return doing.step(step)
        case RunGroup():
            return doing.group(tuple(call.call for call in step.calls))
        case CheckInput():
            return doing.check(step)
        case Waiting():
            return doing.wait(step)
        case CloseInput():
            return doing.close(step)
        case _:
            message = f"nobody does {step}"
            raise AssertionError(message)


class _Doing:
    """What an activity of a walk can do from a position."""

    def __init__(self, walk: Walk, at: Position) -> None:
        self.walk, self.at = walk, at

    @property
    def run(self) -> Run:
        return self.walk.run

    @property
    def chance(self) -> Random:
        return self.walk.chance

    def own(self, *given: Fact, guarded: bool = False) -> Part:
        """Put facts into the run's stream; guarded: only where it stands as it was read."""
        return Part(self.walk.stream, given, self.run.version if guarded else None)

    def session(self) -> Part:
        """Assert that no message came since."""
        return Part(self.walk.incoming, (), len(self.walk.ledger.of(self.walk.incoming)))

    def build(self) -> Activity:
        yield (self.own(facts.attached()),)
        if (yield (self.own(facts.defined()),)) == Refused(frozenset({"run_closed"})):
            return ended(self.at, STOPPED)
        count = self.chance.randint(1, 2)
        shapes = tuple(
            ItemShape("item", has_turn=turn, has_checks=not turn or self.chance.random() < 0.5)
            for turn in (self.chance.random() < 0.8 for _ in range(count))
        )
        return after_build(self.at, BuildResult("ok", shapes))

    def step(self, step: StepInput) -> Activity:
        at = (step.turn, step.step)
        if step.step == 1:
            yield (self.own(facts.turn_started(step.turn)),)
        while True:
            run = self.run
            if run.stop is not None or run.ended is not None:
                return ended(self.at, STOPPED)
            taken = run.step
            if taken is not None and (taken.turn, taken.step) > at:
                return None
            if taken is not None and (taken.turn, taken.step) == at and taken.answered:
                break
            result = yield from self._request(*at)
            if result is not None:
                return after_step(self.at, result)
        left = [call for call in taken.calls if call.outcome is None]
        if not taken.calls:
            return (yield from self._turn_completed(step))
        if not left:
            return after_step(self.at, StepResult("again"))
        return after_step(self.at, StepResult("calls", groups=self._groups(*at, left)))

    def _request(self, turn: int, step: int) -> Generator[Parts, Result, StepResult | None]:
        """Ask once; gives how the step ended where that is not by an answer."""
        taken = self.run.step
        here = taken is not None and (taken.turn, taken.step) == (turn, step)
        n = 1 + (len(taken.requested) if taken is not None and here else 0)
        open_ = taken.open if taken is not None and here else None
        lost = (ModelLost(turn=turn, step=step, n=open_.n),) if open_ is not None else ()
        asked = facts.requested(turn, step, n)
        done = yield (self.own(*lost, asked, guarded=True), self.session())
        if isinstance(done, Refused):
            return None
        if n < 4 and self.chance.random() < 0.25:
            how = self.chance.choice(["retry", "capacity"])
            yield (
                self.own(
                    ModelFailed(turn=turn, step=step, n=n, code="c", message="", disposition=how)
                ),
            )
            return StepResult("capacity", "c", retry_after=1.0) if how == "capacity" else None
        calls = self.chance.choice([0, 0, 1, 2, 3]) if step < 3 else 0
        done = yield (self.own(facts.responded(turn, step, n, calls=calls)),)
        if isinstance(done, Refused):
            usage = facts.USED
            yield (self.own(ModelDiscarded(turn=turn, step=step, n=n, usage=usage)),)
        return None

    def _groups(
        self, turn: int, step: int, left: list[CallState]
    ) -> tuple[tuple[CallRef, ...], ...]:
        refs = [CallRef(turn, step, call.request.position, "read_file", 10.0) for call in left]
        cut = self.chance.randint(1, len(refs))
        return tuple(tuple(group) for group in (refs[:cut], refs[cut:]) if group)

    def _turn_completed(self, step: StepInput) -> Activity:
        item = () if self.at.items[step.item].has_checks else (ItemCompleted(item=step.item),)
        done = yield (
            self.own(facts.turn_completed(step.turn), *item, guarded=True),
            self.session(),
        )
        if isinstance(done, Refused) and self.run.turns_done < step.turn:
            return after_step(self.at, StepResult("again"))
        return after_step(self.at, StepResult("turn_completed"))

    def group(self, calls: tuple[CallRef, ...]) -> Activity:
        results: list[CallResult] = []
        for call in calls:
            result = yield from self._call(call)
            if result is None:
                return None
            results.append(result)
        return after_group(self.at, tuple(results))

    def _call(self, ref: CallRef) -> Generator[Parts, Result, CallResult | None]:
        """Run a call, ask about it, or find out what became of it."""
        state = self._state(ref)
        if self.run.stop is not None or self.run.ended is not None:
            return CallResult("stopped")
        if state is None:
            return None
        place = (ref.turn, ref.step, ref.position)
        question = f"q-{ref.turn}.{ref.step}.{ref.position}"
        if state.outcome is not None:
            return CallResult("settled")
        if state.unknown:
            return CallResult(
                "waiting", wait_on="unknown_effect", ref=self._doubt(ref, state.round)
            )
        if state.asks and question not in self.walk.plain.answered:
            return CallResult("waiting", wait_on="input", ref=question)
        if not state.round:
            yield (self.own(facts.intended(*place)),)
        roll = 1.0 if state.asks else self.chance.random()
        if roll < 0.2:
            yield (self.own(self._asked(ref, question, Question(text="Which?")), guarded=True),)
            return (yield from self._call(ref))
        if roll < 0.35:
            doubt = self._asked(ref, self._doubt(ref, 1), unknown_question("read_file", "lost"))
            unknown = CallUnknown(
                turn=ref.turn, step=ref.step, position=ref.position, round=1, name="t", reason="r"
            )
            yield (self.own(unknown, doubt, guarded=True),)
            return (yield from self._call(ref))
        yield (self.own(facts.settled(*place)),)
        return CallResult("settled")

    def _state(self, ref: CallRef) -> CallState | None:
        at = self.run.step
        if at is None or (at.turn, at.step) != (ref.turn, ref.step):
            return None
        return next((c for c in at.calls if c.request.position == ref.position), None)

    def _doubt(self, ref: CallRef, round_: int) -> str:
        return unknown_input(CallAt(ref.turn, ref.step, ref.position), round_)

    def _asked(self, ref: CallRef, input_id: str, question: Question) -> InputAsked:
        question = question.model_copy(update={"who": (OWNER,)})
        return InputAsked(
            input_id=input_id, turn=ref.turn, step=ref.step, position=ref.position,
            question=question,
        )  # fmt: skip

    def check(self, step: CheckInput) -> Activity:
        passed = self.chance.random() < 0.7
        fact = CheckCompleted(
            item=step.item, attempt=step.attempt, ok=passed, terminal=False, failures=(), report=""
        )
        item = (ItemCompleted(item=step.item),) if passed else ()
        done = yield (self.own(fact, *item),)
        if isinstance(done, Done):
            return after_check(self.at, CheckResult("passed" if passed else "failed"))
        there = self.walk.check(step.item, step.attempt)
        if there is None:
            return ended(self.at, STOPPED)
        return after_check(self.at, CheckResult("passed" if there.ok else "failed"))

    def wait(self, step: Waiting) -> Activity:
        yield (self.own(RunWaiting(n=step.n, on=step.wait.on, ref=step.wait.ref)),)
        while self.run.stop is None and self.run.ended is None and not self._is_over(step):
            yield ()
        if self.run.stop is not None or self.run.ended is not None:
            return ended(self.at, STOPPED)
        yield (self.own(RunResumed(n=step.n)),)
        return after_wait(self.at)

    def _is_over(self, step: Waiting) -> bool:
        if step.wait.on == "capacity" or step.wait.ref in self.walk.plain.answered:
            return True
        return all(
            (ref.turn, ref.step, ref.position) in self.walk.plain.settled
            for ref in self.at.groups[0]
        )

    def close(self, step: CloseInput) -> Activity:
        while self.run.ended is None:
            status = "stopped" if self.run.stop is not None else step.ending.status
            end = facts.run_ended(status)
            yield (self.own(*left_open(self.run, {}), end, guarded=True),)
        return self.at
