"""Thousands of random runs, legal and not, beside a plain model of a run and of the ledger."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from domain.events import (
    CallSettled,
    CallUnknown,
    ModelResponded,
    RunEnded,
    event_id,
)
from domain.ids import CallAt
from domain.runs.closing import left_open
from domain.runs.conversation import AssistantMessage, ToolMessage
from domain.runs.position import next_step
from domain.runs.run import TERMINAL, Run, evolve, fold, open_inputs
from domain.runs.transcript import Transcript
from domain.runs.unknown import unknown_input
from ledger.append import Part
from tests.support import facts
from tests.support.plain_ledger import Done
from tests.support.walk import Pending, Walk
from tests.support.walk_outside import nonsense

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.events import Fact

SEQUENCES = 5_000
MOVES = 8
MOST_MOVES_TO_END = 400


def agrees(walk: Walk, before: Run, fact: Fact) -> None:
    """See that the run moved as the plain model says and lost nothing of what it counts."""
    run, plain, at = walk.run, walk.plain, f"seed {walk.seed}: {event_id(fact)}"
    assert run.status.value == plain.status, at
    assert run.version == before.version + 1 == plain.facts, at
    if before.status in TERMINAL:
        assert (run.status, run.ended) == (before.status, before.ended), at
    assert (run.status in TERMINAL) == (run.ended is not None) == plain.ended, at
    was, now = before.spent, run.spent
    asked = len(plain.requests) + len(plain.summaries)
    assert (now.steps, run.ordinal) == (asked, plain.responses), at
    assert now.calls >= was.calls, at
    if now.tokens < was.tokens or Decimal(now.cost) < Decimal(was.cost):
        assert len(run.account.guessed) < len(before.account.guessed), f"{at}: no guess made way"
    assert (run.turns_done, run.items_done) == (plain.turns_done, plain.items_done), at
    assert list(run.temporal_runs) == plain.attached, at
    assert len(open_inputs(run)) == len(plain.asked - plain.answered), at


def knows_what_is_legal(walk: Walk) -> None:
    """See that a fact is refused exactly where it must be, and that a refusal moves nothing."""
    fact, run = nonsense(walk), walk.run
    if walk.plain.admits(fact):
        assert evolve(run, fact).version == run.version + 1
        return
    at = f"seed {walk.seed}: {event_id(fact)}"
    assert walk.history.tell(fact) is not None, at
    assert walk.run is run, at


def append(walk: Walk, pending: Pending) -> None:
    """Make one append; what is refused must have changed nothing."""
    before = {name: len(facts) for name, facts in walk.ledger.streams.items()}
    result = walk.ledger.append(*pending.parts)
    after = {name: len(facts) for name, facts in walk.ledger.streams.items()}
    new = sum(after.values()) - sum(before.values())
    whole = sum(len(part.facts) for part in pending.parts)
    made = isinstance(result, Done) and not result.repeated
    assert new == (whole if made else 0), f"seed {walk.seed}"
    walk.take(pending, result)


def walked(seed: int) -> Walk:
    """Walk one run: some moves of everybody, then its workflow alone, or its loss, to the end."""
    walk = Walk(seed, "r", agrees)
    append(walk, walk.begin())
    for _ in range(walk.chance.randint(3, MOVES)):
        for pending in walk.some(3):
            append(walk, pending)
        walk.wake()
        knows_what_is_legal(walk)
        assert next_step("r", walk.at) is not None
    to_its_end(walk)
    for zombie in [*walk.zombies]:
        while not zombie.over:
            append(walk, Pending(zombie.parts, zombie))
    return walk


def to_its_end(walk: Walk) -> None:
    """Bring a run to its end: by its workflow, by people's words where it waits, or as lost."""
    if walk.chance.random() < 0.3 and walk.run.ended is None:
        end = (*left_open(walk.run, {}), facts.run_ended("lost"))
        append(walk, Pending((Part(walk.stream, end, walk.run.version),)))
    for _ in range(MOST_MOVES_TO_END):
        pending = walk.working()
        if pending.parts:
            append(walk, pending)
        elif walk.run.ended is not None:
            return
        else:
            append(walk, Pending((Part(walk.stream, (facts.stopped("last"),)),)))
    message = f"seed {walk.seed}: no end in {MOST_MOVES_TO_END} moves, at {walk.at}"
    raise AssertionError(message)


def all_paired(walk: Walk) -> None:
    """See that every call has one outcome or is known to be unknown, and each is shown once."""
    told = walk.ledger.of(walk.stream)
    asked, settled, unknown = walk.plain.asked, walk.plain.settled, walk.plain.unknown
    for turn, step, position in walk.plain.calls - settled:
        assert (turn, step, position) in unknown, f"seed {walk.seed}"
        assert unknown_input(CallAt(turn, step, position), 1) in asked, f"seed {walk.seed}"
    assert Counter(map(event_id, told)).most_common(1)[0][1] == 1, f"seed {walk.seed}"
    assert sum(isinstance(fact, RunEnded) for fact in told) == 1, f"seed {walk.seed}"
    transcript = Transcript()
    for fact in told:
        transcript.tell(fact, {})
    pending = 0
    for message in transcript.messages:
        assert pending == 0 or isinstance(message, ToolMessage), f"seed {walk.seed}"
        pending -= isinstance(message, ToolMessage)
        pending += len(message.calls) if isinstance(message, AssistantMessage) else 0
    assert pending == 0, f"seed {walk.seed}"


@pytest.mark.timeout(600)
def test_five_thousand_random_runs_agree_with_the_plain_model(
    say: Callable[[str], None],
) -> None:
    """Whoever writes, in whatever order, what is repeated, late or makes no sense."""
    seen: Counter[str] = Counter()
    for seed in range(SEQUENCES):
        walk = walked(seed)
        told = walk.ledger.of(walk.stream)
        if seed % 5 == 0:
            assert fold(told) == walk.run, f"seed {seed}"
        all_paired(walk)
        seen.update(fact.type for fact in told)
        seen[walk.run.status] += 1
    for kind in (ModelResponded, CallUnknown, CallSettled, RunEnded):
        assert seen[kind.model_fields["type"].default] > SEQUENCES // 10
    told_of = f"{SEQUENCES} runs, seeds from 0 on, {seen.total()} facts and ends"
    say(f"{told_of}: {dict(seen.most_common())}")
