"""Calls that are safe to repeat: nobody is asked about them, and they do not repeat for ever."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from activities.calls import MOST_ROUNDS
from domain.events import CallIntended, CallSettled, CallUnknown, InputAsked, ModelResponded
from domain.tools.results import Tag
from tests.support.rig import Rig, kept_alive, rig_of

if TYPE_CHECKING:
    from pathlib import Path

    from legato.embedded import Stack

SCRIPT = """
steps:
  - calls: [{calls}]
  - text: done
"""


def script(*calls: str) -> str:
    """Write a script whose first step makes these calls."""
    return SCRIPT.format(calls=", ".join(calls))


def call(tool: str, counter: Path, then: str = "") -> str:
    """Write one call of a counting tool."""
    asked = f", then: {then}" if then else ""
    return f'{{tool: {tool}, arguments: {{path: "{counter}"{asked}}}}}'


@pytest.mark.parametrize(("then", "code"), [("raise", "tool_raised"), ("hang", "time_limit")])
async def test_a_repeatable_call_that_breaks_is_an_error_and_asks_nobody(
    served: Rig, then: str, code: str
) -> None:
    counter = served.folder / "counter"
    run_id = await served.launch(model=served.script(script(call("count_again", counter, then))))

    run = await served.ended(run_id)

    assert run.status == "completed"
    (settled,) = await served.of(run_id, CallSettled)
    assert (settled.outcome.tag, settled.outcome.code) == (Tag.ERROR, code)
    assert "Calling it again does no harm" in settled.outcome.text
    assert await served.of(run_id, InputAsked) == []
    assert await served.of(run_id, CallUnknown) == []
    assert len(counter.read_text().splitlines()) == 1


async def test_a_result_beyond_ten_megabytes_is_cut_and_says_so(served: Rig) -> None:
    big = "{tool: big_result, arguments: {bytes: 30000000}}"
    run_id = await served.launch(model=served.script(script(big)))

    run = await served.ended(run_id)

    assert run.status == "completed"
    (settled,) = await served.of(run_id, CallSettled)
    assert len(settled.outcome.text) < 10_001_000
    assert "20000000 of 30000000 bytes are not kept" in settled.outcome.text


async def keeps_dying(cluster: Stack, folder: Path, calls: tuple[str, ...], runs: int) -> str:
    """Run calls of which one takes its worker with it, again and again.

    Gives what the run ended as.
    """
    counter = folder / "counter"
    async with rig_of(cluster, folder) as rig:
        asked = [call(tool, counter, then) for tool, _, then in (c.partition(" ") for c in calls)]
        keeping = kept_alive(rig)
        try:
            run_id = await rig.launch(model=rig.script(script(*asked)))
            run = await rig.ended(run_id, seconds=280)
        finally:
            keeping.cancel()
        codes = {settled.outcome.code for settled in await rig.of(run_id, CallSettled)}
        assert codes == ({"keeps_failing"} if len(calls) == 1 else {"", "keeps_failing"})
        assert len(await rig.of(run_id, CallIntended)) == MOST_ROUNDS
        assert len(await rig.of(run_id, ModelResponded)) == 2
        assert await rig.of(run_id, InputAsked) == []
        assert len(counter.read_text().splitlines()) == runs
        return run.status


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_calls_that_take_their_worker_with_them_end_typed(
    cluster: Stack, tmp_path: Path
) -> None:
    cases = (
        (("count_again die",), MOST_ROUNDS),
        (("count_reading die",), MOST_ROUNDS + 1),
    )
    ended = await asyncio.gather(
        *(keeps_dying(cluster, tmp_path / str(n), *case) for n, case in enumerate(cases))
    )

    assert ended == ["completed"] * len(cases)
