"""A worker whose wire to Temporal or to the ledger is slow, deaf, cut or half closed."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from domain.events import CallSettled, InputAsked, ModelResponded
from domain.tools.results import Tag
from tests.support.canaries import CANARY
from tests.support.proxy import Proxy, proxy, through, to_address, to_database
from tests.support.trust import all_holds

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from domain.runs.run import Run
    from tests.support.rig import Rig

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

DEAF = 13.0
"""Seconds: longer than a heartbeat timeout, so that another attempt is made meanwhile."""

CUTS = 6
LATENCY = 0.1

SCRIPT = """
steps:
  - text: the words of this answer {canary}
    delay_seconds: 1
    calls: [{{tool: count_once, arguments: {{path: "{counter}", text: one, sleep_seconds: 2}}}}]
  - calls: [{{tool: list_files, arguments: {{}}}}]
    delay_seconds: 1
  - calls: [{{tool: count_once, arguments: {{path: "{counter}", text: two, sleep_seconds: 1}}}}]
  - text: done
"""


@asynccontextmanager
async def wire(rig: Rig, target: str) -> AsyncGenerator[Proxy]:
    """Start a worker whose way to a target leads through a proxy."""
    if target == "temporal":
        async with proxy(to_address(rig.stack.temporal_address)) as made:
            rig.start_worker(TEMPORAL_ADDRESS=f"127.0.0.1:{made.port}")
            yield made
    else:
        async with proxy(to_database(rig.stack.database_url)) as made:
            rig.start_worker(DATABASE_URL=through(rig.stack.database_url, made))
            yield made


def in_effect(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


async def deaf(rig: Rig, made: Proxy) -> None:
    made.deafen()
    await rig.beat(DEAF)
    made.hear()


async def cut(rig: Rig, made: Proxy) -> None:
    for _ in range(CUTS):
        made.reset()
        await rig.beat(0.7)


async def half_closed(rig: Rig, made: Proxy) -> None:
    made.half_close()
    await rig.beat(1)


async def cut_in_an_answer(rig: Rig, made: Proxy) -> None:
    """The server has done what it was asked, the client does not hear that it has."""
    for size in (1, 200, 1500):
        made.cut_after = size
        await rig.beat(0.7)


async def slow(rig: Rig, made: Proxy) -> None:
    made.latency = LATENCY
    await rig.beat(0)


FAULTS = {
    "slow": slow,
    "deaf": deaf,
    "cut": cut,
    "half closed": half_closed,
    "cut in an answer": cut_in_an_answer,
}


@pytest.mark.parametrize("target", ["temporal", "ledger"])
@pytest.mark.parametrize("fault", FAULTS)
async def test_a_faulty_wire_loses_nothing_and_repeats_no_effect(
    rig: Rig, target: str, fault: str
) -> None:
    befall: Callable[[Rig, Proxy], Awaitable[None]] = FAULTS[fault]
    async with wire(rig, target) as made:
        counter = rig.folder / "outside.txt"
        run_id = await rig.launch(model=rig.script(SCRIPT.format(counter=counter, canary=CANARY)))
        await rig.until(run_id, in_effect, seconds=120)

        await befall(rig, made)
        run = await rig.ended(run_id, seconds=150)

    assert run.status == "completed"
    assert counter.read_text() == "one\ntwo\n"
    assert await rig.of(run_id, InputAsked) == []
    assert [call.outcome.tag for call in await rig.of(run_id, CallSettled)] == [Tag.OK] * 3
    assert len(await rig.of(run_id, ModelResponded)) == 4
    await all_holds(rig)
