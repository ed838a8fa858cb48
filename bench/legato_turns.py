"""The work as a run of Legato: one message item a turn, a scripted model that repeats."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from temporalio.client import WorkflowHandle

from bench.cluster import PAD, Cluster, history_of
from bench.measured import Measured
from domain.agents.request import AgentRequest
from domain.events import Entry, event_id
from domain.runs.sequence import Item
from ledger.dispatch import Launch, dispatch
from legato.client import HandOver, hand_over, home_queue
from legato.door import new_id, with_stores

if TYPE_CHECKING:
    from legato.door import Door

ENGINE = "legato"
FILE = "notes.txt"


def request_of(cluster: Cluster, turns: int) -> AgentRequest:
    """Write down the work: each turn one message, one read of a file, one answer."""
    (cluster.workspace / FILE).write_text(PAD)
    script = cluster.folder / "answers.yaml"
    read = {"calls": [{"tool": "read_file", "arguments": {"path": FILE}}]}
    script.write_text(json.dumps({"repeat": True, "steps": [read, {"text": PAD}]}))
    items = tuple(
        Item(kind="message", name=f"turn {n}", text=f"turn {n} {PAD}"[: len(PAD)])
        for n in range(1, turns + 1)
    )
    return AgentRequest(
        role="generic", items=items, model=f"script:{script}", workspace=str(cluster.workspace)
    )


@dataclass(frozen=True)
class Started:
    """A run that goes on: its id, and the handle of its workflow."""

    run_id: str
    handle: WorkflowHandle[object, object]


async def start(cluster: Cluster, door: Door, request: AgentRequest) -> Started:
    """Launch a run as the front door does, over a connection that is there already."""
    wanted = Launch(
        new_id(), Entry.HAND, with_stores(door.settings, request), home_queue(door.settings)
    )
    begun = await dispatch(door.ledger, door.author(wanted.run_id, wanted.run_id), wanted)
    accepted = begun.accepted
    if accepted is None:
        raise RuntimeError("a run with a slot of its own begins at once")
    to = HandOver(cluster.client, door.ledger, door.settings.most_events)
    await hand_over(to, accepted, event_id(accepted), accepted.run_id)
    return Started(accepted.run_id, cluster.client.get_workflow_handle(accepted.workflow_id))


async def measure(cluster: Cluster, door: Door, turns: int, runs: int) -> Measured:
    """Time so many runs at once, from the first launch to the last terminal event."""
    request = request_of(cluster, turns)
    began = time.monotonic()
    started = await asyncio.gather(*(start(cluster, door, request) for _ in range(runs)))
    cards = await asyncio.gather(*(run.handle.result() for run in started))
    seconds = time.monotonic() - began
    sizes = await asyncio.gather(*(history_of(cluster.client, run.handle) for run in started))
    unfinished = [str(card) for card in cards if "completed" not in str(card)]
    return Measured(
        ENGINE,
        turns,
        runs,
        seconds,
        events=sum(size.events for size in sizes),
        kib=sum(size.kib for size in sizes),
        error=unfinished[0][:200] if unfinished else None,
    )
