"""What people say to a run from the command line: answers, messages, stops."""

from __future__ import annotations

import pytest

from tests.support.stack import LiveStack, calls, text, until

QUESTION = {"question": "Which colour?", "choices": ["red", "blue"]}


@pytest.fixture(scope="module")
def asking(stack: LiveStack) -> str:
    """Give the id of a run that waits for a person; its script goes on only with `blue`."""
    answered = {"last_tool": {"name": "ask_human", "contains": "blue"}}
    model = stack.script("asks", calls(("ask_human", QUESTION)), text("done", expect=answered))

    ran = stack.cli("--json", "run", "generic", "ask", "-m", model)

    assert (ran.code, ran.json["status"], ran.json["ok"]) == (5, "waiting", False)
    assert ran.error["code"] == "waits_for_person"
    assert ran.error["message"] == "Which colour?"
    return str(ran.json["run_id"])


def test_the_inbox_gives_the_command_that_answers(stack: LiveStack, asking: str) -> None:
    listed = stack.inside("--json", "inbox").json["questions"]

    mine = next(row for row in listed if row["run_id"] == asking)
    assert (mine["text"], mine["choices"]) == ("Which colour?", ["red", "blue"])
    assert mine["command"] == f'legato answer {asking} {mine["input_id"]} "red"'
    assert mine["who"] == ["owner"]
    assert mine["expires_at"] == ""


def test_an_answer_outside_the_choices_is_refused_and_the_first_one_counts(
    stack: LiveStack, asking: str
) -> None:
    model = str(next(row for row in stack.rows() if row["run_id"] == asking)["model"])
    asked = stack.inside("--json", "show", asking).json["open_questions"][0]["input_id"]

    unclear = stack.inside("--json", "answer", asking, asked, "bluish")
    silent = stack.inside("--json", "answer", asking, asked)
    wrong = stack.inside("--json", "answer", asking, "ask-9.9.9", "blue")
    answered = stack.inside("answer", asking, "blue")
    late = stack.inside("--json", "answer", asking, asked, "red")

    assert (unclear.code, unclear.error["code"]) == (3, "answer_unclear")
    assert unclear.error["details"]["choices"] == ["red", "blue"]
    assert (silent.code, silent.error["code"]) == (2, "usage")
    assert f'answer {asking} {asked} "red"' in silent.error["next"]
    assert (wrong.code, wrong.error["code"]) == (4, "input_not_found")
    assert answered.code == 0, answered.err
    assert (late.code, late.error["code"]) == (3, "input_settled")
    assert stack.reaches(model, "completed")
    nothing = stack.inside("--json", "answer", asking, "blue")
    assert (nothing.code, nothing.error["code"]) == (4, "input_not_found")
    assert "asks nothing" in nothing.error["message"]


def test_a_stop_is_accepted_at_once_and_ends_the_run_with_who_and_why(stack: LiveStack) -> None:
    model = stack.script("stopped", text("slow", delay_seconds=60))
    following = stack.start("--json", "run", "generic", "go", "-m", model)
    assert stack.reaches(model, "running")
    run_id = str(stack.row(model)["run_id"])

    sent = stack.inside("--json", "send", run_id, "one more thing")
    stopped = stack.cli("--json", "stop", run_id, "--reason", "seen enough")
    following.communicate(timeout=20)
    again = stack.inside("--json", "stop", run_id)

    assert (stopped.code, stopped.json["ok"]) == (0, True)
    assert (sent.code, stopped.json["undelivered"]) == (0, ["one more thing"])
    assert following.returncode == 6
    row = stack.row(model)
    assert (row["status"], row["reason"]) == ("stopped", "stop_requested")
    assert str(row["by"]).startswith("person:")
    assert (again.code, again.error["code"]) == (3, "run_closed")


def test_a_message_steers_the_run_at_its_next_step(stack: LiveStack) -> None:
    steered = {"user_contains": "the other one"}
    model = stack.script("steered", text("first", delay_seconds=8), text("second", expect=steered))
    stack.inside("run", "generic", "go", "-m", model, "--detach")
    assert stack.reaches(model, "running")

    sent = stack.inside("--json", "send", str(stack.row(model)["run_id"]), "take the other one")

    assert (sent.code, sent.json["later"]) == (0, False)
    assert stack.reaches(model, "completed")
    assert stack.row(model)["steps"] == 2
    told = stack.inside("log", str(stack.row(model)["run_id"])).out
    assert "message accepted from person:" in told
    assert "message delivered: take the other one" in told


def test_a_message_for_later_names_the_run_that_it_starts_after_a_stop(stack: LiveStack) -> None:
    model = stack.script("later", text("slow", delay_seconds=60))
    stack.inside("run", "generic", "go", "-m", model, "--detach")
    assert stack.reaches(model, "running")
    run_id = str(stack.row(model)["run_id"])

    sent = stack.inside("--json", "send", run_id, "and then this", "--later")
    stopped = stack.inside("stop", run_id)
    following = sent.json["following"]

    assert f"they start run {following}" in stopped.out
    assert until(lambda: any(row["run_id"] == following for row in stack.rows()))
    shown = stack.inside("show", run_id).out
    assert "1 message was not delivered: and then this" in shown
    assert f"run {following} follows" in shown
    stack.inside("stop", following)


def test_the_budget_of_an_open_run_is_raised_through_the_program(stack: LiveStack) -> None:
    model = stack.script("raised", text("slow", delay_seconds=60))
    stack.inside("run", "generic", "go", "-m", model, "--detach", "--max-steps", "3")
    assert stack.reaches(model, "running")
    run_id = str(stack.row(model)["run_id"])

    more = stack.inside("--json", "budget", run_id, "--max-steps", "+2")
    lower = stack.inside("--json", "budget", run_id, "--max-steps", "1", "--max-cost", "+0.5")
    unnamed = stack.inside("--json", "budget", run_id)
    stack.inside("stop", run_id)
    ended = stack.inside("--json", "budget", run_id, "--max-steps", "+2")

    assert (more.code, more.json["run_id"], more.json["budget"]["steps"]) == (0, run_id, 5)
    assert more.json["stream"] == f"run/{run_id}"
    assert str(more.json["event_id"]).startswith("budget.raised:")
    assert (lower.code, lower.error["code"]) == (3, "budget_refused")
    assert "limit_not_raised" in lower.error["message"]
    assert "limit_not_set" in lower.error["message"]
    assert unnamed.code == 2
    assert (ended.code, ended.error["code"]) == (3, "run_closed")
    assert f"legato resume {run_id}" in ended.error["next"]


def test_an_ended_run_goes_on_in_a_new_one_through_the_program(stack: LiveStack) -> None:
    model = stack.script("steer_resumed", calls(("list_files", {})), text("done"))
    where = ("-w", str(stack.workspace("steer_resumed")), "-m", model)
    old = stack.inside("--json", "run", "generic", "go", *where, "--max-steps", "1")
    run_id = str(old.json["run_id"])

    unsaid = stack.inside("--json", "resume", run_id, "--max-tokens", "+5")
    new = stack.inside("--json", "resume", run_id, "--max-steps", "+3")
    nothing = stack.inside("--json", "resume", str(new.json["run_id"]))

    assert (old.json["status"], unsaid.error["code"]) == ("over_budget", "budget_refused")
    assert (new.code, new.json["status"]) == (0, "completed"), new.out
    assert f"goes on from {run_id}" in " ".join(
        stack.inside("show", str(new.json["run_id"])).out.split()
    )
    assert (nothing.code, nothing.error["code"]) == (3, "run_has_nothing_left")
