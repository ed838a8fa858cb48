"""What a tool's exception says stays where it was raised: no log, no history, no output has it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from domain.events import CallSettled, CallUnknown
from tests.support.canaries import histories_of, seen_in, sightings
from tests.support.stack import call_inside, clean_environment

if TYPE_CHECKING:
    from domain.runs.run import Run
    from tests.support.rig import Rig

TEXTS = ("was never going to work", "raised after the effect")
"""What the two tools of the test's plug-in say when they raise."""

SCRIPT = """
steps:
  - calls: [{tool: raise_always, arguments: {}}]
  - calls: [{tool: count_once, arguments: {path: "%s", text: one, then: raise}}]
  - text: done
"""


def asks(run: Run) -> bool:
    return any(state.settled is None for state in run.inputs)


async def test_the_text_of_an_exception_reaches_no_log_no_history_and_no_output(rig: Rig) -> None:
    worker = rig.start_worker()
    run_id = await rig.launch(model=rig.script(SCRIPT % (rig.folder / "outside.txt")))
    await rig.until(run_id, asks)

    log = worker.log.read_text()
    assert log.count('"error": "RuntimeError"') == 2
    assert "raise_always" in log
    assert sightings(worker.log.read_bytes(), TEXTS) == []
    for history in await histories_of(rig, run_id):
        assert seen_in(history, TEXTS) == []
    variables = clean_environment(rig.home) | {
        "TEMPORAL_ADDRESS": rig.stack.temporal_address,
        "TEMPORAL_NAMESPACE": rig.stack.temporal_namespace,
        "DATABASE_URL": rig.stack.database_url,
    }
    for command in (("show", run_id), ("log", run_id), ("inbox",), ("runs",)):
        said = await asyncio.to_thread(call_inside, variables, "--json", *command)
        assert said.code in {0, 5}, said.out
        assert sightings((said.out + said.err).encode(), TEXTS) == []
    (settled,) = await rig.of(run_id, CallSettled)
    assert (settled.name, settled.outcome.code) == ("raise_always", "tool_raised")
    assert len(await rig.of(run_id, CallUnknown)) == 1
