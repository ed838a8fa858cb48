"""Waits of a fixed length end by the ledger's clock, however often somebody looks."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from domain.events import RunWaiting

if TYPE_CHECKING:
    from tests.support.rig import Rig

SECONDS = 5
SCRIPT = f"""
steps:
  - text: done
    fail: {{code: quota_exhausted, disposition: capacity, retry_after: {SECONDS}}}
"""


async def test_a_wait_for_capacity_is_not_begun_anew_by_a_look(served: Rig) -> None:
    run_id = await served.launch(model=served.script(SCRIPT))
    await served.until(run_id, lambda run: run.waiting is not None)
    handle = await served.handle(run_id)
    for _ in range(SECONDS - 1):
        await served.beat(1.0)
        await handle.signal("look", args=["message.accepted", "message.accepted:none"])

    run = await served.ended(run_id)

    assert run.status == "completed"
    at = {event.fact.type: event.recorded_at for event in await served.stored(run_id)}
    (wait,) = await served.of(run_id, RunWaiting)
    assert wait.on == "capacity"
    until = datetime.fromisoformat(wait.until)
    assert until - at["run.waiting"] <= timedelta(seconds=SECONDS)
    assert until <= at["run.resumed"] < until + timedelta(seconds=3)
