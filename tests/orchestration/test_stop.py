"""Stopping a run: during a model call, a tool, a wait, a check, and with no worker."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from domain.events import CallSettled, ModelFailed, RunEnded
from domain.runs.sequence import CommandCheck, Item
from domain.tools.results import Tag
from ledger.accept import accept_stop
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from collections.abc import Callable

    from domain.runs.run import Run
    from tests.support.rig import Rig

QUIET = 3.0

LONG_ANSWER = "steps: [{text: a long long answer that never ends, delay_seconds: 60}]"
LONG_COMMAND = """
steps:
  - calls: [{tool: shell, arguments: {command: "echo begun; sleep 61.5"}}]
  - text: done
"""
LONG_READ = "steps: [{calls: [{tool: hang_read, arguments: {seconds: 60}}]}, {text: done}]"
ASK = 'steps: [{calls: [{tool: ask_human, arguments: {question: "Why is it so?"}}]}, {text: done}]'


def in_model(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


def in_call(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


def answered(run: Run) -> bool:
    return run.step is not None and run.step.answered is not None


def in_wait(run: Run) -> bool:
    return run.waiting is not None


async def stopped(rig: Rig, run_id: str) -> tuple[Run, float]:
    """Stop a run and tell how long it took to be quiet."""
    started = time.monotonic()
    await accept_stop(rig.ledger, PERSON, run_id, "stop-1", "that is enough")
    handle = await rig.handle(run_id)
    await handle.signal("look", args=["stop.requested", "stop.requested:stop-1"])
    run = await rig.ended(run_id, seconds=30)
    return run, time.monotonic() - started


@pytest.mark.parametrize(
    ("script", "begun"),
    [
        pytest.param(LONG_ANSWER, in_model, id="model call"),
        pytest.param(LONG_COMMAND, in_call, id="command"),
        pytest.param(LONG_READ, answered, id="read"),
        pytest.param(ASK, in_wait, id="wait"),
    ],
)
async def test_a_stop_ends_the_run_with_who_and_why(
    served: Rig, script: str, begun: Callable[[Run], bool]
) -> None:
    run_id = await served.launch(model=served.script(script))
    await served.until(run_id, begun)

    run, seconds = await stopped(served, run_id)

    assert run.status == "stopped"
    ends = await served.of(run_id, RunEnded)
    assert [(end.by, end.message) for end in ends] == [("person:tester", "that is enough")]
    assert run.step is not None
    assert all(call.outcome is not None for call in run.step.calls)
    assert seconds < QUIET * 5, "generous: the figure is measured in the bench"


async def test_a_stop_keeps_the_partial_answer(served: Rig) -> None:
    script = 'steps: [{text: "one two three four five six", delay_seconds: 8}]'
    run_id = await served.launch(model=served.script(script))
    await served.until(run_id, in_model)
    await served.beat(1.5)

    await stopped(served, run_id)

    (failed,) = await served.of(run_id, ModelFailed)
    assert failed.code == "stopped"
    assert failed.partial.startswith("one")


async def test_a_stop_ends_the_commands_whole_process_group(served: Rig) -> None:
    run_id = await served.launch(model=served.script(LONG_COMMAND))
    await served.until(run_id, in_call)
    await served.until_running("sleep 61.5")

    await stopped(served, run_id)

    assert not served.is_running("sleep 61.5")
    (call,) = await served.of(run_id, CallSettled)
    assert (call.outcome.tag, call.outcome.code) == (Tag.ERROR, "stopped")
    assert "begun" in call.outcome.text


async def test_a_stop_during_a_check_ends_it(served: Rig) -> None:
    check = Item(
        kind="prevalidation", name="slow", checks=(CommandCheck(command="sleep 62.5"),), repairs=0
    )
    first = Item(kind="message", name="hello", text="hello")
    run_id = await served.launch(model=served.script("steps: [{text: hi}]"), items=(first, check))
    await served.until_running("sleep 62.5")

    run, _ = await stopped(served, run_id)

    assert run.status == "stopped"
    assert not served.is_running("sleep 62.5")


async def test_a_stop_is_accepted_without_a_worker_and_carried_out_by_the_next(rig: Rig) -> None:
    run_id = await rig.launch(model=rig.script(LONG_ANSWER))

    await accept_stop(rig.ledger, PERSON, run_id, "stop-1", "never mind")
    rig.start_worker()
    run = await rig.ended(run_id)

    assert run.status == "stopped"
    assert run.ordinal == 0


@pytest.mark.slow
async def test_a_stop_after_the_worker_of_a_command_died_ends_the_command_and_asks_nobody(
    rig: Rig,
) -> None:
    first = rig.start_worker()
    run_id = await rig.launch(model=rig.script(LONG_COMMAND))
    await rig.until_running("sleep 61.5")
    first.kill()

    await accept_stop(rig.ledger, PERSON, run_id, "stop-1", "never mind")
    rig.start_worker()
    run = await rig.ended(run_id)

    assert run.status == "stopped"
    assert run.unknown == ()
    assert not rig.is_running("sleep 61.5")
    (call,) = await rig.of(run_id, CallSettled)
    assert (call.outcome.tag, call.outcome.code) == (Tag.ERROR, "stopped")


@pytest.mark.slow
async def test_a_worker_that_is_shut_down_is_not_a_stop(rig: Rig) -> None:
    script = "steps: [{text: slowly does it, delay_seconds: 9}]"
    first = rig.start_worker()
    run_id = await rig.launch(model=rig.script(script))
    await rig.until(run_id, in_model)

    status = first.terminate()
    run = await rig.run(run_id)
    assert status == 0
    assert run.ended is None
    assert run.stop is None
    rig.start_worker()
    run = await rig.ended(run_id)

    assert run.status == "completed"


async def test_cancelling_the_temporal_workflow_is_a_stop_by_the_operator(served: Rig) -> None:
    run_id = await served.launch(model=served.script(LONG_ANSWER))
    await served.until(run_id, in_model)

    await (await served.handle(run_id)).cancel()
    run = await served.ended(run_id)

    assert run.status == "stopped"
    assert run.ended is not None
    assert run.ended.by == "temporal-operator"
