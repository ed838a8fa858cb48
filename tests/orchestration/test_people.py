"""Questions, answers and messages, through the ledger and through plain Temporal signals."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from domain.events import (
    CallSettled,
    InputAsked,
    InputLate,
    InputSettled,
    ModelRequested,
    RunWaiting,
    TurnStarted,
)
from domain.runs.inputs import How
from domain.runs.sequence import CommandCheck, Item
from domain.tools.results import Tag
from ledger.accept import accept_answer, accept_message
from ledger.encode import Author
from legato.readings import recorded
from legato.requests import read_request
from tests.support.rig import PERSON

if TYPE_CHECKING:
    from domain.runs.run import Run
    from tests.support.rig import Rig

ASK = """
steps:
  - calls:
      - tool: ask_human
        arguments: {question: "Which colour?", choices: [red, blue]%s}
  - text: thank you
"""


def waits(run: Run) -> bool:
    return run.waiting is not None


async def test_a_question_waits_for_one_of_its_choices(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK % ""))
    await served.until(run_id, waits)
    (asked,) = await served.of(run_id, InputAsked)

    with pytest.raises(LegatoError, match="not one of the choices"):
        await accept_answer(
            served.ledger, PERSON, run_id, "s1", asked.input_id, "green", owner=True
        )
    await accept_answer(served.ledger, PERSON, run_id, "s2", asked.input_id, "blue", owner=True)
    run = await served.ended(run_id)

    assert run.status == "completed"
    (settled,) = await served.of(run_id, CallSettled)
    assert (settled.outcome.tag, settled.outcome.text) == (Tag.OK, "blue")
    assert [w.on for w in await served.of(run_id, RunWaiting)] == ["input"]


async def test_the_first_answer_wins_and_the_loser_is_told_and_kept(rig: Rig) -> None:
    run_id = await rig.launch(model=rig.script(ASK % ""))
    worker = rig.start_worker()
    await rig.until(run_id, waits)
    worker.kill()
    (asked,) = await rig.of(run_id, InputAsked)

    answers = [
        accept_answer(rig.ledger, PERSON, run_id, f"s{n}", asked.input_id, colour, owner=True)
        for n, colour in enumerate(("red", "blue", "red", "blue"))
    ]
    told = await asyncio.gather(*answers, return_exceptions=True)
    rig.start_worker()
    run = await rig.ended(run_id)

    lost = [one for one in told if isinstance(one, LegatoError)]
    assert [one.code for one in lost] == ["input_settled"] * 3
    assert len(await rig.of(run_id, InputLate)) == 3
    (settled,) = await rig.of(run_id, InputSettled)
    (call,) = await rig.of(run_id, CallSettled)
    assert call.outcome.text == settled.answer
    late = [one.submission for one in await rig.of(run_id, InputLate)]
    assert sorted([settled.submission, *late]) == ["s0", "s1", "s2", "s3"]
    assert run.status == "completed"


async def test_a_question_that_nobody_answers_expires_by_the_ledgers_clock(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK % ", expires_in_seconds: 2"))

    run = await served.ended(run_id)

    assert run.status == "completed"
    (settled,) = await served.of(run_id, InputSettled)
    assert settled.how is How.EXPIRED
    (call,) = await served.of(run_id, CallSettled)
    assert call.outcome.tag is Tag.EXPIRED


async def test_an_operators_signal_answers_only_where_the_question_names_operators(
    served: Rig,
) -> None:
    run_id = await served.launch(model=served.script(ASK % ""))
    await served.until(run_id, waits)
    (asked,) = await served.of(run_id, InputAsked)
    handle = await served.handle(run_id)

    await handle.signal("answer", args=[asked.input_id, "red"])
    await handle.signal("message", "a word from the operator")
    await handle.signal("stop", "enough")
    run = await served.ended(run_id)

    assert run.status == "stopped"
    assert run.ended is not None
    assert (run.ended.by, run.ended.message) == ("temporal-operator", "enough")
    (settled,) = await served.of(run_id, InputSettled)
    assert settled.how is How.WITHDRAWN


STEERED = """
steps:
  - calls: [{tool: list_files, arguments: {}}]
    text: looking around
    delay_seconds: 1.5
  - text: done
    expect: {user_contains: "also look at b"}
"""


async def test_a_message_steers_the_running_turn_at_its_next_step(served: Rig) -> None:
    run_id = await served.launch(model=served.script(STEERED))
    await served.until(run_id, lambda run: run.step is not None and run.step.open is not None)

    await accept_message(served.ledger, PERSON, run_id, "m1", "also look at b", later=False)
    run = await served.ended(run_id)

    assert run.status == "completed"
    requests = await served.of(run_id, ModelRequested)
    assert [len(request.delivered) for request in requests] == [0, 1]


async def test_a_message_that_arrives_with_the_last_answer_is_delivered_all_the_same(
    served: Rig,
) -> None:
    script = "steps: [{text: first, delay_seconds: 1.5}, {text: second}]"
    run_id = await served.launch(model=served.script(script))
    await served.until(run_id, lambda run: run.step is not None and run.step.open is not None)

    await accept_message(served.ledger, PERSON, run_id, "m1", "one more thing", later=False)
    run = await served.ended(run_id)

    assert run.status == "completed"
    assert [r.delivered for r in await served.of(run_id, ModelRequested)] == [(), (1,)]


async def test_a_message_for_later_starts_the_sessions_next_run(served: Rig) -> None:
    script = "steps: [{text: done, delay_seconds: 1.5}]"
    run_id = await served.launch(model=served.script(script))
    await served.until(run_id, lambda run: run.step is not None and run.step.open is not None)

    accepted = await accept_message(
        served.ledger, PERSON, run_id, "m1", "and then this", later=True
    )
    await served.ended(run_id)

    assert accepted.run.accepted is not None
    slot = accepted.run.accepted.slot
    following = await served.next_run(slot)
    run = await served.ended(following)
    assert run.status == "completed"
    assert [turn.text for turn in await served.of(following, TurnStarted)] == ["and then this"]
    (sent,) = await served.of(following, ModelRequested)
    said = await read_request(
        served.ledger, [recorded(one) for one in await served.stored(following)], 1
    )
    assert [message.text for message in said.messages] == ["go", "done", "and then this"]
    assert said.requested == sent
    assert said.request_same


async def test_a_message_sent_while_the_last_check_runs_starts_the_sessions_next_run(
    served: Rig,
) -> None:
    check = Item(kind="prevalidation", name="c", checks=(CommandCheck(command="sleep 1.75"),))
    hello = Item(kind="message", name="hello", text="hello")
    run_id = await served.launch(model=served.script("steps: [{text: done}]"), items=(hello, check))
    await served.until_running("sleep 1.75")

    accepted = await accept_message(served.ledger, PERSON, run_id, "m", "wait", later=False)
    await served.ended(run_id)

    assert accepted.run.accepted is not None
    following = await served.next_run(accepted.run.accepted.slot)
    run = await served.ended(following)
    assert run.status == "completed"
    assert [turn.text for turn in await served.of(following, TurnStarted)] == ["wait"]


async def test_a_signal_that_is_too_large_for_temporal_is_not_taken_and_the_run_goes_on(
    served: Rig,
) -> None:
    run_id = await served.launch(model=served.script("steps: [{text: done, delay_seconds: 1}]"))
    handle = await served.handle(run_id)

    await handle.signal("message", "x" * 62_000)
    run = await served.ended(run_id)

    assert run.status == "completed"
    assert [r.delivered for r in await served.of(run_id, ModelRequested)] == [()]


async def test_a_message_to_an_ended_run_is_refused(served: Rig) -> None:
    run_id = await served.launch(model=served.script("steps: [{text: done}]"))
    await served.ended(run_id)

    with pytest.raises(LegatoError) as refusal:
        await accept_message(served.ledger, PERSON, run_id, "m1", "too late", later=False)

    assert refusal.value.code == "run_closed"


async def test_another_person_may_not_answer_a_question_for_the_owner(served: Rig) -> None:
    run_id = await served.launch(model=served.script(ASK % ""))
    await served.until(run_id, waits)
    (asked,) = await served.of(run_id, InputAsked)
    stranger = Author("person:stranger", "person:stranger", "cli")

    with pytest.raises(LegatoError) as refusal:
        await accept_answer(
            served.ledger, stranger, run_id, "s", asked.input_id, "red", owner=False
        )

    assert refusal.value.code == "answer_not_allowed"
