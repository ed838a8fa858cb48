"""How long a run takes from the stop a person asks for to quiet."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from bench.legato_turns import Started, start
from domain.agents.request import AgentRequest
from domain.ids import run_stream
from domain.runs.run import Run, Status, fold
from ledger.reads import read_stream
from legato.door import new_id, stop

if TYPE_CHECKING:
    from bench.cluster import Cluster
    from bench.measured import Value
    from legato.door import Door

MOST_SECONDS = 3.0
ROUNDS = 3
LIMIT = 60.0
LOOK = 0.01
MARK = "61.5"
"""The argument by which the command's processes are known."""


@dataclass(frozen=True)
class Place:
    """Where a run is stopped: the answers that bring it there, and how one sees it is there."""

    name: str
    steps: list[dict[str, object]]
    there: Callable[[Run], bool]


def _call(tool: str, **arguments: str) -> dict[str, object]:
    return {"calls": [{"tool": tool, "arguments": arguments}]}


def _in_model(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


def _in_call(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls) and _commands()


def _in_wait(run: Run) -> bool:
    return run.waiting is not None


MODEL_CALL = Place("model call", [{"text": "a long answer", "delay_seconds": 60}], _in_model)
WAIT = Place("wait", [_call("ask_human", question="Which one?"), {"text": "done"}], _in_wait)
PLACES = (
    MODEL_CALL,
    Place("command", [_call("shell", command=f"sleep {MARK}"), {"text": "done"}], _in_call),
    WAIT,
)


async def measure(cluster: Cluster, door: Door, rounds: int) -> list[dict[str, Value]]:
    """Stop runs at each place so many times."""
    lines: list[dict[str, Value]] = []
    for place in PLACES:
        taken = [await _once(cluster, door, place) for _ in range(rounds)]
        median = statistics.median(taken)
        lines.append(
            {
                "figure": "stop",
                "engine": "legato",
                "during": place.name,
                "median": round(median, 2),
                "rounds": [round(seconds, 2) for seconds in taken],
                "limit": f"< {MOST_SECONDS:g} s",
                "holds": median < MOST_SECONDS,
                "error": None,
            }
        )
    return lines


async def begin(cluster: Cluster, door: Door, place: Place) -> Started:
    """Start a run and wait until it is at a place."""
    script = cluster.folder / "stopped.yaml"
    script.write_text(json.dumps({"steps": place.steps}))
    request = AgentRequest(
        role="generic",
        message="go",
        model=f"script:{script}",
        workspace=str(cluster.workspace),
    )
    run = await start(cluster, door, request)
    await _until(door, run, place.there)
    return run


async def _once(cluster: Cluster, door: Door, place: Place) -> float:
    """Measure one stop, from asking for it to the closed run without a process."""
    run = await begin(cluster, door, place)
    began = time.monotonic()
    await stop(door, run.run_id, "the bench has seen enough", submission=new_id())
    await run.handle.result()
    async with asyncio.timeout(LIMIT):
        while _commands():  # noqa: ASYNC110 - nothing tells of another's process that ends
            await asyncio.sleep(LOOK)
    seconds = time.monotonic() - began
    status = (await _fold(door, run)).status
    if status is not Status.STOPPED:
        message = f"run {run.run_id} ended as {status}"
        raise RuntimeError(message)
    return seconds


async def _fold(door: Door, run: Started) -> Run:
    return fold([s.fact for s in await read_stream(door.ledger, run_stream(run.run_id))])


async def _until(door: Door, run: Started, true: Callable[[Run], bool]) -> None:
    async with asyncio.timeout(LIMIT):
        while not true(await _fold(door, run)):  # noqa: ASYNC110 - the ledger is looked at
            await asyncio.sleep(LOOK)


def _commands() -> bool:
    """Tell whether a process of the command lives."""
    return any(
        (process.info["cmdline"] or [])[-2:] == ["sleep", MARK]
        and process.info["status"] != psutil.STATUS_ZOMBIE
        for process in psutil.process_iter(["cmdline", "status"])
    )
