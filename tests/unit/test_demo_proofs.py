"""The demo's claims: each fails where what it claims did not happen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from domain.events import (
    CallSettled,
    CheckCompleted,
    Fact,
    FindingRecorded,
    InputAsked,
    ModelLost,
    ModelResponded,
    ReceiptWritten,
    RunEnded,
)
from domain.runs.conversation import CallRequest, Usage
from domain.runs.inputs import InputKind, Question
from domain.runs.recorded import Recorded
from domain.tools.results import ok
from legato.demo.kills import Kill
from legato.demo.proofs import prove
from legato.demo.story import slow_steps
from legato.worktrees import Change, File, Tree

NOW = datetime(2030, 1, 1, tzinfo=UTC)
KILLS = (Kill("inside a model call", 1, 2, 0.0, 0.5), Kill("inside tests", 2, 3, 0.0, 0.5))
TREE = Tree("run", "/r", "/r/.git", "/w", "/g", "/w", "legato/run", "base", "")
CHANGE = Change(TREE, "commit", (File("till/bill.py", 2, 1),), "")
CALL = CallRequest(position=0, provider_id="c", name="read_file", arguments="{}")


def answered(turn: int, step: int) -> ModelResponded:
    return ModelResponded(
        turn=turn, step=step, n=1, text="", calls=(CALL,), usage=Usage(), finish="tool_calls"
    )


def settled(turn: int, step: int) -> CallSettled:
    return CallSettled(turn=turn, step=step, position=0, name="read_file", outcome=ok("text"))


def checked(attempt: int, *, passed: bool) -> CheckCompleted:
    return CheckCompleted(
        item=2, attempt=attempt, ok=passed, terminal=False, failures=(), report=""
    )


def whole() -> list[Fact]:
    """A story in which everything happened."""
    return [
        answered(1, 1),
        settled(1, 1),
        ModelLost(turn=1, step=2, n=1),
        answered(1, 2),
        settled(1, 2),
        FindingRecorded(
            turn=1, step=1, position=0, fingerprint="f", title="t", detail="d", severity="high",
            module="bill",
        ),
        checked(0, passed=False),
        checked(1, passed=True),
        ReceiptWritten(
            turn=1, step=3, position=0, module="bill", result="changed", fingerprints=("f",),
            proof="p", text="t",
        ),
        RunEnded(status="completed", reason="done", by="system", message="", items_done=4),
    ]  # fmt: skip


def failing(facts: list[Fact], kills: tuple[Kill, ...] = KILLS, runs: int = 2) -> list[str]:
    events = [Recorded(n, "", NOW, "system", fact) for n, fact in enumerate(facts, start=1)]
    proofs = prove(events, kills, ["ran"] * runs, CHANGE)
    return [proof.claim for proof in proofs if not proof.holds]


def test_every_claim_holds_where_everything_happened() -> None:
    assert failing(whole()) == []


@pytest.mark.parametrize(
    ("left_out", "claim"),
    [
        (1, "each tool call was done once"),
        (2, "each model answer was recorded once"),
        (6, "the first fix was refused by the tests, the repair passed"),
        (8, "the finding was closed with proof"),
        (9, "the run completed, and ended once"),
    ],
)
def test_a_claim_fails_where_its_fact_is_missing(left_out: int, claim: str) -> None:
    facts = whole()
    del facts[left_out]

    assert claim in failing(facts)


def test_a_test_command_that_ran_twice_is_seen() -> None:
    assert failing(whole(), runs=3) == ["the killed test command went on and was not run again"]


def test_one_kill_is_too_few() -> None:
    assert failing(whole(), kills=KILLS[:1]) == ["two workers were killed, a third finished"]


def test_a_question_to_a_person_is_seen() -> None:
    question = Question(kind=InputKind.QUESTION, text="Sure?")
    asked = InputAsked(input_id="i", turn=1, step=1, position=0, question=question)

    assert failing([*whole(), asked]) == ["nobody was asked"]


def test_a_call_that_was_done_twice_is_seen() -> None:
    assert failing([*whole(), settled(1, 1)]) == ["each tool call was done once"]


def test_one_step_of_the_script_lasts_long_enough_to_be_killed_in() -> None:
    assert len(slow_steps()) == 1
