"""`--slot` and `--on-collision` from the command line: each way, and who comes too late."""

from __future__ import annotations

import pytest

from tests.support.stack import LiveStack, Result, calls, text, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

QUESTION = {"question": "Which colour?", "choices": ["red", "blue"]}
ASK = (calls(("ask_human", QUESTION)), text("thank you"))


def ask(stack: LiveStack, slot: str, model: str, policy: str, message: str = "go") -> Result:
    """Ask for a run in a slot, by the program, and go on."""
    where = ("--slot", slot, "--on-collision", policy)
    return stack.cli("--json", "run", "generic", message, "-m", model, "--detach", *where)


def held(stack: LiveStack, slot: str) -> str:
    """Have a slot held by a run that waits for a person; gives its id."""
    model = stack.script(f"holds-{slot}", *ASK)
    asked = ask(stack, slot, model, "queue")
    assert (asked.code, asked.json["decision"]) == (0, "started"), asked.out
    assert stack.reaches(model, "waiting")
    return str(asked.json["run_id"])


def shown(stack: LiveStack, run_id: str) -> dict[str, object]:
    return stack.inside("--json", "show", run_id).json


def ends(stack: LiveStack, run_id: str, status: str) -> bool:
    return until(lambda: shown(stack, run_id)["status"] == status)


def test_a_queued_run_waits_for_its_slot_and_begins_when_the_holder_has_ended(
    stack: LiveStack,
) -> None:
    holder = held(stack, "queued")
    model = stack.script("queued-next", text("done"))
    asked = ask(stack, "queued", model, "queue")

    assert (asked.json["decision"], asked.json["holder"]) == ("queued", holder)
    waiting = shown(stack, asked.json["run_id"])
    assert (waiting["status"], waiting["waiting_on"], waiting["home"]) == ("queued", "slot", None)
    assert stack.inside("--json", "answer", holder, "red").code == 0
    assert ends(stack, asked.json["run_id"], "completed")
    assert shown(stack, holder)["status"] == "completed"
    assert shown(stack, asked.json["run_id"])["n"] == 2


def test_requests_that_coalesce_are_one_run_with_both_messages(stack: LiveStack) -> None:
    holder = held(stack, "coalesced")
    model = stack.script("coalesced-next", text("done"))
    first, second = (
        ask(stack, "coalesced", model, "coalesce", message)
        for message in ("the attic first", "the cellar too")
    )

    assert [one.json["decision"] for one in (first, second)] == ["coalesced", "coalesced"]
    assert first.json["run_id"] == second.json["run_id"] == first.json["request"]
    assert second.json["request"] != second.json["run_id"]
    assert stack.inside("--json", "answer", holder, "red").code == 0
    assert ends(stack, first.json["run_id"], "completed")
    ran = shown(stack, first.json["run_id"])
    assert ran["request_ids"] == [first.json["request"], second.json["request"]]
    sent = stack.inside("--json", "show", first.json["run_id"], "--request", "1").out
    assert 0 < sent.index("the attic first") < sent.index("the cellar too")


def test_a_run_that_supersedes_has_the_holder_stopped_and_comes_before_the_line(
    stack: LiveStack,
) -> None:
    holder = held(stack, "superseded")
    quick = stack.script("superseded-next", text("done"))
    queued = ask(stack, "superseded", quick, "queue")
    newest = ask(stack, "superseded", quick, "supersede")

    assert (newest.json["decision"], newest.json["holder"]) == ("superseding", holder)
    assert ends(stack, queued.json["run_id"], "completed")
    assert shown(stack, holder)["status"] == "superseded"
    numbers = [shown(stack, one.json["run_id"])["n"] for one in (newest, queued)]
    assert numbers == [2, 3]


def test_a_dropped_request_ends_with_three_and_names_the_holder(stack: LiveStack) -> None:
    holder = held(stack, "dropped")
    model = stack.script("dropped-next", text("never"))
    asked = ask(stack, "dropped", model, "drop")

    assert (asked.code, asked.json["decision"], asked.json["run_id"]) == (3, "dropped", "")
    assert (asked.error["code"], asked.error["details"]["holder"]) == ("slot_taken", holder)
    assert stack.row(model) == {}
    assert stack.inside("--json", "stop", holder).code == 0


def test_who_comes_late_for_a_slot_s_ended_run_reaches_no_other(stack: LiveStack) -> None:
    first = held(stack, "late")
    model = stack.script("late-next", *ASK)
    second = str(ask(stack, "late", model, "queue").json["run_id"])
    (question,) = stack.inside("--json", "show", first).json["open_questions"]
    input_id = str(question["input_id"])
    assert stack.inside("--json", "answer", first, input_id, "red").code == 0
    assert stack.reaches(model, "waiting")
    before = stack.inside("--json", "log", second).json

    late = [
        stack.inside("--json", "stop", first),
        stack.inside("--json", "send", first, "and that"),
        stack.inside("--json", "answer", first, input_id, "blue"),
    ]

    assert [one.error["code"] for one in late] == ["run_closed", "run_closed", "input_settled"]
    assert stack.inside("--json", "log", second).json == before
    assert shown(stack, second)["status"] == "waiting"
    assert stack.inside("--json", "answer", second, "blue").code == 0
    assert ends(stack, second, "completed")
