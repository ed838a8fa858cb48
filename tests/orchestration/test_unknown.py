"""A call of class `once` whose effect nobody can tell: asked about, never repeated unasked."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from typing import TYPE_CHECKING

import pytest

from domain.errors import LegatoError
from domain.events import (
    CallIntended,
    CallSettled,
    CallUnknown,
    InputAsked,
    InputSettled,
    RunWaiting,
)
from domain.runs.inputs import How
from domain.runs.unknown import AGAIN, HAPPENED, NOT_HAPPENED
from domain.tools.results import Tag
from ledger.accept import accept_answer
from tests.support.canaries import CANARY
from tests.support.rig import PERSON, kept_alive
from tests.support.trust import all_holds, nothing_seen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from domain.runs.run import Run
    from tests.support.rig import Rig


@pytest.fixture
async def asking(served: Rig) -> AsyncIterator[Rig]:
    """A rig whose runs leave nothing of their content in Temporal."""
    yield served
    await nothing_seen(served)


async def counting(rig: Rig, then: str, tool: str = "count_once", **more: object) -> str:
    """Launch a run that counts once at the outside counter, with an end to it."""
    arguments = {"path": str(rig.folder / "outside.txt"), "text": CANARY, **more}
    arguments |= {"then": then} if then else {}
    steps = [{"calls": [{"tool": tool, "arguments": arguments}]}, {"text": "done"}]
    return await rig.launch(model=rig.script(json.dumps({"steps": steps})))


def counted(rig: Rig) -> int:
    """Tell how often the effect happened outside."""
    return len((rig.folder / "outside.txt").read_text().splitlines())


def in_doubt(run: Run) -> bool:
    """The run waits for a person's word on an unknown effect."""
    return run.waiting is not None and run.waiting.on == "unknown_effect"


def begun(run: Run) -> bool:
    return run.step is not None and any(call.round for call in run.step.calls)


async def asked(rig: Rig, run_id: str, *, seconds: float = 60.0) -> str:
    """Wait until the run asks what became of its call; give the question's id."""
    run = await rig.until(run_id, in_doubt, seconds=seconds)
    assert len(run.unknown) == 1
    return (await rig.of(run_id, InputAsked))[-1].input_id


async def answered(rig: Rig, run_id: str, question: str, answer: str) -> None:
    """Answer as the owner."""
    await accept_answer(
        rig.ledger, PERSON, run_id, f"answer-{time.monotonic_ns()}", question, answer, owner=True
    )


@pytest.mark.parametrize(
    ("answer", "tag", "code"),
    [(HAPPENED, Tag.OK, ""), (NOT_HAPPENED, Tag.ERROR, "effect_absent")],
)
async def test_a_persons_word_settles_a_call_that_broke_after_its_effect(
    asking: Rig, answer: str, tag: Tag, code: str
) -> None:
    run_id = await counting(asking, "raise")
    question = await asked(asking, run_id)
    assert counted(asking) == 1

    await answered(asking, run_id, question, answer)
    run = await asking.ended(run_id)

    assert run.status == "completed"
    (call,) = await asking.of(run_id, CallSettled)
    assert (call.outcome.tag, call.outcome.code, call.by) == (tag, code, "person")
    assert [wait.on for wait in await asking.of(run_id, RunWaiting)] == ["unknown_effect"]
    assert counted(asking) == 1
    assert run.unknown == ()


async def test_a_call_is_run_again_only_on_a_persons_word_and_only_after_its_limit(
    asking: Rig,
) -> None:
    run_id = await counting(asking, "raise_first", "count_briefly")
    question = await asked(asking, run_id)
    assert await refused_again(asking, run_id, question) == "run_again_too_early"
    assert counted(asking) == 1

    await patiently(asking, run_id, question)
    run = await asking.ended(run_id)

    assert run.status == "completed"
    assert counted(asking) == 2
    assert [intent.round for intent in await asking.of(run_id, CallIntended)] == [1, 2]
    (call,) = await asking.of(run_id, CallSettled)
    assert (call.outcome.tag, call.by) == (Tag.OK, "execution")


async def patiently(rig: Rig, run_id: str, question: str) -> None:
    """Say 'run it again' until it is no longer too early."""
    async with asyncio.timeout(60):
        while await refused_again(rig, run_id, question) == "run_again_too_early":
            await rig.beat(0.2)


async def refused_again(rig: Rig, run_id: str, question: str) -> str:
    """Say 'run it again'; give the code where that is refused, else ""."""
    try:
        await answered(rig, run_id, question, AGAIN)
    except LegatoError as refusal:
        return refusal.code
    return ""


async def test_a_call_that_broke_twice_is_asked_about_twice(asking: Rig) -> None:
    run_id = await counting(asking, "raise", "count_briefly")
    first = await asked(asking, run_id)
    await patiently(asking, run_id, first)
    await asking.until(run_id, lambda run: len(run.inputs) == 2)

    second = await asked(asking, run_id)
    await answered(asking, run_id, second, NOT_HAPPENED)
    run = await asking.ended(run_id)

    assert run.status == "completed"
    assert first != second
    assert [unknown.round for unknown in await asking.of(run_id, CallUnknown)] == [1, 2]
    assert counted(asking) == 2


async def test_a_call_that_ends_after_all_closes_the_question_about_it(asking: Rig) -> None:
    run_id = await counting(asking, "dawdle", "count_briefly")
    await asked(asking, run_id)

    run = await asking.ended(run_id)

    assert run.status == "completed"
    (settled,) = await asking.of(run_id, InputSettled)
    assert (settled.how, settled.by) == (How.WITHDRAWN, "execution")
    (call,) = await asking.of(run_id, CallSettled)
    assert (call.outcome.text, call.by) == (f"counted {CANARY}", "execution")
    assert counted(asking) == 1
    assert run.unknown == ()


@pytest.mark.slow
async def test_an_outcome_that_comes_after_a_persons_word_changes_nothing(asking: Rig) -> None:
    run_id = await counting(asking, "dawdle", "count_briefly")
    question = await asked(asking, run_id)

    await answered(asking, run_id, question, NOT_HAPPENED)
    run = await asking.ended(run_id)
    before = await asking.facts(run_id)
    await asking.beat(6)

    assert await asking.facts(run_id) == before
    assert run.status == "completed"
    (call,) = await asking.of(run_id, CallSettled)
    assert (call.outcome.code, call.by) == ("effect_absent", "person")


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_worker_that_dies_in_the_effect_leaves_three_questions_with_three_answers(
    rig: Rig,
) -> None:
    keeping = kept_alive(rig)
    try:
        run_id = await counting(rig, "die")
        question = await asked(rig, run_id, seconds=200)
        assert counted(rig) == 1
        assert len(rig.workers) == 2
        await patiently(rig, run_id, question)
        await rig.until(run_id, lambda run: len(run.inputs) == 2, seconds=200)
        again = await asked(rig, run_id)
        assert counted(rig) == 2, "once more, since a person said so"
        await answered(rig, run_id, again, HAPPENED)
        run = await rig.ended(run_id, seconds=100)
    finally:
        keeping.cancel()

    assert run.status == "completed"
    assert counted(rig) == 2
    (call,) = await rig.of(run_id, CallSettled)
    assert (call.outcome.tag, call.by) == (Tag.OK, "person")
    await all_holds(rig)


@pytest.mark.slow
@pytest.mark.timeout(400)
async def test_a_worker_that_was_only_asleep_closes_the_question_when_it_wakes(rig: Rig) -> None:
    first = rig.start_worker()
    run_id = await counting(rig, "", sleep_seconds=5)
    await rig.until(run_id, begun, seconds=120)
    first.process.send_signal(signal.SIGSTOP)
    rig.start_worker()
    await asked(rig, run_id, seconds=120)

    first.process.send_signal(signal.SIGCONT)
    run = await rig.ended(run_id, seconds=60)

    assert run.status == "completed"
    assert [s.how for s in await rig.of(run_id, InputSettled)] == [How.WITHDRAWN]
    (call,) = await rig.of(run_id, CallSettled)
    assert (call.outcome.tag, call.by) == (Tag.OK, "execution")
    assert counted(rig) == 1
    await all_holds(rig)
