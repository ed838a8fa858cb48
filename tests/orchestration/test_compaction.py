"""A conversation that no longer fits its model is summed up once, and the run goes on."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from domain.events import (
    ContextCompacted,
    ModelFailed,
    ModelRequested,
    ModelResponded,
    SummarySettled,
)
from domain.ids import run_stream
from domain.runs.legal import illegal_step
from domain.runs.recorded import facts_of
from legato.requests import read_request
from tests.support.bare_steps import Bare, bare_steps
from tests.support.model_server import Behaviour, ModelServer, Refuses, model_server
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack
    from tests.support.rig import Rig

LONG = Refuses(400, "context_length_exceeded")
READ = Says("I look around.", calls=(Call("list_files", '{"path": "."}'),))
SUMMARY = Says("The agent has looked around.", input_tokens=900, output_tokens=30)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider of the test's own."""
    with model_server() as running:
        yield running


async def overflowing(bare: Bare, server: ModelServer, *then: Behaviour) -> str:
    """Begin a run whose third request is too long; gives its id."""
    server.plays(READ, READ, LONG, *then)
    run_id = await bare.begin(model=server.name_of("openai"), message="map this folder")
    came = [await bare.step(run_id, step) for step in (1, 2, 3)]
    assert [getattr(one, "outcome", "") for one in came] == ["again", "again", "overflow"]
    return run_id


async def test_the_model_sums_up_and_the_step_is_taken_with_the_summary(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """Each request is one HTTP call; the summary is one more."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, SUMMARY, Says("done"))
        compacted = await bare.compact(run_id, 3)
        again = await bare.compact(run_id, 3)
        taken = await bare.step(run_id, 3)
        (fact,) = await bare.of(run_id, ContextCompacted)
        facts = await bare.facts(run_id)

    assert (compacted.outcome, again.outcome) == ("compacted", "compacted")
    assert getattr(taken, "outcome", "") == "turn_completed"
    assert server.calls == 5
    asked, sent = (json.dumps(request.body) for request in server.requests[3:])
    assert "map this folder" in asked
    assert '"tools"' not in asked
    assert "The agent has looked around." in sent
    assert "map this folder" in sent
    assert sent.count("tool_calls") == sent.count('"role": "tool"') < 2
    assert (fact.model, fact.usage.input_tokens) == (server.name_of("openai"), 900)
    assert illegal_step(run_stream(run_id), facts) is None


async def test_what_was_summed_up_stays_in_the_record_and_each_request_can_be_shown(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """With the digests that were recorded before it was sent."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, SUMMARY, Says("done"))
        await bare.compact(run_id, 3)
        await bare.step(run_id, 3)
        recorded = await bare.recorded(run_id)
        shown = [await read_request(bare.world.ledger, recorded, n) for n in (1, 2, 3, 4)]
        requested = [one for one in facts_of(recorded) if isinstance(one, ModelRequested)]

    assert [one.request_same for one in shown] == [True] * 4
    assert len(requested) == 4
    assert "The agent has looked around." not in str(shown[2].messages)
    assert "The agent has looked around." in str(shown[3].messages)


async def test_a_summary_that_the_model_refuses_is_made_from_the_record(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """It is asked for once."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, LONG)
        await bare.compact(run_id, 3)
        (fact,) = await bare.of(run_id, ContextCompacted)

    assert fact.model == ""
    assert "agent calls list_files" in fact.summary
    assert server.calls == 4


async def test_a_second_overflow_in_one_step_fails_as_too_large(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """And so does a first one with nothing before it."""
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await overflowing(bare, server, SUMMARY, LONG)
        await bare.compact(run_id, 3)
        second = await bare.step(run_id, 3)
        server.plays(LONG)
        alone = await bare.begin(model=server.name_of("openai"))
        first = await bare.step(alone)

    for came in (first, second):
        assert (getattr(came, "outcome", ""), getattr(came, "code", "")) == (
            "failed",
            "context_too_large",
        )


@pytest.mark.slow
@pytest.mark.parametrize(("at", "calls"), [("before", 6), ("after", 5)])
async def test_a_run_goes_on_over_its_compaction_and_a_kill_there(
    rig: Rig, server: ModelServer, at: str, calls: int
) -> None:
    """Whole: by the workflow, with a worker that dies and, before the record, asks once more."""
    summaries = [SUMMARY] * (calls - 4)
    server.plays(READ, READ, LONG, *summaries, Says("done"))
    rig.start_worker(kill=f"{at}:context.compacted:1.3", OPENAI_API_KEY="key-of-a-test")
    run_id = await rig.launch(model=server.name_of("openai"), message="map this folder")
    await asyncio.to_thread(rig.workers[0].process.wait, 60)
    rig.start_worker(OPENAI_API_KEY="key-of-a-test")
    run = await rig.ended(run_id)

    assert run.status == "completed"
    assert [one.model for one in await rig.of(run_id, ContextCompacted)] != [""]
    lost = [one.code for one in await rig.of(run_id, SummarySettled)]
    assert lost == ["lost"] * (calls - 5)
    assert run.spent.tokens_unknown == calls - 5
    assert run.spent.steps == calls
    assert [one.text for one in await rig.of(run_id, ModelResponded)][-1] == "done"
    assert [one.code for one in await rig.of(run_id, ModelFailed)] == ["context_overflow"]
    assert server.calls == calls
