"""SIGKILL of the worker at random moments: no effect of class `once` ever happens twice."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from domain.events import CallSettled, CallUnknown, InputAsked
from domain.runs.unknown import HAPPENED, NOT_HAPPENED
from domain.tools.results import Tag
from ledger.accept import accept_answer
from tests.support.rig import PERSON, kept_alive
from tests.support.trust import all_holds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from domain.runs.run import Run
    from ledger.reads import Stored
    from tests.support.rig import Rig

AT_ONCE = 4
EFFECTS = 12
LONGEST = 6.0
"""Seconds at most from one kill to the next."""

TOLD = 30.0
"""Seconds from an unknown effect to the question about it."""


def steps(counter: Path, name: str) -> str:
    """A run of so many effects, one after the other."""
    asked = [
        {"path": str(counter), "text": f"{name}-{n}", "sleep_seconds": 0.1} for n in range(EFFECTS)
    ]
    calls = [{"calls": [{"tool": "count_once", "arguments": each}]} for each in asked]
    return json.dumps({"steps": [*calls, {"text": "done"}]})


@dataclass
class Tally:
    """What is counted over all runs, and which effects happened outside how often."""

    kills: int = 0
    answers: int = 0
    asked: int = 0
    happened: Counter[str] = field(default_factory=Counter[str])

    @property
    def twice(self) -> list[str]:
        """Name the effects that happened more than once."""
        return [text for text, times in self.happened.items() if times > 1]


async def killing(rig: Rig, chance: random.Random, tally: Tally, kills: int) -> None:
    """Kill the newest worker so many times, at random moments of its life."""
    while tally.kills < kills:
        await asyncio.sleep(chance.uniform(0.2, LONGEST))
        worker = rig.workers[-1]
        if worker.process.poll() is None:
            worker.process.kill()
            tally.kills += 1
            await asyncio.to_thread(worker.process.wait)


async def answering(rig: Rig, run_id: str, counter: Path, tally: Tally) -> None:
    """Answer each question truly, as a person who looks outside, until the run has ended."""
    answered: set[str] = set()
    while (run := await rig.run(run_id)).ended is None:
        for question in (q.asked for q in run.inputs if q.settled is None):
            if question.input_id in answered:
                continue
            seen = text_of(run, question) in outside(counter)
            answer = HAPPENED if seen else NOT_HAPPENED
            await accept_answer(
                rig.ledger, PERSON, run_id, f"a-{time.monotonic_ns()}", question.input_id, answer,
                owner=True,
            )  # fmt: skip
            answered.add(question.input_id)
            tally.answers += 1
        await asyncio.sleep(0.2)


def text_of(run: Run, question: InputAsked) -> str:
    """Find which effect a question is about, by the arguments of the call it names."""
    assert run.step is not None
    arguments = json.loads(run.step.calls[question.position].request.arguments)
    return str(arguments["text"])


def outside(counter: Path) -> list[str]:
    """Read which effects happened outside."""
    return counter.read_text().split()


async def survive(rig: Rig, kills: int, say: Callable[[str], None]) -> Tally:
    """Keep runs going under kills, compare the record with what happened outside, and count."""
    seed = int(os.environ.get("PYTEST_SEED", "0")) or random.SystemRandom().randrange(1 << 32)
    say(f"seed {seed}")
    counter = rig.folder / "outside.txt"
    counter.write_text("")
    tally = Tally()
    alive = kept_alive(rig)
    await asyncio.sleep(0)
    attack = asyncio.create_task(killing(rig, random.Random(seed), tally, kills))  # noqa: S311 - printed, so that it can be played again
    ran: list[str] = []
    while tally.kills < kills:
        batch = [
            await rig.launch(model=rig.script(steps(counter, f"{len(ran)}-{n}")))
            for n in range(AT_ONCE)
        ]
        ran += batch
        await asyncio.gather(*(answering(rig, run_id, counter, tally) for run_id in batch))
    await attack
    alive.cancel()
    say(f"{tally.kills} kills, {len(ran)} runs, {tally.answers} questions answered")
    tally.happened.update(outside(counter))
    await compare(rig, ran, tally)
    return tally


async def compare(rig: Rig, ran: list[str], tally: Tally) -> None:
    """Started = finished = ledger; effects outside = those that the record holds for happened."""
    stored: list[Stored] = []
    for run_id in ran:
        assert (await rig.run(run_id)).status == "completed"
        stored += await rig.stored(run_id)
    settled = [one.fact for one in stored if isinstance(one.fact, CallSettled)]
    assert len(settled) == len(ran) * EFFECTS
    assert len([s for s in settled if s.outcome.tag is Tag.OK]) == tally.happened.total()
    absent = [s for s in settled if s.outcome.code == "effect_absent"]
    assert len(settled) == tally.happened.total() + len(absent)
    unknown = [one.recorded_at for one in stored if isinstance(one.fact, CallUnknown)]
    asked = [one.recorded_at for one in stored if isinstance(one.fact, InputAsked)]
    tally.asked = len(asked)
    assert all(abs((a - b).total_seconds()) < TOLD for a, b in zip(unknown, asked, strict=True))
    await all_holds(rig)


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_25_kills_at_random_moments_repeat_no_effect_and_leave_none_unclear(
    rig: Rig, say: Callable[[str], None]
) -> None:
    tally = await survive(rig, 25, say)

    assert (tally.kills, tally.twice) == (25, [])
    assert tally.answers == tally.asked


@pytest.mark.soak
@pytest.mark.timeout(4 * 3600)
async def test_500_kills_at_random_moments_repeat_no_effect_and_leave_none_unclear(
    rig: Rig, say: Callable[[str], None]
) -> None:
    tally = await survive(rig, 500, say)

    assert (tally.kills, tally.twice) == (500, [])
    assert tally.answers == tally.asked
