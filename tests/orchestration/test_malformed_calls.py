"""Calls that are none: told to the model, and not for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.events import CallSettled
from domain.runs.malformed import MOST_TOLD_BACK
from tests.support.bare_steps import bare_steps
from tests.support.model_server import ModelServer, model_server
from tests.support.model_wire import Call, Says

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import Stack
    from tests.support.rig import Rig

CUT = Says(calls=(Call("list_files", '{"pa'),), finish="length")
NOBODY = Says(calls=(Call("fly"), Call("fly")))
GOOD = Says(calls=(Call("list_files", '{"path": "."}'),))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A provider of the test's own."""
    with model_server() as running:
        yield running


async def test_a_model_that_is_told_and_does_better_goes_on(
    cluster: Stack, tmp_path: Path, server: ModelServer
) -> None:
    """One good call is enough, also beside a bad one."""
    mixed = Says(calls=(*GOOD.calls, *NOBODY.calls))
    server.plays(CUT, NOBODY, CUT, mixed, CUT, NOBODY, CUT, GOOD, Says("done"))
    async with bare_steps(cluster.database_url, tmp_path) as bare:
        run_id = await bare.begin(model=server.name_of("openai"))
        came = [await bare.step(run_id, step) for step in range(1, 10)]

    outcomes = [getattr(one, "outcome", "") for one in came]
    assert outcomes == [*["again"] * 8, "turn_completed"]
    assert server.calls == 9


async def test_a_model_that_does_not_fails_its_run_with_a_code_and_what_to_do(
    served_with_key: Rig, server: ModelServer
) -> None:
    """Whole, by the workflow."""
    server.default = CUT
    run_id = await served_with_key.launch(model=server.name_of("openai"))
    run = await served_with_key.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == ("failed", "malformed_calls")
    assert "legato log RUN" in run.ended.message
    settled = await served_with_key.of(run_id, CallSettled)
    assert {one.outcome.code for one in settled} == {"arguments_invalid"}
    assert len(settled) == server.calls == MOST_TOLD_BACK + 1


@pytest.fixture
def served_with_key(rig: Rig) -> Rig:
    """A rig with a worker that has a key."""
    rig.start_worker(OPENAI_API_KEY="key-of-a-test")
    return rig
