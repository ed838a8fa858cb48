"""SIGKILL of the worker at named points: the run completes, nothing is lost or done twice."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from domain.events import (
    CallSettled,
    CallUnknown,
    CheckCompleted,
    InputAsked,
    ModelResponded,
    RunAttached,
    RunDefined,
    RunEnded,
)
from domain.runs.sequence import CommandCheck, Item
from domain.tools.results import Tag
from tests.support.rig import Rig, kept_alive, rig_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from legato.embedded import Stack

EVERYTHING = """
steps:
  - calls: [{tool: list_files, arguments: {}}]
    text: I look first
    delay_seconds: 0.4
  - calls: [{tool: write_file, arguments: {path: new.txt, content: "new\\n"}}]
  - calls: [{tool: shell, arguments: {command: "echo ran >> counter; sleep 0.3"}}]
  - calls:
      - tool: mutate_workflow_db
        arguments:
          statements:
            - {sql: "create table if not exists t (x)"}
            - {sql: "insert into t values (1)"}
  - text: all done
"""

ITEMS = (
    Item(kind="message", name="work", text="do everything"),
    Item(
        kind="prevalidation",
        name="checks",
        checks=(CommandCheck(command="echo checked >> checks; sleep 0.3"),),
    ),
)

REQUEST = "model.requested:1.1.1"
FAST = ",".join((f"in:{REQUEST}", "before:call.settled:1.3.0", "before:check.completed:1.0"))
POINTS = (
    "before:run.defined",
    "after:run.defined",
    f"before:{REQUEST}",
    f"after:{REQUEST}",
    "before:model.responded:1.1",
    "after:model.responded:1.1",
    "before:call.settled:1.1.0",
    "after:call.settled:1.1.0",
    "before:call.intended:1.2.0.1",
    "before:call.settled:1.2.0",
    "after:call.settled:1.2.0",
    "before:call.intended:1.3.0.1",
    "after:call.intended:1.3.0.1",
    "after:call.settled:1.3.0",
    "before:call.intended:1.4.0.1",
    "after:call.intended:1.4.0.1",
    "before:call.settled:1.4.0",
    "after:call.settled:1.4.0",
    "before:check-1-0-0",
    "after:check-1-0-0",
    "after:check.completed:1.0",
    "before:run.ended",
    "after:run.ended",
)
AT_ONCE = 2


async def one_killed(cluster: Stack, folder: Path, point: str) -> str:
    """Run everything with a worker that dies once at each point; gives what the run ended as."""
    async with rig_of(cluster, folder) as rig:
        keeping = kept_alive(rig, kill=point)
        try:
            run_id = await rig.launch(model=rig.script(EVERYTHING), items=ITEMS)
            run = await rig.ended(run_id, seconds=240)
            await all_came_by(rig, point)
        finally:
            keeping.cancel()
        await all_once(rig, run_id, point)
        return run.status


async def all_came_by(rig: Rig, point: str) -> None:
    """See that a worker died at each point; at the last one it dies after the end is told."""
    wanted, end = 1 + len(point.split(",")), time.monotonic() + 30
    while len(rig.workers) != wanted:
        assert time.monotonic() < end, f"nobody came by {point}"
        await rig.beat(0.1)


async def all_once(rig: Rig, run_id: str, point: str) -> None:
    """Each response and each effect is there once, and nobody was asked."""
    assert len(await rig.of(run_id, ModelResponded)) == 5, point
    assert len(await rig.of(run_id, RunDefined)) == 1
    assert len(await rig.of(run_id, RunEnded)) == 1
    assert len(await rig.of(run_id, RunAttached)) == 1
    assert len(await rig.of(run_id, CheckCompleted)) == 1
    calls = await rig.of(run_id, CallSettled)
    assert [call.outcome.tag for call in calls] == [Tag.OK] * 4, point
    assert await rig.of(run_id, InputAsked) == []
    assert await rig.of(run_id, CallUnknown) == []
    assert (rig.workspace / "new.txt").read_text() == "new\n"
    assert (rig.workspace / "counter").read_text() == "ran\n", point
    assert (rig.workspace / "checks").read_text() == "checked\n", point
    with closing(sqlite3.connect(rig.stores / "workflow.db")) as database:
        assert database.execute("select count(*) from t").fetchone() == (1,), point


async def all_killed(cluster: Stack, folder: Path, points: Sequence[str]) -> dict[str, str]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(n: int, point: str) -> str:
        async with gate:
            return await one_killed(cluster, folder / str(n), point)

    ended = await asyncio.gather(*(one(n, point) for n, point in enumerate(points)))
    return dict(zip(points, ended, strict=True))


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_kill_in_model_call_effect_record_or_check_loses_and_repeats_nothing(
    cluster: Stack, tmp_path: Path
) -> None:
    assert await one_killed(cluster, tmp_path, FAST) == "completed"


@pytest.mark.slow
@pytest.mark.timeout(1500)
async def test_a_kill_at_any_named_point_loses_and_repeats_nothing(
    cluster: Stack, tmp_path: Path
) -> None:
    ended = await all_killed(cluster, tmp_path, POINTS)

    assert ended == dict.fromkeys(POINTS, "completed")


async def test_a_kill_during_a_command_asks_nobody_and_runs_it_once(rig: Rig) -> None:
    script = """
steps:
  - calls: [{tool: shell, arguments: {command: "echo ran >> counter; sleep 4.25; echo over"}}]
  - text: done
"""
    first = rig.start_worker()
    run_id = await rig.launch(model=rig.script(script))
    await rig.until_running("sleep 4.25")

    first.kill()
    rig.start_worker()
    run = await rig.ended(run_id)

    assert run.status == "completed"
    assert await rig.of(run_id, InputAsked) == []
    assert (rig.workspace / "counter").read_text() == "ran\n"
    (call,) = await rig.of(run_id, CallSettled)
    assert call.by == "probe"
    assert "over" in call.outcome.text
