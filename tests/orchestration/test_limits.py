"""A run's hard limits on real parts: exact for calls, and refused where they cannot hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from domain.events import CallIntended, CallSettled, ModelRequested
from domain.runs.budget import Budget

if TYPE_CHECKING:
    from tests.support.rig import Rig

TWO_FILES_AND_A_READ = """
steps:
  - calls:
      - {tool: write_file, arguments: {path: one.txt, content: "1"}}
      - {tool: write_file, arguments: {path: two.txt, content: "2"}}
      - {tool: read_file, arguments: {path: one.txt}}
  - text: done
"""


@pytest.mark.parametrize(
    ("calls", "written", "status"),
    [
        (0, [], "over_budget"),
        (1, ["one.txt"], "over_budget"),
        (3, ["one.txt", "two.txt"], "completed"),
    ],
)
async def test_calls_beyond_the_limit_are_not_run_and_end_the_run(
    served: Rig, calls: int, written: list[str], status: str
) -> None:
    run_id = await served.launch(
        model=served.script(TWO_FILES_AND_A_READ), budget=Budget(calls=calls)
    )
    run = await served.ended(run_id)

    assert run.ended is not None
    assert (run.status, run.ended.reason) == (
        status,
        "done" if status == "completed" else "budget_calls",
    )
    assert sorted(path.name for path in served.workspace.iterdir()) == written
    begun = [fact.name for fact in await served.of(run_id, CallIntended)]
    assert begun.count("write_file") == len(written)
    codes = [s.outcome.code for s in await served.of(run_id, CallSettled)]
    assert codes.count("budget_calls") == 3 - calls
    assert len(codes) == 3


async def test_a_limit_in_money_for_a_model_without_a_price_is_refused_before_any_request(
    served: Rig,
) -> None:
    run_id = await served.launch(model="ollama:no-such-model", budget=Budget(cost="1"))
    run = await served.ended(run_id)

    assert run.status == "failed"
    assert run.refused is not None
    assert [one.partition(":")[0] for one in run.refused.problems] == ["budget_price_unknown"]
    assert await served.of(run_id, ModelRequested) == []
