"""`legato run` from the command line to the end of a real run, and what it leaves to see."""

from __future__ import annotations

import signal

from tests.support.stack import LiveStack, calls, text

READ = ("read_file", {"path": "a.txt"})
WRITE = ("write_file", {"path": "made.txt", "content": "made\n"})


def test_a_run_works_in_the_workspace_and_ends_with_status_changes_and_cost(
    stack: LiveStack,
) -> None:
    folder = stack.workspace("works", a__txt="hello\n")
    model = stack.script("works", calls(READ), calls(WRITE), text("done"))

    ran = stack.cli("--json", "run", "generic", "make it", "-w", str(folder), "-m", model)

    assert ran.code == 0, ran.out + ran.err
    assert (folder / "made.txt").read_text() == "made\n"
    assert ran.json["status"] == "completed"
    assert ran.json["changed"] == ["made.txt"]
    assert (ran.json["steps"], ran.json["calls"], ran.json["cost"]) == (3, 2, "0")
    assert ran.json["items_done"] == 1
    assert "completed" in ran.err


def test_the_timeline_is_printed_as_it_happens(stack: LiveStack) -> None:
    folder = stack.workspace("timeline", a__txt="hello\n")
    model = stack.script("timeline", calls(READ), text("done"))

    ran = stack.cli("run", "generic", "read it", "-w", str(folder), "-m", model)

    told = [line for line in ran.out.splitlines() if line]
    order = [
        f"run {stack.row(model)['run_id']}",
        "accepted: generic",
        "read_file(path=a.txt): ok",
        "done",
        "completed (done",
    ]
    places = [next(n for n, line in enumerate(told) if part in line) for part in order]
    assert ran.code == 0
    assert places == sorted(places)


def test_a_detached_run_is_told_at_once_and_goes_on_alone(stack: LiveStack) -> None:
    folder = stack.workspace("detached")
    model = stack.script("detached", text("done", delay_seconds=1))

    ran = stack.inside("run", "generic", "go", "-w", str(folder), "-m", model, "--detach", "--json")

    assert (ran.code, ran.json["status"]) == (0, "queued")
    assert ran.json["run_id"] == stack.row(model)["run_id"]
    assert ran.err == ""
    assert stack.reaches(model, "completed")


def test_a_failed_run_exits_with_one_and_says_why(stack: LiveStack) -> None:
    model = stack.script("fails", {"fail": {"code": "model_away", "disposition": "refuse"}})

    ran = stack.inside("--json", "run", "generic", "go", "-m", model)

    assert (ran.code, ran.json["ok"], ran.json["status"]) == (1, False, "failed")
    assert ran.error["code"] == "model_away"
    assert "legato show" in ran.error["next"]


def test_a_spent_budget_exits_with_one_and_names_the_limit(stack: LiveStack) -> None:
    model = stack.script("budget", calls(READ), repeat=True)

    ran = stack.inside("--json", "run", "generic", "go", "-m", model, "--max-steps", "2")

    assert (ran.code, ran.json["status"], ran.json["steps"]) == (1, "over_budget", 2)
    assert ran.error["code"] == "budget_steps"


def test_what_only_a_worker_can_refuse_exits_with_three(stack: LiveStack) -> None:
    model = stack.script("unfit", {"unknown": "field"})
    ran = stack.inside("--json", "run", "generic", "go", "-m", model)

    assert (ran.code, ran.json["status"]) == (3, "failed")
    assert "script_invalid" in ran.error["details"]["problems"][0]
    assert "correct the script" in ran.error["next"]


def test_a_script_that_is_not_there_is_refused_before_anything_is_accepted(
    stack: LiveStack,
) -> None:
    model = "script:/nowhere/at/all.yaml"
    ran = stack.inside("--json", "run", "generic", "go", "-m", model)

    assert (ran.code, ran.error["code"]) == (3, "definition_refused")
    assert "script_unreadable" in ran.error["message"]
    assert stack.row(model) == {}


def test_a_key_that_the_worker_lacks_is_told_with_the_way_to_give_it(stack: LiveStack) -> None:
    ran = stack.inside("--json", "run", "generic", "go", "-m", "anthropic:some-model")

    assert (ran.code, ran.json["status"]) == (3, "failed")
    assert "set ANTHROPIC_API_KEY, then `" in ran.error["next"]
    assert "down` and run again" in ran.error["next"]


def test_an_interrupted_follower_leaves_the_run_and_says_how_to_stop_it(stack: LiveStack) -> None:
    model = stack.script("interrupted", text("slow", delay_seconds=90))
    following = stack.start("--json", "run", "generic", "go", "-m", model)
    assert stack.reaches(model, "running")

    following.send_signal(signal.SIGINT)
    out, _ = following.communicate(timeout=20)

    run_id = stack.row(model)["run_id"]
    assert following.returncode == 130
    assert f"legato stop {run_id}" in out
    assert stack.row(model)["status"] == "running"
