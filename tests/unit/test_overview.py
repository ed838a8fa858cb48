"""A run on one screen: every state of it is told truly."""

from __future__ import annotations

import pytest

from domain.agents.request import AgentRequest
from domain.events import (
    Fact,
    FindingRecorded,
    ItemCompleted,
    ReceiptWritten,
    RunResumed,
    RunWaiting,
    TurnStarted,
)
from domain.runs.inputs import InputKind
from domain.runs.overview import Overview, overview
from domain.runs.sequence import CommandCheck, Item
from domain.tools.results import ok
from legato.cli.screens.overview import where_text
from tests.support import facts as f
from tests.support.recorded import recorded

BEGUN = (f.accepted("r"), f.attached(), f.defined(), f.turn_started(), f.requested())


def seen(*facts: Fact) -> Overview:
    """Fold facts that begin with an acceptance."""
    folded = overview(recorded(*facts))
    assert folded is not None
    return folded


def test_without_an_acceptance_there_is_nothing_to_see() -> None:
    assert overview(recorded(f.attached())) is None
    assert overview([]) is None


@pytest.mark.parametrize(
    ("facts", "status", "doing"),
    [
        (BEGUN[:1], "queued", "waiting for a worker to take it up"),
        (BEGUN[:2], "running", "building the agent's definition"),
        (BEGUN[:3], "running", "taking the next step"),
        (BEGUN, "running", "asking the model (request 1 of step 1)"),
        ((*BEGUN, f.responded(calls=2), f.settled()), "running", "running read_file"),
        ((*BEGUN, f.responded(), f.turn_completed()), "running", "between turns: checks, or the"),
        ((*BEGUN, f.stopped()), "stopping", "stopping"),
        (f.short_run("r"), "completed", "ended"),
    ],
)
def test_it_tells_what_a_run_is_doing(facts: tuple[Fact, ...], status: str, doing: str) -> None:
    state = seen(*facts).state

    assert state.status == status
    assert state.doing.startswith(doing)


def test_it_tells_times_reason_and_spend_of_an_ended_run() -> None:
    run = seen(*f.short_run("r"))

    assert run.state.accepted_at < run.state.started_at < run.state.ended_at
    assert (run.state.reason, run.state.by) == ("done", "system")
    assert (run.cost.requests, run.cost.steps, run.cost.calls) == (2, 2, 2)
    assert (run.cost.tokens, run.cost.cost, run.cost.cost_unknown) == (240, "0.02", 0)


def test_it_tells_where_in_the_sequence_a_repair_stands() -> None:
    items = (
        Item(kind="message", name="fix", text="fix"),
        Item(kind="prevalidation", name="proof", checks=(CommandCheck(command="make test"),)),
        Item(kind="message", name="report", text="report"),
    )
    defined = f.defined().model_copy(update={"items": items})
    repairs = [TurnStarted(turn=n, item=1, origin="repair", text="again") for n in (2, 3)]

    place = seen(f.accepted("r"), f.attached(), defined, f.turn_started(), *repairs).place

    assert (place.item, place.turn, place.repair) == (2, 3, 2)
    assert [(item.name, item.state) for item in place.items] == [
        ("fix", "now"),
        ("proof", "todo"),
        ("report", "todo"),
    ]


def test_a_failed_run_names_the_item_that_it_ended_in() -> None:
    items = (
        Item(kind="message", name="fix", text="fix"),
        Item(kind="prevalidation", name="proof", checks=(CommandCheck(command="make test"),)),
    )
    defined = f.defined().model_copy(update={"items": items})
    over = (f.turn_started(), f.turn_completed(), ItemCompleted(item=0), f.run_ended("failed"))

    place = seen(f.accepted("r"), f.attached(), defined, *over).place

    assert place.item == 2
    assert where_text(place) == "item 2 of 2 (proof), turn 1, step 0"


def test_an_ended_run_leaves_no_item_to_do() -> None:
    failed = f.run_ended("failed").model_copy(update={"items_done": 0})

    assert [item.state for item in seen(*BEGUN, failed).place.items] == ["not_done"]


def test_it_tells_what_a_person_is_asked_until_somebody_answers() -> None:
    waiting = (*BEGUN, f.responded(calls=1), f.asked(), RunWaiting(n=1, on="input", ref="q1"))

    open_, over = seen(*waiting), seen(*waiting, f.answered(), RunResumed(n=1))

    assert open_.waits.for_person
    assert (open_.waits.waiting_on, open_.waits.waiting_ref) == ("input", "q1")
    assert [(one.input_id, one.text) for one in open_.waits.open_questions] == [("q1", "Which?")]
    assert not over.waits.for_person
    assert over.waits.open_questions == ()


def test_after_the_end_only_questions_about_unknown_effects_stay() -> None:
    effect = f.asked("u1", kind=InputKind.UNKNOWN, choices=("it happened",))
    ended = seen(*BEGUN, f.responded(calls=1), f.asked(), f.unknown(), effect, f.run_ended())

    assert [one.input_id for one in ended.waits.open_questions] == ["u1"]
    assert [(one.call, one.name) for one in ended.waits.unknown_effects] == [("1.1.0", "deploy")]


def test_it_lists_each_changed_path_once_with_receipts_and_findings() -> None:
    at = {"turn": 1, "step": 1}
    changed = [
        f.settled(position=n, outcome=ok("", changed=paths))
        for n, paths in enumerate((("b.py", "a.py"), ("b.py",)))
    ]
    finding = FindingRecorded.model_validate(
        {**at, "position": 0, "fingerprint": "x", "title": "t", "detail": "d"}
        | {"severity": "low", "module": "m"}
    )
    receipt = ReceiptWritten.model_validate(
        {**at, "position": 1, "module": "m", "result": "changed", "fingerprints": ("x",)}
        | {"proof": "tests", "text": "mended"}
    )

    work = seen(*BEGUN, f.responded(calls=2), *changed, finding, finding, receipt).work

    assert work.changed == ("b.py", "a.py")
    assert work.findings == 1
    assert [(one.module, one.result, one.proof) for one in work.receipts] == [
        ("m", "changed", "tests")
    ]


def test_a_run_without_a_workspace_names_none() -> None:
    request = AgentRequest(role="generic", message="m", workspace="/w/project")

    assert seen(f.accepted("r")).identity.workspace == ""
    assert seen(f.accepted("r", request=request)).identity.workspace == "ws-0000"


def test_its_fields_in_one_mapping_lose_none() -> None:
    run = seen(*f.short_run("r"))
    parts = (run.identity, run.state, run.stuck, run.place, run.waits, run.work, run.cost)

    assert len(run.flat()) == sum(len(vars(part)) for part in parts)
