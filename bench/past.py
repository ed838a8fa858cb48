"""A past for the reading figures: whole runs of a few turns, written by the product's append."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

from domain.agents.definition import RuntimeConfig
from domain.agents.request import AgentRequest
from domain.events import (
    CallSettled,
    Entry,
    ModelRequested,
    ModelResponded,
    RunAccepted,
    RunAttached,
    RunDefined,
    RunEnded,
    TurnCompleted,
    TurnStarted,
)
from domain.ids import run_stream
from domain.runs.conversation import CallRequest, Usage
from domain.runs.sequence import Item
from domain.tools.results import ok
from ledger.append import Part, append
from ledger.blobs import put_blob
from ledger.encode import Author
from ledger.statement import MOST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from domain.events import Fact
    from ledger.connect import Ledger

TURNS = 4
WRITERS = 8
TEXT = "x" * 300
_USED = Usage(input_tokens=100, output_tokens=20, cost="0.01", prices="bench")
_MODEL = "script:bench.yaml"


async def live(ledger: Ledger, events: int) -> None:
    """Write runs until there are so many events."""
    bundle = await put_blob(ledger, TEXT.encode())
    each = len(_run("run", bundle.hex()))
    numbers = iter(range(-(-events // each)))
    author = Author("agent:bench", "person:bench", "activity", "take_step/1", "bench")

    async def write() -> None:
        for number in numbers:
            run_id = f"bench-{number:08d}"
            facts = iter(_run(run_id, bundle.hex()))
            while batch := tuple(itertools.islice(facts, MOST)):
                refs = (bundle,) if any(isinstance(fact, RunDefined) for fact in batch) else ()
                await append(ledger, author, Part(run_stream(run_id), batch, refs=refs))

    await asyncio.gather(*(write() for _ in range(WRITERS)))


def _run(run_id: str, bundle: str) -> list[Fact]:
    """All facts of a run: each turn a request, an answer with a call, its result, an answer."""
    facts: list[Fact] = [*_beginning(run_id, bundle)]
    for turn in range(1, TURNS + 1):
        facts += _turn(turn)
    return [
        *facts,
        RunEnded(status="completed", reason="done", by="system", message="", items_done=TURNS),
    ]


def _beginning(run_id: str, bundle: str) -> Iterator[Fact]:
    yield RunAccepted(
        run_id=run_id,
        workflow_id=f"run/bench/generic/{run_id}/1",
        agent="generic",
        entry=Entry.HAND,
        workspace="bench",
        session=run_id,
        slot=f"bench/generic/{run_id}",
        n=1,
        queue="home/bench",
        request=AgentRequest(role="generic", message=TEXT),
    )
    yield RunAttached(epoch=1, temporal_run="bench")
    yield RunDefined(
        fingerprint="f" * 64,
        bundle=bundle,
        runtime=RuntimeConfig(model=_MODEL),
        items=tuple(Item(kind="message", name=f"turn {n}", text=TEXT) for n in range(TURNS)),
        confinement="none",
    )


def _turn(turn: int) -> Iterator[Fact]:
    yield TurnStarted(turn=turn, item=turn - 1, origin="item", text=TEXT)
    for step, calls in ((1, 1), (2, 0)):
        yield ModelRequested(
            turn=turn,
            step=step,
            n=1,
            owner="bench",
            model=_MODEL,
            view=("read_file",),
            view_digest="f" * 64,
            request_digest="f" * 64,
            incoming=0,
            delivered=(),
            reserved=_USED,
            ordinal=0,
        )
        yield ModelResponded(
            turn=turn,
            step=step,
            n=1,
            text=TEXT,
            calls=tuple(
                CallRequest(position=n, provider_id=f"p{n}", name="read_file", arguments="{}")
                for n in range(calls)
            ),
            usage=_USED,
            finish="tool_calls" if calls else "stop",
        )
        for n in range(calls):
            yield CallSettled(turn=turn, step=step, position=n, name="read_file", outcome=ok(TEXT))
    yield TurnCompleted(turn=turn, incoming=0)
