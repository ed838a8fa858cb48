"""The relay: what no front door handed over, what Temporal refuses, servers without attributes."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import asyncpg
import pytest
from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.service import RPCError

from domain.agents.request import AgentRequest
from domain.events import Entry, InputAsked, ModelRequested, RunAttached, RunEnded
from domain.ids import run_stream
from domain.runs.attributes import KEYWORDS
from ledger.accept import accept_answer, accept_message, accept_stop
from ledger.append import Part, append
from ledger.dispatch import Launch, dispatch
from ledger.feed import read_mark
from ledger.migrate import migrate
from ledger.parked import read_parked
from legato.client import RELAY, connect
from legato.examine.open_runs import examine_runs
from tests.support.rig import PERSON, rig_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path

    from temporalio.client import Client

    from domain.events import RunAccepted
    from domain.runs.run import Run
    from legato.embedded import Stack
    from tests.support.rig import Rig

SOON = 10.0
"""Seconds from the append until it has taken effect, by the ledger's clock."""

SCRIPT = """
steps:
  - calls: [{tool: ask_human, arguments: {question: "Which colour?"}}]
  - calls: [{tool: ask_human, arguments: {question: "Which size?"}}]
  - text: a long answer that never ends
    delay_seconds: 60
"""


async def accepted_only(rig: Rig, **asked: object) -> RunAccepted:
    """Accept a run as a front door does that is killed before it hands over."""
    given = {"role": "generic", "message": "go", "workspace": str(rig.workspace)}
    request = AgentRequest.model_validate({**given, "stores": str(rig.stores), **asked})
    launch = Launch(str(uuid.uuid4()), Entry.HAND, request, f"home/{rig.host}")
    fact = (await dispatch(rig.ledger, PERSON, launch)).accepted
    assert fact is not None
    return fact


async def signals(rig: Rig, run_id: str) -> Counter[str]:
    """Count the looks that the workflow was told to take, by the event that each names."""
    history = await (await rig.handle(run_id)).fetch_history()
    told: Counter[str] = Counter()
    for event in history.events:
        if event.HasField("workflow_execution_signaled_event_attributes"):
            given = event.workflow_execution_signaled_event_attributes.input.payloads
            told[json.loads(given[1].data)] += 1
    return told


async def since(rig: Rig, run_id: str, first: str, then: str) -> float:
    """Seconds between two events of a run, by the ledger's clock."""
    at = {str(one.envelope["event_id"]): one.recorded_at for one in await rig.stored(run_id)}
    return (at[then] - at[first]).total_seconds()


def in_long_answer(run: Run) -> bool:
    return run.step is not None and run.step.step == 3 and run.step.open is not None


async def answered_by_the_relay(rig: Rig, run_id: str, answer: str) -> str:
    """Answer what a run asks, without a hand-over; gives the event's id."""
    await rig.until(run_id, lambda run: run.waiting is not None)
    asked = (await rig.of(run_id, InputAsked))[-1].input_id
    accepted = await accept_answer(rig.ledger, PERSON, run_id, answer, asked, answer, owner=True)
    return accepted.event


async def everything_by_the_relay(rig: Rig) -> str:
    """Start, answer, message and stop a run, each only appended, beside a worker that serves.

    Gives what it ended as.
    """
    await rig.ended(await rig.launch(model=rig.script("steps: [{text: it serves}]")))
    run_id = (await accepted_only(rig, model=rig.script(SCRIPT))).run_id
    colour = await answered_by_the_relay(rig, run_id, "red")
    await rig.until(run_id, lambda run: run.ordinal == 2 and run.waiting is not None)
    await accept_message(rig.ledger, PERSON, run_id, "m1", "also this", later=False)
    size = await answered_by_the_relay(rig, run_id, "large")
    await rig.until(run_id, in_long_answer)
    await accept_stop(rig.ledger, PERSON, run_id, "s1", "enough")
    run = await rig.ended(run_id)

    assert await since(rig, run_id, "run.accepted", "run.attached:1") < SOON
    assert await since(rig, run_id, colour, "run.resumed:1") < SOON
    assert await since(rig, run_id, size, "run.resumed:2") < SOON
    assert await since(rig, run_id, "stop.requested:s1", "run.ended") < SOON
    assert len(await rig.of(run_id, RunAttached)) == 1
    assert len(await rig.of(run_id, RunEnded)) == 1
    assert [r.delivered for r in await rig.of(run_id, ModelRequested)] == [(), (), (1,)]
    assert await signals(rig, run_id) == {
        colour: 1,
        size: 1,
        "message.accepted:m1": 1,
        "stop.requested:s1": 1,
    }
    return run.status


async def test_what_a_killed_front_door_appended_arrives_once_by_the_relay(served: Rig) -> None:
    assert await everything_by_the_relay(served) == "stopped"


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_ten_killed_front_doors_lose_and_repeat_nothing(served: Rig) -> None:
    for _ in range(10):
        assert await everything_by_the_relay(served) == "stopped"


async def unstartable(rig: Rig) -> str:
    """Accept a run whose workflow id Temporal refuses, whoever asks and however often."""
    fact = await accepted_only(rig, model=rig.script("steps: [{text: never}]"))
    run_id = str(uuid.uuid4())
    wrong = fact.model_copy(update={"run_id": run_id, "workflow_id": "run/" + "x" * 5000})
    await append(rig.ledger, PERSON, Part(run_stream(run_id), (wrong,), 0))
    return run_id


async def test_an_event_that_temporal_refuses_for_good_is_parked_and_the_next_goes_on(
    served: Rig,
) -> None:
    refused = await unstartable(served)

    good = await accepted_only(served, model=served.script("steps: [{text: done}]"))
    run = await served.ended(good.run_id)

    assert run.status == "completed"
    parked = {one.stream: one for one in await read_parked(served.ledger, RELAY)}
    assert parked[run_stream(refused)].code == "INVALID_ARGUMENT"
    assert parked[run_stream(refused)].type == "run.accepted"
    number = await served.ledger.pool.fetchval(
        "select global_seq from ledger.feed where stream_id = $1", run_stream(refused)
    )
    assert await read_mark(served.ledger, RELAY) > number


@asynccontextmanager
async def other_namespace(
    cluster: Stack, folder: Path, name: str, attributes: Mapping[str, IndexedValueType.ValueType]
) -> AsyncGenerator[Rig]:
    """A rig on a namespace with only these attributes, and a database of its own."""
    client = await connect(cluster.temporal_address, cluster.temporal_namespace)
    request = RegisterNamespaceRequest(namespace=name)
    request.workflow_execution_retention_period.FromSeconds(86400)
    await client.workflow_service.register_namespace(request)
    connection = await asyncpg.connect(cluster.database_url)
    await connection.execute(f"create database {name}")
    await connection.close()
    url = urlsplit(cluster.database_url)._replace(path=f"/{name}").geturl()
    await migrate(url)
    stack = replace(cluster, temporal_namespace=name, database_url=url)
    await known(await connect(cluster.temporal_address, name), attributes)
    async with rig_of(stack, folder) as rig:
        yield rig


async def known(client: Client, attributes: Mapping[str, IndexedValueType.ValueType]) -> None:
    """Wait until the server knows its new namespace, and give it attributes."""
    async with asyncio.timeout(60):
        while True:
            try:
                await client.operator_service.add_search_attributes(
                    AddSearchAttributesRequest(
                        namespace=client.namespace, search_attributes=attributes
                    )
                )
            except RPCError:
                await asyncio.sleep(0.2)
            else:
                return


DAMAGE = """begin;
set local session_replication_role = replica;
update ledger.event set body = convert_to('{{', 'UTF8'), codec = 0 where stream_id = '{stream}';
commit"""


async def test_a_damaged_event_is_parked_and_shown_and_what_stands_behind_it_goes_on(
    cluster: Stack, tmp_path: Path
) -> None:
    async with other_namespace(cluster, tmp_path, "damaged", {"Other": KEYWORD}) as rig:
        script = rig.script("steps: [{text: done}]")
        broken = run_stream((await accepted_only(rig, model=script)).run_id)
        good = await accepted_only(rig, model=script)
        connection = await asyncpg.connect(rig.stack.database_url)
        await connection.execute(DAMAGE.format(stream=broken))
        await connection.close()

        rig.start_worker()
        run = await rig.ended(good.run_id)
        (parked,) = await read_parked(rig.ledger, RELAY)
        found = await examine_runs(
            rig.ledger, rig.stack.temporal_address, rig.stack.temporal_namespace
        )

    assert run.status == "completed"
    assert (parked.stream, parked.type, parked.code) == (broken, "run.accepted", "event_damaged")
    shown = [one for one in found if one.name == broken.replace("/", " ")]
    assert [one.grade.value for one in shown] == ["fail", "fail"]
    assert "cannot be read: event_damaged" in shown[0].text
    assert "not handed over to Temporal, for good: event_damaged" in shown[1].text


KEYWORD = IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD
FULL = {f"Other{n}": KEYWORD for n in range(10)}
"""All that this server has room for."""


async def test_a_worker_registers_attributes_that_are_missing(
    cluster: Stack, tmp_path: Path
) -> None:
    async with other_namespace(cluster, tmp_path, "bare", {"Other": KEYWORD}) as rig:
        rig.start_worker()
        run_id = await rig.launch(model=rig.script("steps: [{text: done}]"))
        run = await rig.ended(run_id)

    assert run.status == "completed"
    assert "search_attributes_not_registered" not in rig.workers[0].log.read_text()


async def test_a_run_works_where_attributes_cannot_be_registered(
    cluster: Stack, tmp_path: Path
) -> None:
    async with other_namespace(cluster, tmp_path, "fullup", FULL) as rig:
        rig.start_worker()
        run_id = await rig.launch(model=rig.script("steps: [{text: done}]"))
        run = await rig.ended(run_id)
        described = await (await rig.handle(run_id)).describe()

    assert run.status == "completed"
    assert "search_attributes_not_registered" in rig.workers[0].log.read_text()
    assert set(described.search_attributes) & set(KEYWORDS) == set()
