"""What reaches a run from outside its workflow: people, late outcomes, repeats and nonsense."""

from __future__ import annotations

from typing import TYPE_CHECKING

from domain.agents.request import AgentRequest
from domain.events import (
    ContextCompacted,
    Fact,
    InputLate,
    InputSettled,
    ModelDiscarded,
    ModelLost,
    RunHealed,
    RunReconciled,
    RunStuck,
    SummarySettled,
)
from domain.runs.conversation import Usage
from domain.runs.inputs import How
from domain.tools.results import error
from ledger.append import Part
from tests.support import facts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.support.walk import Walk
    from tests.support.walk_activities import Parts


def from_outside(walk: Walk) -> Parts:
    """Choose what somebody else appends; () where there is nothing to say."""
    roll = walk.chance.random()
    if roll < 0.03:
        return (Part(walk.stream, (_stop(walk),)),)
    if roll < 0.20:
        return _message(walk)
    if roll < 0.60:
        return _answer(walk)
    if roll < 0.70:
        return _late_outcome(walk)
    if roll < 0.78:
        return _stuck(walk)
    if roll < 0.90:
        return _again(walk)
    return _after_the_end(walk)


def _stop(walk: Walk) -> Fact:
    number = walk.chance.randint(1, 2)
    return facts.stopped(f"s{number}", walk.chance.choice(["enough", "enough", "too dear"]))


def _message(walk: Walk) -> Parts:
    text = walk.chance.choice(["hello", "hello", "else"])
    message = facts.message(f"m{walk.chance.randint(1, 4)}", text, walk.run_id)
    return (Part(walk.incoming, (message,)), Part(walk.stream, (), open_only=True))


def _answer(walk: Walk) -> Parts:
    """Answer a question, or withdraw it; with a settled call where it is about an effect."""
    if not walk.run.inputs:
        return ()
    asked = walk.chance.choice(walk.run.inputs).asked
    by = walk.chance.choice(["person:a", "person:b"])
    how = walk.chance.choice([How.ANSWERED, How.ANSWERED, How.DISMISSED, How.WITHDRAWN])
    fact = InputSettled(input_id=asked.input_id, how=how, answer="this", by=by)
    if asked.input_id.startswith("unknown-"):
        at = (asked.turn, asked.step, asked.position)
        return (Part(walk.stream, (fact, facts.settled(*at, outcome=error("e", by)))),)
    if walk.chance.random() < 0.1:
        late = InputLate(input_id=asked.input_id, submission=by, answer="that", by=by)
        return (Part(walk.stream, (late,)),)
    return (Part(walk.stream, (fact,)),)


def _late_outcome(walk: Walk) -> Parts:
    """Settle a call, or discard a response, that was begun at some time."""
    if walk.plain.calls and walk.chance.random() < 0.6:
        place = walk.chance.choice(sorted(walk.plain.calls))
        outcome = error("late", f"by {walk.chance.randint(1, 2)}")
        return (Part(walk.stream, (facts.settled(*place, outcome=outcome),)),)
    if not walk.plain.requests:
        return ()
    turn, step, n = walk.chance.choice(sorted(walk.plain.requests))
    usage = Usage(output_tokens=walk.chance.randint(1, 2))
    return (Part(walk.stream, (ModelDiscarded(turn=turn, step=step, n=n, usage=usage),)),)


def _stuck(walk: Walk) -> Parts:
    n = walk.run.stucks
    if n and walk.run.stuck is not None:
        return (Part(walk.stream, (RunHealed(n=n),)),)
    stuck = RunStuck(n=n + 1, code="activity_failing", where="w", why="y", attempts=3)
    return (Part(walk.stream, (stuck,)),)


def _again(walk: Walk) -> Parts:
    """Repeat something that stands there: as it is, in other words, or with something new."""
    stored = walk.ledger.of(walk.stream)
    fact: Fact = walk.chance.choice(stored)
    roll = walk.chance.random()
    if roll < 0.5:
        return (Part(walk.stream, (fact,), walk.chance.choice([None, 0, len(stored)])),)
    if roll < 0.75:
        return (Part(walk.stream, (_in_other_words(fact),)),)
    message = facts.message("m9", run_id=walk.run_id)
    return (Part(walk.incoming, (message,)), Part(walk.stream, (fact,)))


def _in_other_words(fact: Fact) -> Fact:
    """Give another fact with the same id."""
    for name, value in (("text", "other"), ("reason", "other"), ("answer", "other")):
        if name in type(fact).model_fields and name not in fact.keys:
            return fact.model_copy(update={name: value})
    match fact.type:
        case "run.accepted":
            request = AgentRequest(role="generic", message="something else")
            return fact.model_copy(update={"request": request})
        case "call.settled":
            return fact.model_copy(update={"outcome": error("other", "other")})
        case _:
            return fact


def _after_the_end(walk: Walk) -> Parts:
    """What may not come once the run has ended, and what may come only then."""
    if walk.run.ended is None:
        return ()
    late: list[Fact] = [
        facts.stopped("s9"),
        facts.run_ended("failed"),
        facts.requested(9, 9, 9),
        RunReconciled(result="checked", digest="d", links=1, results=1),
    ]
    return (Part(walk.stream, (walk.chance.choice(late),)),)


def nonsense(walk: Walk) -> Fact:
    """Make a fact that may or may not stand next in a run's stream: `legal` must know which."""
    chance = walk.chance
    turn, step, n = chance.randint(1, 3), chance.randint(1, 3), chance.randint(1, 3)
    call = {"turn": turn, "step": step, "position": n - 1}
    return chance.choice(_NONSENSE)(turn, step, n, call)


def _compacted(turn: int, step: int, n: int, _: Mapping[str, int]) -> Fact:
    return ContextCompacted(
        turn=turn, step=step, through_turn=n - 1, through_step=1, summary="s", kept=(), model="",
        usage=facts.USED, n=n % 3,
    )  # fmt: skip


_NONSENSE: tuple[Callable[[int, int, int, Mapping[str, int]], Fact], ...] = (
    lambda _t, _s, _n, _c: facts.accepted("r"),
    lambda _t, _s, _n, _c: facts.accepted("another"),
    lambda _t, _s, n, _c: facts.attached(7 + n),
    lambda t, s, n, _c: facts.responded(t, s, n, calls=1),
    lambda t, s, n, _c: ModelLost(turn=t, step=s, n=n),
    lambda t, s, n, _c: ModelDiscarded(turn=t, step=s, n=n, usage=facts.USED),
    lambda _t, _s, _n, c: facts.intended(**c, round_=7),
    lambda _t, _s, _n, c: facts.unknown(**c, round_=7),
    lambda _t, _s, _n, c: facts.settled(c["turn"], c["step"], c["position"]),
    _compacted,
    lambda t, s, n, _c: facts.summary_requested(t, s, n),
    lambda t, s, n, _c: SummarySettled(turn=t, step=s, n=n, code="empty", usage=facts.USED),
    lambda _t, _s, _n, _c: facts.run_ended("completed"),
    lambda _t, _s, _n, _c: facts.run_ended("running"),
    lambda _t, _s, _n, _c: facts.run_ended("nonsense"),
    lambda _t, _s, _n, _c: RunReconciled(result="checked", digest="d", links=1, results=1),
    lambda t, _s, _n, _c: facts.turn_started(t),
    lambda _t, _s, _n, _c: facts.stopped("s8"),
)
