"""`legato review-fix` on real repositories: a branch of its own, proof, and the way back."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from legato.worktrees import find_repository, make_worktree
from legato.worktrees.place import folder_of
from tests.support.repositories import CHECK, git, repository
from tests.support.stack import LiveStack, calls, text, until

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FOUND = {
    "module": "value",
    "title": "The value is wrong",
    "path": "value.txt",
    "detail": "check.py expects the word right.",
    "severity": "high",
}
PRINT = {"from": {"step": 0, "regex": "finding ([0-9a-f]{12})"}}


def script(stack: LiveStack, name: str, written: str = "right", **first: object) -> str:
    """Review, claim, fix, write the receipt; `first` is said of the first step."""
    receipt = {"module": "value", "result": "changed", "text": "mended", "proof": "check.py passed"}
    change = {"path": "value.txt", "expected_revision": "{{result.2.revision}}"}
    steps: tuple[Mapping[str, object], ...] = (
        calls(("record_finding", FOUND), **first),
        text("one finding"),
        calls(("claim_findings", {"fingerprints": [PRINT]})),
        calls(("read_file", {"path": "value.txt"})),
        calls(("edit_file", {**change, "edits": [{"old": "wrong", "new": written}]})),
        text("mended"),
        calls(("write_receipt", receipt)),
        text("The value was wrong and is right."),
    )
    return stack.script(name, *steps)


def review(folder: Path, model: str, *more: str) -> tuple[str, ...]:
    return ("--json", "review-fix", str(folder), "-m", model, "--check", CHECK, *more)


def test_the_work_is_committed_to_a_branch_and_the_tree_is_left_alone(stack: LiveStack) -> None:
    folder = repository(stack.files / "branch")
    ran = stack.inside(*review(folder, script(stack, "branch")))

    assert ran.code == 0, ran.out + ran.err
    change = ran.json["change"]
    run_id = ran.json["run_id"]
    assert (ran.json["status"], ran.json["answer"]) == (
        "completed",
        "The value was wrong and is right.",
    )
    assert change["files"] == [{"path": "value.txt", "added": 1, "removed": 1}]
    assert (folder / "value.txt").read_text() == "wrong\n"
    message = git(folder, "log", "-1", "--format=%B", change["branch"])
    assert message.splitlines() == [
        "Legato review-fix: The value is wrong",
        "",
        "- changed: value: The value is wrong (value.txt)",
        "",
        f"Legato-Run: {run_id}",
        "Legato-Status: completed",
    ]
    assert run_id.startswith(change["branch"].removeprefix("legato/"))
    git(folder, *change["merge"].split()[3:])
    assert (folder / "value.txt").read_text() == "right\n"


def test_a_run_that_fails_keeps_its_work_and_says_so(stack: LiveStack) -> None:
    folder = repository(stack.files / "fails")
    model = script(stack, "fails", written="still wrong")
    ran = stack.inside(*review(folder, model))

    change = ran.json["change"]
    assert (ran.code, ran.json["status"]) == (1, "failed")
    message = git(folder, "log", "-1", "--format=%B", change["branch"])
    assert message.startswith("Legato review-fix: run failed, work as it stood\n")
    assert message.endswith("Legato-Status: failed")
    assert git(folder, "show", f"{change['branch']}:value.txt") == "still wrong"


def test_a_detached_run_is_committed_by_finish_once_and_only_after_its_end(
    stack: LiveStack,
) -> None:
    folder = repository(stack.files / "detach")
    model = script(stack, "detach", delay_seconds=4)
    begun = stack.inside(*review(folder, model, "--detach"))
    run_id = begun.json["run_id"]

    early = stack.inside("--json", "review-fix", "--finish", run_id)
    assert stack.reaches(model, "completed")
    first = stack.inside("--json", "review-fix", "--finish", run_id)
    second = stack.inside("--json", "review-fix", "--finish", run_id)

    assert (begun.code, begun.json["status"]) == (0, "queued")
    assert begun.json["finish"] == f"legato review-fix --finish {run_id}"
    assert (early.code, early.error["code"]) == (3, "run_not_ended")
    assert first.code == 0, first.out + first.err
    assert first.json["change"]["commit"]
    assert second.json == first.json


def test_in_place_the_tree_itself_is_changed_and_nothing_committed(stack: LiveStack) -> None:
    folder = repository(stack.files / "in-place")
    (folder / "mine.txt").write_text("mine\n", encoding="utf-8")
    ran = stack.inside(*review(folder, script(stack, "in-place"), "--in-place"))

    assert ran.code == 0, ran.out + ran.err
    assert (folder / "value.txt").read_text() == "right\n"
    assert ran.json["in_place"] is True
    assert [file["path"] for file in ran.json["change"]["files"]] == ["value.txt"]
    assert git(folder, "rev-list", "--count", "--all") == "1"
    assert "1 uncommitted change of your own" in ran.err


def test_uncommitted_changes_are_said_not_to_be_in_the_run(stack: LiveStack) -> None:
    folder = repository(stack.files / "uncommitted")
    (folder / "mine.txt").write_text("mine\n", encoding="utf-8")
    ran = stack.inside(*review(folder, script(stack, "uncommitted"), "--detach"))

    assert ran.code == 0, ran.out + ran.err
    assert "1 uncommitted change of your own not in the run's worktree" in ran.err
    assert "--in-place" in ran.err


def test_a_run_that_changes_nothing_leaves_no_branch_and_no_worktree(stack: LiveStack) -> None:
    folder = repository(stack.files / "nothing", value__txt="right\n")
    model = stack.script("nothing", text("nothing found"), text("nothing to do"), text("none"))
    ran = stack.inside(*review(folder, model))

    assert ran.code == 0, ran.out + ran.err
    assert ran.json["change"]["files"] == []
    assert git(folder, "branch", "--format=%(refname:short)") == "main"
    assert len(git(folder, "worktree", "list").splitlines()) == 1


def test_a_run_with_nothing_to_do_has_done_its_items(stack: LiveStack) -> None:
    folder = repository(stack.files / "items", value__txt="right\n")
    model = stack.script("items", text("nothing found"), text("nothing to do"), text("none"))
    ran = stack.inside(*review(folder, model))
    shown = stack.inside("--json", "show", ran.json["run_id"])

    assert ran.code == 0, ran.out + ran.err
    assert [item["state"] for item in shown.json["items"]] == ["done"] * 4


def test_what_the_checks_leave_behind_stands_in_the_way_of_no_merge(stack: LiveStack) -> None:
    value = "def word():\n    return open('value.txt').read().strip()\n"
    check = "import value\nraise SystemExit(value.word() != 'right')\n"
    folder = repository(stack.files / "caches", check__py=check, value__py=value)
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/value.pyc").write_text("mine\n", encoding="utf-8")
    again = f"{CHECK} && mkdir -p __pycache__ && touch __pycache__/value.pyc"
    ran = stack.inside(*review(folder, script(stack, "caches"), "--check", again))

    assert ran.code == 0, ran.out + ran.err
    assert [file["path"] for file in ran.json["change"]["files"]] == ["value.txt"]
    assert "uncommitted" not in ran.err
    git(folder, *ran.json["change"]["merge"].split()[3:])
    assert (folder / "value.txt").read_text() == "right\n"


def test_everything_wrong_is_told_at_once_and_nothing_is_made(stack: LiveStack) -> None:
    folder = stack.workspace("wrong", notes__txt="hello\n")
    ran = stack.inside("--json", "review-fix", str(folder))

    codes = [problem.partition(":")[0] for problem in ran.error["details"]["problems"]]
    assert (ran.code, ran.error["code"]) == (3, "launch_refused")
    assert codes == ["model_missing", "checks_not_found", "not_a_repository"]
    assert sorted(path.name for path in folder.iterdir()) == ["notes.txt"]


@pytest.mark.parametrize(
    ("more", "code"),
    [((), "model_missing"), (("-m", "gpt"), "model_unknown")],
)
def test_a_model_must_be_named_in_one_of_the_forms(
    more: tuple[str, ...], code: str, stack: LiveStack
) -> None:
    folder = repository(stack.files / code)
    ran = stack.inside("--json", "review-fix", str(folder), "--check", CHECK, *more)

    assert (ran.code, ran.error["code"]) == (3, code)
    for form in ("anthropic:MODEL", "ollama:MODEL", "script:FILE"):
        assert form in ran.error["next"]
    assert git(folder, "branch", "--format=%(refname:short)") == "main"


def test_an_interrupted_follower_is_told_how_to_finish(stack: LiveStack) -> None:
    folder = repository(stack.files / "interrupted")
    model = script(stack, "interrupted", delay_seconds=3)
    follower = stack.start(*review(folder, model))
    assert until(lambda: stack.row(model).get("status") == "running")
    follower.send_signal(2)
    out, err = follower.communicate(timeout=30)

    run_id = json.loads(out)["error"]["details"]["run_id"]
    assert follower.returncode == 130
    assert f"legato review-fix --finish {run_id}" in err
    assert stack.reaches(model, "completed")
    assert stack.inside("--json", "review-fix", "--finish", run_id).json["change"]["commit"]


@pytest.mark.parametrize("made", [True, False])
def test_a_tree_whose_command_was_killed_before_its_run_was_accepted_is_offered_for_removal(
    stack: LiveStack, *, made: bool
) -> None:
    run_id = f"01a00000-0000-7000-8000-00000000000{int(made)}"
    folder = repository(stack.files / f"killed {made}")
    place = folder_of(stack.home, run_id)
    place.mkdir(parents=True)
    if made:
        make_worktree(stack.home, run_id, find_repository(folder))
    named = f"tree {run_id}"
    assert named not in doctor(stack), "it may just be being accepted"

    os.utime(place, (0, 0))
    found = doctor(stack)[named]

    assert found["grade"] == "warn"
    command = str(found["next"]).removeprefix("remove it: ")
    subprocess.run(["sh", "-c", command], check=True, capture_output=True)
    assert named not in doctor(stack)
    assert not place.exists()
    assert git(folder, "branch", "--list", "legato/*") == ""
    assert len(git(folder, "worktree", "list").splitlines()) == 1


def doctor(stack: LiveStack) -> dict[str, dict[str, object]]:
    """Examine; gives each finding by its name."""
    return {one["name"]: one for one in stack.inside("--json", "doctor").json["checks"]}


def test_a_resumed_run_works_on_in_the_old_folder_with_the_findings_of_the_old_run(
    stack: LiveStack,
) -> None:
    """What it changed there is committed on top of the old run's commit, once."""
    folder = repository(stack.files / "resumed", other__txt="old\n")
    model = script(stack, "resumed")
    old = stack.inside(*review(folder, model, "--max-steps", "5"))
    branch, run_id = old.json["change"]["branch"], old.json["run_id"]
    receipt = {"module": "value", "result": "changed", "text": "mended", "proof": "check.py passed"}
    change = {"path": "other.txt", "expected_revision": "{{result.0.revision}}"}
    stack.script(
        "resumed",
        calls(("read_file", {"path": "other.txt"})),
        calls(("edit_file", {**change, "edits": [{"old": "old", "new": "new"}]})),
        text("went on"),
        calls(("write_receipt", receipt)),
        text("Now it is right."),
    )
    new = stack.inside("--json", "resume", run_id, "--max-steps", "9")
    finish = ("--json", "review-fix", "--finish")
    finished, again = (stack.inside(*finish, new.json["run_id"]) for _ in range(2))
    older = stack.inside(*finish, run_id)

    assert (old.code, old.json["status"], old.json["reason"]) == (1, "over_budget", "budget_steps")
    assert new.code == 0, new.out + new.err
    assert (new.json["status"], new.json["answer"]) == ("completed", "Now it is right.")
    assert [one["result"] for one in new.json["receipts"]] == ["changed"]
    assert finished.code == 0, finished.out + finished.err
    assert again.json == finished.json
    assert older.json["change"]["commit"] == finished.json["change"]["commit"]
    assert [one["state"] for one in finished.json["finding_rows"]] == ["changed"]
    assert git(folder, "show", f"{branch}:other.txt") == "new"
    assert git(folder, "show", f"{branch}:value.txt") == "right"
    assert git(folder, "rev-list", "--count", f"main..{branch}") == "2"
    assert (folder / "value.txt").read_text() == "wrong\n"


def test_a_run_whose_folder_is_gone_is_not_resumed(stack: LiveStack) -> None:
    folder = repository(stack.files / "gone")
    model = stack.script("gone", calls(("list_files", {"path": "."})), repeat=True)
    old = stack.inside(*review(folder, model, "--max-steps", "2"))
    new = stack.inside("--json", "resume", old.json["run_id"], "--max-steps", "9")

    assert (old.json["status"], old.json["change"]["files"]) == ("over_budget", [])
    assert (new.code, new.error["code"]) == (4, "workspace_not_found")
    assert new.error["next"].startswith("put the folder back")
