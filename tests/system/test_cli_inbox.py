"""Effects that nobody can tell stay with people after their run has ended, until one tells."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from domain.ids import run_stream
from domain.runs.inputs import InputKind
from domain.runs.unknown import CHOICES, HAPPENED
from ledger.append import Part, append
from ledger.connect import close_ledger, open_ledger
from ledger.encode import Author
from legato.door import new_id
from tests.support import facts as f

if TYPE_CHECKING:
    from tests.support.stack import LiveStack, Result

INPUT = "unknown-1.1.0.1"


@pytest.fixture(scope="module")
def unsure(stack: LiveStack) -> str:
    """Record a run that was stopped while nobody could tell whether its call happened."""
    run_id = new_id()
    asyncio.run(_record(stack.database_url, run_id))
    return run_id


async def _record(database_url: str, run_id: str) -> None:
    question = f.asked(INPUT, kind=InputKind.UNKNOWN, choices=CHOICES, text="Did it happen?")
    facts = (
        *(f.accepted(run_id), f.attached(), f.defined(), f.turn_started(), f.requested()),
        *(f.responded(calls=1), f.intended(), f.unknown(), question),
        f.run_ended("stopped"),
    )
    ledger = await open_ledger(database_url, most=2)
    try:
        author = Author("system", "system", "test", "test", run_id)
        await append(ledger, author, Part(run_stream(run_id), facts, 0))
    finally:
        await close_ledger(ledger)


def questions(stack: LiveStack, run_id: str) -> list[dict[str, object]]:
    """List what the inbox asks about one run."""
    listed = stack.inside("--json", "inbox").json["questions"]
    return [row for row in listed if row["run_id"] == run_id]


def shown(stack: LiveStack, run_id: str) -> Result:
    """Show the run for programs."""
    return stack.inside("--json", "show", run_id)


def test_the_inbox_keeps_it_until_a_person_tells_and_the_record_then_says_who(
    stack: LiveStack, unsure: str
) -> None:
    before = questions(stack, unsure)
    seen = shown(stack, unsure).json

    told = stack.inside("answer", unsure, INPUT, *HAPPENED.split())

    assert [(row["kind"], row["run_open"]) for row in before] == [("unknown_effect", False)]
    assert [one["name"] for one in seen["unknown_effects"]] == ["deploy"]
    assert told.code == 0, told.err
    assert "has ended" in told.out
    assert questions(stack, unsure) == []
    assert shown(stack, unsure).json["unknown_effects"] == []
    assert shown(stack, unsure).json["timeline"][-1]["text"].endswith("ok, by person")


def test_an_ended_run_takes_no_message_and_no_stop(stack: LiveStack, unsure: str) -> None:
    sent = stack.inside("--json", "send", unsure, "go on")
    stopped = stack.inside("--json", "stop", unsure)

    assert (sent.code, sent.error["code"]) == (3, "run_closed")
    assert (stopped.code, stopped.error["code"]) == (3, "run_closed")
