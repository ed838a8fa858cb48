"""Follows the demo's run, and kills its worker where the story says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from domain.errors import LegatoError
from domain.events import ModelRequested
from domain.runs.recorded import Recorded
from domain.runs.run import Run, evolve
from legato.door import Door, follow, needs_person

from .kills import Kill, kill_worker, next_worker

LIMIT = 180.0
"""Seconds after which a run that has not ended is given up."""

MODEL_CALL, TEST_COMMAND = "inside a model call", "inside the test command"
_INTO_IT = 1.0
_LOOK = 0.05


@dataclass(frozen=True, slots=True)
class Heard:
    """Who listens: `say` is given sentences, `event` each event of the run."""

    say: Callable[[str], None]
    event: Callable[[Recorded], None]


@dataclass(slots=True)
class Watch:
    """What is seen of the run while it goes on.

    `counter` is the file in which the tests count their runs, `slow` the ordinals of the
    model calls that last long enough to be killed in.
    """

    door: Door
    heard: Heard
    counter: Path
    slow: frozenset[int]
    run: Run = field(default_factory=Run)
    kills: list[Kill] = field(default_factory=list[Kill])
    silent_since: float | None = None
    tasks: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, "asyncio.Task[None]"])


async def watch_run(watch: Watch, run_id: str) -> None:
    """Follow the run to its end, killing on the way.

    Raises:
        LegatoError: `demo_too_slow`, `worker_missing`, `ledger_unreachable`.

    """
    watch.tasks[TEST_COMMAND] = asyncio.create_task(_kill_in_tests(watch))
    try:
        async with asyncio.timeout(LIMIT):
            await _follow(watch, run_id)
    except TimeoutError:
        for task in watch.tasks.values():
            if task.done():
                task.result()
        raise LegatoError(
            "demo_too_slow",
            f"The demo's run did not end within {LIMIT:.0f} s.",
            cause=f"it is {watch.run.status.value} at version {watch.run.version}",
            next=f"see `legato show {run_id}`; it goes on, or end it with `legato stop {run_id}`",
        ) from None
    finally:
        for task in watch.tasks.values():
            task.cancel()
        await asyncio.gather(*watch.tasks.values(), return_exceptions=True)


async def _follow(watch: Watch, run_id: str) -> None:
    async for batch in follow(watch.door, run_id):
        for event in batch:
            watch.run = evolve(watch.run, event.fact)
            _tell_that_it_goes_on(watch, event)
            watch.heard.event(event)
            fact = event.fact
            slow = isinstance(fact, ModelRequested) and fact.ordinal in watch.slow
            if slow and MODEL_CALL not in watch.tasks:
                watch.tasks[MODEL_CALL] = asyncio.create_task(_kill_in_model_call(watch))
        if needs_person(watch.run):
            return


def _tell_that_it_goes_on(watch: Watch, event: Recorded) -> None:
    """Say so at the first event that was recorded after a kill."""
    if watch.silent_since is None or event.at.timestamp() <= watch.silent_since:
        return
    away = event.at.timestamp() - watch.silent_since
    watch.silent_since = None
    watch.heard.say(f"the run goes on where it was, {away:.0f} s after the kill")


async def _kill_in_model_call(watch: Watch) -> None:
    await asyncio.sleep(_INTO_IT)
    step = watch.run.step
    if step is not None and step.open is not None:
        await _kill(watch, MODEL_CALL)


async def _kill_in_tests(watch: Watch) -> None:
    while not await asyncio.to_thread(watch.counter.exists):  # noqa: ASYNC110 - another process writes it
        await asyncio.sleep(_LOOK)
    await asyncio.sleep(_INTO_IT)
    await _kill(watch, TEST_COMMAND)


async def _kill(watch: Watch, where: str) -> None:
    worker, at = await kill_worker(watch.door.settings)
    watch.silent_since = at
    clock = time.strftime("%H:%M:%S", time.gmtime(at))
    watch.heard.say(f"KILL -9 at {clock} UTC: worker {worker.pid}, {where}")
    kill = await next_worker(watch.door.settings, where, worker, at)
    watch.kills.append(kill)
    watch.heard.say(f"the supervisor started worker {kill.next_pid} after {kill.away:.1f} s")
