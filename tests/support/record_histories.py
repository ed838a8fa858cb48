"""Records a golden Temporal history of every kind of run; run by `make histories`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from domain.events import InputAsked
from domain.runs.attributes import KEYWORDS
from domain.runs.budget import Budget
from domain.runs.sequence import CommandCheck, Item
from ledger.accept import accept_answer, accept_stop
from ledger.migrate import migrate
from legato.embedded import down, ensure_up
from legato.leave import leave
from legato.settings import load_settings
from tests.support.canaries import CANARY
from tests.support.rig import PERSON, ROOT, Rig, rig_of

HISTORIES = ROOT / "tests" / "histories"

READ_AND_WRITE = f"""
steps:
  - text: I look first {CANARY}
    calls:
      - {{tool: read_file, arguments: {{path: b.txt}}}}
      - {{tool: list_files, arguments: {{}}}}
      - {{tool: write_file, arguments: {{path: a.txt, content: "new {CANARY}"}}}}
      - {{tool: "made up {CANARY}", arguments: {{text: "{CANARY}"}}}}
      - {{tool: write_file, arguments: {{path: c.txt, content: "new {CANARY}"}}}}
  - text: done {CANARY}
"""
ASK = f"""
steps:
  - calls:
      - tool: ask_human
        arguments: {{question: "Which {CANARY}?", choices: [red, "blue {CANARY}"]%s}}
  - text: thank you {CANARY}
"""
SLOW = f"steps: [{{text: slowly {CANARY}, delay_seconds: 30}}]"
ONCE = f"""
steps:
  - calls: [{{tool: count_once, arguments: {{path: "%s", text: "{CANARY}", then: raise}}}}]
  - text: done {CANARY}
"""
REPAIR = f"""
steps:
  - text: done {CANARY}
  - calls: [{{tool: write_file, arguments: {{path: mended, content: "{CANARY}"}}}}]
  - text: mended {CANARY}
"""
FULL = f"""
steps:
  - text: at last {CANARY}
    fail: {{code: rate_limited, disposition: capacity, retry_after: 2, partial: "{CANARY}"}}
"""
LONG = f"""
steps:
  - text: first {CANARY}
    calls: [{{tool: list_files, arguments: {{}}}}]
  - text: done {CANARY}
    fail: {{code: context_overflow, disposition: overflow}}
"""
FAILS = f"""
steps:
  - fail: {{code: content_filtered, disposition: refuse, partial: "{CANARY}"}}
"""
TURNS = f"""
repeat: true
steps:
  - calls: [{{tool: list_files, arguments: {{}}}}]
  - text: done {CANARY}
"""

Scenario = Callable[[Rig], Awaitable[str]]


async def completed(rig: Rig) -> str:
    (rig.workspace / "b.txt").write_text(f"b says {CANARY}\n")
    run_id = await rig.launch(model=rig.script(READ_AND_WRITE), message=f"go {CANARY}")
    await rig.ended(run_id)
    return run_id


async def _asked(rig: Rig) -> tuple[str, str]:
    run_id = await rig.launch(model=rig.script(ASK % ""))
    await rig.until(run_id, lambda run: run.waiting is not None)
    (asked,) = await rig.of(run_id, InputAsked)
    return run_id, asked.input_id


async def answered(rig: Rig) -> str:
    run_id, input_id = await _asked(rig)
    await accept_answer(rig.ledger, PERSON, run_id, "s", input_id, f"blue {CANARY}", owner=True)
    await rig.ended(run_id)
    return run_id


async def expired(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(ASK % ", expires_in_seconds: 2"))
    await rig.ended(run_id)
    return run_id


async def stopped_in_wait(rig: Rig) -> str:
    run_id, _ = await _asked(rig)
    await accept_stop(rig.ledger, PERSON, run_id, "s", f"enough {CANARY}")
    await rig.ended(run_id)
    return run_id


async def _in_model(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(SLOW))
    await rig.until(run_id, lambda run: run.step is not None and run.step.open is not None)
    return run_id


async def stopped_in_model_call(rig: Rig) -> str:
    run_id = await _in_model(rig)
    await accept_stop(rig.ledger, PERSON, run_id, "s", f"enough {CANARY}")
    await rig.ended(run_id)
    return run_id


async def cancelled_in_temporal(rig: Rig) -> str:
    run_id = await _in_model(rig)
    await (await rig.handle(run_id)).cancel()
    await rig.ended(run_id)
    return run_id


async def operator_signals(rig: Rig) -> str:
    run_id, input_id = await _asked(rig)
    handle = await rig.handle(run_id)
    await handle.signal("answer", args=[input_id, "red"])
    await handle.signal("message", "a word")
    await handle.signal("stop", "enough")
    await rig.ended(run_id)
    return run_id


async def unknown_effect(rig: Rig) -> str:
    script = ONCE % (rig.workspace / "outside")
    run_id = await rig.launch(model=rig.script(script), environment=())
    await rig.until(run_id, lambda run: run.waiting is not None)
    (asked,) = await rig.of(run_id, InputAsked)
    await accept_answer(rig.ledger, PERSON, run_id, "s", asked.input_id, "it happened", owner=True)
    await rig.ended(run_id)
    return run_id


async def repaired(rig: Rig) -> str:
    items = (
        Item(kind="message", name="work", text=f"work {CANARY}"),
        Item(
            kind="prevalidation",
            name="check",
            checks=(CommandCheck(command=f"echo '{CANARY}'; test -f mended"),),
        ),
    )
    run_id = await rig.launch(model=rig.script(REPAIR), items=items)
    await rig.ended(run_id)
    return run_id


async def waited_for_capacity(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(FULL))
    await rig.ended(run_id)
    return run_id


async def failed(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(FAILS))
    await rig.ended(run_id)
    return run_id


async def compacted(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(LONG), message=CANARY)
    await rig.ended(run_id)
    return run_id


async def continued_as_new(rig: Rig) -> str:
    rig.most_events = 60
    items = tuple(Item(kind="message", name=f"turn {n}", text=f"go {CANARY}") for n in range(8))
    run_id = await rig.launch(model=rig.script(TURNS), items=items)
    await rig.ended(run_id)
    rig.most_events = 2000
    return run_id


async def over_budget(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(TURNS), message=CANARY, budget=Budget(steps=1))
    await rig.ended(run_id)
    return run_id


async def over_budget_in_model_call(rig: Rig) -> str:
    run_id = await rig.launch(model=rig.script(SLOW), budget=Budget(seconds=2))
    await rig.ended(run_id)
    return run_id


async def refused(rig: Rig) -> str:
    run_id = await rig.launch(role="nobody", model=rig.script(TURNS))
    await rig.ended(run_id)
    return run_id


async def pipeline(rig: Rig) -> str:
    run_id = await rig.launch(role="check-and-fix", message="", checks=(f"echo '{CANARY}'",))
    await rig.ended(run_id)
    return run_id


SCENARIOS: tuple[Scenario, ...] = (
    completed,
    answered,
    expired,
    stopped_in_wait,
    stopped_in_model_call,
    cancelled_in_temporal,
    operator_signals,
    unknown_effect,
    repaired,
    waited_for_capacity,
    failed,
    compacted,
    continued_as_new,
    over_budget,
    over_budget_in_model_call,
    refused,
    pipeline,
)


def scrubbed(history: str) -> str:
    """Leave out who ran the worker and where."""
    named = re.sub(r'"identity": ?"[^"]*"', '"identity": "worker"', history)
    return re.sub(r"\d+@[\w.-]+", "worker", named)


async def record(rig: Rig, scenario: Scenario, folder: Path) -> None:
    """Run one scenario and write the history of each Temporal run of its chain."""
    run_id = await scenario(rig)
    run = await rig.run(run_id)
    workflow = (await rig.handle(run_id)).id
    for n, temporal_run in enumerate(run.temporal_runs, start=1):
        handle = rig.client.get_workflow_handle(workflow, run_id=temporal_run)
        await handle.result(follow_runs=False) if n == len(run.temporal_runs) else None
        history = json.loads((await handle.fetch_history()).to_json())
        text = json.dumps({"workflow_id": workflow, "history": history}, indent=1)
        (folder / f"{scenario.__name__}-{n}.json").write_text(scrubbed(text) + "\n")


@asynccontextmanager
async def served_rig(folder: Path) -> AsyncGenerator[Rig]:
    """Start a cluster and a worker for the recording."""
    settings = load_settings({"LEGATO_HOME": str(folder / "cluster")})
    attributes: dict[str, str] = dict.fromkeys(KEYWORDS, "Keyword")
    stack = await ensure_up(
        settings, progress=print, search_attributes=attributes, with_worker=False
    )
    try:
        await migrate(stack.database_url)
        async with rig_of(stack, folder / "ws") as rig:
            rig.start_worker()
            yield rig
    finally:
        await down(settings)


async def main() -> None:
    """Record every scenario anew."""
    HISTORIES.mkdir(exist_ok=True)
    for old in HISTORIES.glob("*.json"):
        old.unlink()
    with tempfile.TemporaryDirectory(prefix="legato-") as folder:
        async with served_rig(Path(folder)) as rig:
            for scenario in SCENARIOS:
                sys.stderr.write(f"{scenario.__name__}\n")
                await record(rig, scenario, HISTORIES)


if __name__ == "__main__":
    asyncio.run(main())
    leave(0)
