"""Verifying the ledger against Temporal: what agrees, what differs, what could not be asked."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import DeleteWorkflowExecutionRequest

from domain.ids import run_stream
from ledger.verify import verify
from ledger.watch import say_reconciled
from legato.compare import Compared, compare
from legato.seen import see
from legato.verify_temporal import InTemporal, check_temporal
from tests.support import facts
from tests.support.ledger import begin_run, connected

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from tests.support.rig import Rig

DELETING = 100.0
"""Seconds: Temporal deletes when its own queue comes to it."""

DONE = "steps: [{text: done}]"
OTHER_HASH = "update ledger.event set hash = sha256(hash) where stream_id = $1"
OTHER_CAUSE = """update ledger.event set envelope = convert_to(replace(
    convert_from(envelope, 'UTF8'), '"causation_id":"', '"causation_id":"x'), 'UTF8')
  where stream_id = $1"""


async def completed(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(DONE))
    assert (await rig.ended(run_id)).status == "completed"
    await (await rig.handle(run_id)).result()
    return run_id


async def compared(rig: Rig, run_id: str) -> Compared:
    return await compare(rig.client, rig.ledger, run_id)


@asynccontextmanager
async def altered(rig: Rig, run_id: str, change: str) -> AsyncGenerator[None]:
    """Change every event of a run for a while, as somebody does who may do anything."""
    stream = run_stream(run_id)
    kept = "select version, hash, envelope from ledger.event where stream_id = $1"
    back = "update ledger.event set hash = $3, envelope = $4 where stream_id = $1 and version = $2"
    async with connected(rig.stack.database_url) as connection:
        await connection.execute("set session_replication_role = replica")
        rows = await connection.fetch(kept, stream)
        await connection.execute(change, stream)
        try:
            yield
        finally:
            for row in rows:
                await connection.execute(back, stream, row["version"], row["hash"], row["envelope"])


async def forgotten(rig: Rig, run_id: str) -> None:
    """Delete a run's workflow, and wait until Temporal knows it no longer."""
    handle = await rig.handle(run_id)
    await rig.client.workflow_service.delete_workflow_execution(
        DeleteWorkflowExecutionRequest(
            namespace=rig.client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=handle.id),
        )
    )
    async with asyncio.timeout(DELETING):
        while (await see(rig.client, handle.id)).state != "absent":  # noqa: ASYNC110 - nothing tells of it
            await asyncio.sleep(0.1)


async def test_a_run_whose_events_are_others_than_temporal_saw_is_named(served: Rig) -> None:
    run_id = await completed(served)
    assert (await compared(served, run_id)).result == "checked"

    async with altered(served, run_id, OTHER_HASH):
        found = await compared(served, run_id)

    assert found.result == "mismatch"
    assert found.place is not None
    assert found.place.version > 1
    assert "has seen another event" in found.place.what


async def test_what_a_history_lacks_is_temporals_memory_and_not_a_mismatch(served: Rig) -> None:
    run_id = await completed(served)
    async with altered(served, run_id, OTHER_CAUSE):
        found = await compared(served, run_id)

    assert found.result == "history_gone"
    assert found.place is not None
    assert "which no history holds" in found.place.what


async def test_a_run_id_that_temporal_refuses_hides_no_other_run(served: Rig) -> None:
    """Its history is gone, which is no reason to compare nothing."""
    run_id = str(uuid.uuid4())
    await begin_run(served.ledger, run_id, facts.attached())
    good = await completed(served)

    assert (await compared(served, run_id)).result == "history_gone"
    told = await told_of(served)

    assert (told.compared, told.why_not) == (True, "")
    assert told.now >= 1
    assert (await compared(served, good)).result == "checked"


async def told_of(rig: Rig) -> InTemporal:
    """Verify the ledger with Temporal, and tell what was compared."""
    told, at = InTemporal(), (rig.stack.temporal_address, rig.stack.temporal_namespace)
    await verify(rig.ledger, partial(check_temporal, ledger=rig.ledger, at=at, told=told))
    return told


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_what_was_compared_when_a_run_ended_counts_once_its_history_is_gone(
    served: Rig,
) -> None:
    earlier, never = await completed(served), await completed(served)
    await say_reconciled(served.ledger, earlier, (await compared(served, earlier)).fact())
    await asyncio.gather(forgotten(served, earlier), forgotten(served, never))
    told = InTemporal()
    at = served.stack.temporal_address, served.stack.temporal_namespace

    report = await verify(
        served.ledger, partial(check_temporal, ledger=served.ledger, at=at, told=told)
    )

    assert told.compared
    assert (told.earlier >= 1, told.gone >= 1) == (True, True)
    bad = {one.stream for one in report.problems}
    assert bad.isdisjoint({run_stream(earlier), run_stream(never)})


async def test_a_temporal_that_does_not_answer_is_a_problem_by_itself(served: Rig) -> None:
    told = InTemporal()
    nowhere = partial(check_temporal, ledger=served.ledger, at=("127.0.0.1:1", "legato"), told=told)

    report = await verify(served.ledger, nowhere)

    assert not report.ok
    (problem,) = [one for one in report.problems if one.stream == "temporal"]
    assert "were not compared" in problem.what
    assert "--no-temporal" in problem.next
    assert not told.compared
    assert told.why_not
