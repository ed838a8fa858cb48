"""A worker that sleeps past its heartbeat and wakes when another has gone on: nothing twice."""

from __future__ import annotations

import asyncio
import json
import signal
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest

from domain.events import (
    CallIntended,
    CallSettled,
    CallUnknown,
    InputAsked,
    ModelDiscarded,
    ModelLost,
    ModelRequested,
    ModelResponded,
    RunEnded,
)
from domain.ids import run_stream
from domain.runs.unknown import HAPPENED
from domain.tools.results import Tag
from ledger.accept import accept_answer
from tests.support.ledger import connected
from tests.support.rig import PERSON, Rig, rig_of
from tests.support.trust import all_holds

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable
    from pathlib import Path

    import asyncpg

    from domain.events import Fact
    from domain.runs.run import Run
    from legato.embedded import Stack
    from tests.support.rig import Worker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(500)]


def in_model(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


def in_effect(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


def in_doubt(run: Run) -> bool:
    return run.waiting is not None and run.waiting.on == "unknown_effect"


def sleep(worker: Worker) -> None:
    """Stop a worker where it stands: it beats no more."""
    worker.process.send_signal(signal.SIGSTOP)


async def woken(rig: Rig, worker: Worker, run_id: str) -> list[Fact]:
    """Wake it and let it finish whatever it was doing; gives what it still added to the run."""
    before = await rig.facts(run_id)
    worker.process.send_signal(signal.SIGCONT)
    await asyncio.to_thread(worker.terminate)
    after = await rig.facts(run_id)
    assert after[: len(before)] == before
    return after[len(before) :]


async def counting(rig: Rig) -> str:
    """Launch a run that counts once outside and takes three seconds for it."""
    arguments = {"path": str(rig.folder / "outside.txt"), "text": "one", "sleep_seconds": 3}
    steps = [{"calls": [{"tool": "count_once", "arguments": arguments}]}, {"text": "done"}]
    return await rig.launch(model=rig.script(json.dumps({"steps": steps})))


async def all_once(rig: Rig, run_id: str, responses: int) -> None:
    """One end, no response or outcome twice, and a record that holds."""
    assert len(await rig.of(run_id, RunEnded)) == 1
    assert len(await rig.of(run_id, ModelResponded)) == responses
    assert len((rig.folder / "outside.txt").read_text().splitlines()) == 1
    assert len(await rig.of(run_id, CallSettled)) == 1
    await all_holds(rig)


async def in_a_model_call(rig: Rig) -> str:
    """The answer it was waiting for counts as usage only: the other has asked again."""
    first = rig.start_worker()
    run_id = await rig.launch(model=rig.script("steps: [{text: slowly does it, delay_seconds: 4}]"))
    await rig.until(run_id, in_model, seconds=240)
    sleep(first)
    rig.start_worker()
    await rig.ended(run_id, seconds=240)

    added = await woken(rig, first, run_id)

    assert {type(fact) for fact in added} <= {ModelDiscarded}
    assert [fact.n for fact in await rig.of(run_id, ModelLost)] == [1]
    assert [fact.n for fact in await rig.of(run_id, ModelRequested)] == [1, 2]
    assert [fact.n for fact in await rig.of(run_id, ModelResponded)] == [2]
    assert len(await rig.of(run_id, RunEnded)) == 1
    await all_holds(rig)
    return run_id


async def in_the_effect(rig: Rig) -> str:
    """A person has said what became of the call: its own outcome comes too late."""
    first = rig.start_worker()
    run_id = await counting(rig)
    await rig.until(run_id, in_effect, seconds=240)
    sleep(first)
    rig.start_worker()
    await rig.until(run_id, in_doubt, seconds=240)
    (asked,) = await rig.of(run_id, InputAsked)
    await accept_answer(rig.ledger, PERSON, run_id, "word", asked.input_id, HAPPENED, owner=True)
    await rig.ended(run_id, seconds=240)

    assert await woken(rig, first, run_id) == []
    (call,) = await rig.of(run_id, CallSettled)
    assert (call.outcome.tag, call.by) == (Tag.OK, "person")
    assert [fact.round for fact in await rig.of(run_id, CallIntended)] == [1]
    await all_once(rig, run_id, 2)
    return run_id


@asynccontextmanager
async def recording(
    rig: Rig, run_id: str
) -> AsyncGenerator[tuple[asyncpg.Connection[asyncpg.Record], int]]:
    """Hold the run's head until its worker waits there to append; gives that worker's backend."""
    async with connected(rig.stack.database_url) as held, held.transaction():
        await held.execute(
            "select from ledger.stream where stream_id = $1 for update", run_stream(run_id)
        )
        query = (
            "select pid from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))"
        )
        async with asyncio.timeout(240):
            while not (pid := await held.fetchval(query)):  # noqa: ASYNC110 - polled
                await asyncio.sleep(0.01)
        yield held, pid


async def while_recorded(rig: Rig, *, kept: bool) -> str:
    """Its outcome is committed while it sleeps, or its connection is lost before that."""
    first = rig.start_worker()
    run_id = await counting(rig)
    await rig.until(run_id, in_effect, seconds=240)
    async with recording(rig, run_id) as (held, backend):
        sleep(first)
        if not kept:
            await held.execute("select pg_terminate_backend($1)", backend)
    rig.start_worker()
    if kept:
        await rig.ended(run_id, seconds=240)
        assert await woken(rig, first, run_id) == []
        assert await rig.of(run_id, CallUnknown) == []
    else:
        await rig.until(run_id, in_doubt, seconds=240)
        first.process.send_signal(signal.SIGCONT)
        await rig.ended(run_id, seconds=240)

    (call,) = await rig.of(run_id, CallSettled)
    assert (call.outcome.tag, call.by) == (Tag.OK, "execution")
    await all_once(rig, run_id, 2)
    return run_id


CASES: tuple[Callable[[Rig], Awaitable[str]], ...] = (
    in_a_model_call,
    in_the_effect,
    partial(while_recorded, kept=True),
    partial(while_recorded, kept=False),
)


async def test_a_worker_that_slept_past_its_heartbeat_does_nothing_twice_when_it_wakes(
    cluster: Stack, tmp_path: Path
) -> None:
    """In a model call, in an effect that is done once, and while an outcome is recorded."""

    async def one(case: Callable[[Rig], Awaitable[str]], folder: Path) -> str:
        async with rig_of(cluster, folder) as rig:
            return (await rig.run(await case(rig))).status

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(case, tmp_path / str(n))) for n, case in enumerate(CASES)]

    assert [task.result() for task in tasks] == ["completed"] * len(CASES)
