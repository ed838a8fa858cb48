"""The ledger out of reach in the middle of a run: what is in hand waits, nothing is lost."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from domain.events import CallSettled, InputAsked, ModelRequested, ModelResponded
from domain.tools.results import Tag
from tests.support.canaries import CANARY
from tests.support.gate import gate_before
from tests.support.trust import all_holds

if TYPE_CHECKING:
    from domain.runs.run import Run
    from tests.support.rig import Rig

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

OUTAGE = 12.0
"""Seconds: longer than the retries that an unknown error is given."""

SCRIPT = """
steps:
  - text: one after another the words of this answer arrive {canary}
    delay_seconds: 3
    calls: [{{tool: count_once, arguments: {{path: "{counter}", text: one, sleep_seconds: 3}}}}]
  - calls: [{{tool: hang_read, arguments: {{seconds: 3}}}}]
  - text: done
"""


def in_model(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


def in_effect(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


def in_read(run: Run) -> bool:
    return run.ordinal == 2


MOMENTS = {"model call": in_model, "effect": in_effect, "read": in_read}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_an_outage_of_the_ledger_asks_nobody_and_repeats_nothing(
    rig: Rig, moment: str
) -> None:
    with tempfile.TemporaryDirectory(prefix="gate-") as folder:
        async with gate_before(rig.stack.database_url, Path(folder)) as gate:
            worker = rig.start_worker(DATABASE_URL=gate.url)
            counter = rig.folder / "outside.txt"
            script = SCRIPT.format(counter=counter, canary=CANARY)
            run_id = await rig.launch(model=rig.script(script))
            await rig.until(run_id, MOMENTS[moment], seconds=120)

            await gate.shut()
            await rig.beat(OUTAGE)
            await gate.open()
            run = await rig.ended(run_id, seconds=120)

    assert run.status == "completed"
    assert counter.read_text() == "one\n"
    assert await rig.of(run_id, InputAsked) == []
    assert [c.outcome.tag for c in await rig.of(run_id, CallSettled)] == [Tag.OK, Tag.OK]
    assert len(await rig.of(run_id, ModelResponded)) == 3
    assert len(await rig.of(run_id, ModelRequested)) == 3, "no answer is paid for twice"
    assert all(line.startswith("{") for line in worker.log.read_text().splitlines())
    await all_holds(rig)
