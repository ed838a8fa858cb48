"""What operators send by hand in Temporal, right and wrong: none of it breaks a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from temporalio.client import Client

from domain.events import (
    MessageAccepted,
    ModelRequested,
    RunResumed,
    RunWaiting,
    StopRequested,
)
from domain.ids import incoming_stream
from ledger.accept import accept_message
from ledger.reads import read_stream
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from temporalio.client import WorkflowHandle

    from domain.runs.run import Run
    from tests.support.rig import Rig

SLOW = "steps: [{text: one two three four five, delay_seconds: 3}, {text: and on}]"
ASK = 'steps: [{calls: [{tool: ask_human, arguments: {question: "Why?"}}]}, {text: done}]'
TOO_LARGE = 200_000


async def by_hand(rig: Rig, run_id: str) -> WorkflowHandle[object, object]:
    """Give the handle of an operator: a plain client, without our own limits."""
    client = await Client.connect(rig.stack.temporal_address, namespace=rig.client.namespace)
    accepted = (await rig.run(run_id)).accepted
    assert accepted is not None
    return client.get_workflow_handle(accepted.workflow_id)


async def messages(rig: Rig, run: Run) -> list[MessageAccepted]:
    """Read what was accepted into a run's session."""
    assert run.accepted is not None
    stored = await read_stream(rig.ledger, incoming_stream(run.accepted.session))
    return [event.fact for event in stored if isinstance(event.fact, MessageAccepted)]


def in_model(run: Run) -> bool:
    return run.step is not None and run.step.open is not None


def in_wait(run: Run) -> bool:
    return run.waiting is not None


WRONG: tuple[tuple[str, list[object]], ...] = (
    ("message", []),
    ("message", [None]),
    ("message", [{"text": "hello"}]),
    ("message", [""]),
    ("answer", []),
    ("answer", ["only the id"]),
    ("answer", ["no-such-input", "yes"]),
    ("answer", ["i" * TOO_LARGE, "yes"]),
    ("look", []),
    ("look", ["stop.requested"]),
    ("look", [1, 2, 3]),
    ("no_such_signal", ["x"]),
)


async def test_signals_that_are_wrong_leave_the_run_going_on(served: Rig) -> None:
    run_id = await served.launch(model=served.script(SLOW))
    await served.until(run_id, in_model)
    handle = await by_hand(served, run_id)

    for name, arguments in WRONG:
        await handle.signal(name, args=arguments)
    await handle.signal("message", args=["these words", "and more"])
    run = await served.ended(run_id)

    assert run.status == "completed"
    assert await served.of(run_id, StopRequested) == []
    assert [message.text for message in await messages(served, run)] == ["these words"]


async def test_a_message_that_is_too_large_is_refused_and_the_run_goes_on(served: Rig) -> None:
    run_id = await served.launch(model=served.script(SLOW))
    await served.until(run_id, in_model)
    handle = await by_hand(served, run_id)

    await handle.signal("message", "x" * TOO_LARGE)
    await handle.signal("message", "\x01" * 20_000)
    await handle.signal("message", "this one fits")
    run = await served.ended(run_id)

    assert run.status == "completed"
    assert [message.text for message in await messages(served, run)] == ["this one fits"]
    assert [len(r.delivered) for r in await served.of(run_id, ModelRequested)] == [0, 1]


@pytest.mark.parametrize("arguments", [[], ["r" * TOO_LARGE], [None], ["why", "and more"]])
async def test_a_stop_counts_whatever_its_reason_looks_like(
    served: Rig, arguments: list[object]
) -> None:
    run_id = await served.launch(model=served.script(ASK))
    await served.until(run_id, in_wait)
    handle = await by_hand(served, run_id)

    await handle.signal("stop", args=arguments)
    run = await served.ended(run_id)

    assert run.status == "stopped"
    assert run.ended is not None
    assert run.ended.by == "temporal-operator"
    assert len(run.ended.message) < 2000


async def test_operators_messages_count_in_each_run_of_a_session(served: Rig) -> None:
    script = "steps: [{text: a, delay_seconds: 3}, {text: b}, {text: c}, {text: d}, {text: e}]"
    run_id = await served.launch(model=served.script(script))
    first = await served.until(run_id, in_model)
    await (await served.handle(run_id)).signal("message", "the same words")
    await accept_message(served.ledger, PERSON, run_id, "later-1", "then this", later=True)
    await served.ended(run_id)
    assert first.accepted is not None
    second = await served.next_run(first.accepted.slot)
    await served.until(second, in_model)

    await (await served.handle(second)).signal("message", "the same words")
    run = await served.ended(second)

    texts = [message.text for message in await messages(served, run)]
    assert sorted(texts) == ["the same words", "the same words", "then this"]
    assert [len(r.delivered) for r in await served.of(second, ModelRequested)] == [0, 1]


async def test_a_wait_for_capacity_is_not_made_longer_by_what_is_said_meanwhile(
    served: Rig,
) -> None:
    full = "{code: rate_limited, disposition: capacity, retry_after: 4}"
    script = f"steps: [{{text: at last, fail: {full}}}, {{text: done}}]"
    run_id = await served.launch(model=served.script(script))
    await served.until(run_id, in_wait)

    for n in range(3):
        await served.beat(1)
        await accept_message(
            served.ledger, PERSON, run_id, f"m{n}", f"still there {n}", later=False
        )
        await (await served.handle(run_id)).signal("look", args=["message.accepted", ""])
    await served.ended(run_id)

    times = {
        type(event.fact): event.recorded_at
        for event in await served.stored(run_id)
        if isinstance(event.fact, RunWaiting | RunResumed)
    }
    assert (times[RunResumed] - times[RunWaiting]).total_seconds() < 5.5
