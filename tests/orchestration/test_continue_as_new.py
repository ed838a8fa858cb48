"""A long run continues as new: its history stays as it was, and the ledger lacks nothing."""

from __future__ import annotations

import asyncio
import json
from statistics import median
from typing import TYPE_CHECKING

from bench.cluster import PAD, chain_of
from bench.history import MOST_EVENTS, MOST_KIB, turn_sizes
from domain.events import (
    CallSettled,
    ModelRequested,
    ModelResponded,
    RunAttached,
    TurnCompleted,
    TurnStarted,
)
from domain.ids import run_stream
from domain.runs.sequence import Item
from domain.tools.results import Tag
from ledger.accept import accept_message
from ledger.reads import read_head
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.support.rig import Rig

TURNS = 60
THIRD = TURNS // 3
HALFWAY = 8 * (TURNS // 2)
"""So many events stand in a run's stream about halfway: a turn adds eight."""

SCRIPT = json.dumps(
    {
        "repeat": True,
        "steps": [
            {"calls": [{"tool": "read_file", "arguments": {"path": "a.txt"}}]},
            {"text": PAD},
        ],
    }
)


async def long_run(rig: Rig) -> str:
    """Launch sixty turns on a rig whose runs continue as new about every thirty."""
    (rig.workspace / "a.txt").write_text(PAD)
    rig.most_events = 370
    items = tuple(
        Item(kind="message", name=f"turn {n}", text=f"turn {n} {PAD}") for n in range(1, TURNS + 1)
    )
    return await rig.launch(model=rig.script(SCRIPT), items=items)


async def until_version(rig: Rig, run_id: str, version: int) -> None:
    """Wait until a run's stream is so long; only its head is read, to leave it the machine."""
    async with asyncio.timeout(60):
        while (await read_head(rig.ledger, run_stream(run_id))).version < version:
            await rig.beat(0.05)


def ratio(each: Sequence[int]) -> float:
    """Divide what the last third left by what the first third left."""
    return sum(each[-THIRD:]) / sum(each[:THIRD])


async def test_a_run_of_sixty_turns_continues_as_new_and_loses_and_repeats_nothing(
    served: Rig,
) -> None:
    run_id = await long_run(served)
    await until_version(served, run_id, HALFWAY)
    await accept_message(served.ledger, PERSON, run_id, "m1", "by the way", later=False)
    await (await served.handle(run_id)).result()
    run = await served.run(run_id)

    assert run.status == "completed"
    chain = [link async for link in chain_of(served.client, await served.handle(run_id))]
    attached = await served.of(run_id, RunAttached)
    assert len(chain) == len(attached) >= 2
    started = await served.of(run_id, TurnStarted)
    assert [fact.text for fact in started] == [f"turn {n} {PAD}" for n in range(1, TURNS + 1)]
    completed = await served.of(run_id, TurnCompleted)
    assert [fact.turn for fact in completed] == list(range(1, TURNS + 1))
    requested = await served.of(run_id, ModelRequested)
    responded = await served.of(run_id, ModelResponded)
    assert [(fact.turn, fact.step) for fact in requested] == [
        (fact.turn, fact.step) for fact in responded
    ]
    results = await served.of(run_id, CallSettled)
    assert len(results) == sum(len(fact.calls) for fact in responded) >= TURNS
    assert {result.outcome.tag for result in results} == {Tag.OK}
    assert [version for fact in requested for version in fact.delivered] == [1]

    sizes = turn_sizes(chain)
    assert median(size.events for size in sizes) <= MOST_EVENTS
    assert sum(size.size for size in sizes) / TURNS <= MOST_KIB * 1024
    assert 0.9 <= ratio([size.events for size in sizes]) <= 1.1
    assert 0.9 <= ratio([size.size for size in sizes]) <= 1.1
