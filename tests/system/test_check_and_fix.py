"""`legato run check-and-fix`: a workspace's checks and fixers, run without any model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.support.interpreter import PYTHON
from tests.support.repositories import CHECK, git, repository

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.stack import LiveStack

FIX = f"{PYTHON} fix.py"
MAKEFILE = f"test:\n\t{CHECK}\nformat:\n\t{FIX}\n"


def declare(folder: Path, check: str, fixer: str) -> None:
    (folder / ".legato").mkdir()
    (folder / ".legato/workspace.toml").write_text(
        f'[checks]\ncommands = ["{check}"]\n[fixers]\ncommands = ["{fixer}"]\n', encoding="utf-8"
    )


def test_a_failing_check_is_mended_by_the_fixer_and_verified(stack: LiveStack) -> None:
    folder = repository(stack.files / "mends", Makefile=MAKEFILE)

    ran = stack.inside("--json", "run", "check-and-fix", "-w", str(folder))

    assert ran.code == 0, ran.out + ran.err
    assert (folder / "value.txt").read_text() == "right\n"
    assert (ran.json["status"], ran.json["model"], ran.json["tokens"]) == ("completed", "", 0)
    assert ran.json["files"] == ["value.txt"]
    shown = stack.inside("--json", "show", ran.json["run_id"]).json
    assert "value.txt" in shown["changed"]
    assert "make format | ok" in ran.json["answer"]
    assert (folder / "runs.log").read_text() == "ran\nran\n"
    assert "make test: a target of the Makefile" in ran.err
    assert "make format: a target of the Makefile" in ran.err
    assert not (stack.home / "worktrees" / ran.json["run_id"]).exists()


def test_what_no_fixer_mends_stays_red_and_says_so(stack: LiveStack) -> None:
    folder = repository(stack.files / "red")
    declare(folder, CHECK, "true")

    ran = stack.inside("--json", "run", "check-and-fix", "-w", str(folder))

    assert (ran.code, ran.json["status"]) == (1, "failed")
    assert ran.error["code"] == "checks_failed"
    assert "exit status 1" in ran.error["message"]
    assert ran.json["files"] == []


def test_what_passes_needs_no_fixer(stack: LiveStack) -> None:
    folder = repository(stack.files / "green", value__txt="right\n", Makefile=MAKEFILE)

    ran = stack.inside("run", "check-and-fix", "-w", str(folder))

    assert ran.code == 0, ran.out + ran.err
    assert "not needed" in ran.out
    assert re.search(r"^changed +nothing$", ran.out, re.MULTILINE)
    assert "the model" not in ran.out
    assert git(folder, "status", "--porcelain") == ""


def test_a_workspace_without_checks_is_refused_before_anything_runs(stack: LiveStack) -> None:
    folder = stack.workspace("no-checks", notes__txt="hello\n")

    ran = stack.inside("--json", "run", "check-and-fix", "-w", str(folder))

    assert (ran.code, ran.error["code"]) == (3, "checks_not_found")
    assert ".legato/workspace.toml" in ran.error["next"]


def test_commands_are_given_the_variables_that_the_workspace_names(stack: LiveStack) -> None:
    folder = repository(stack.files / "variables")
    declare(folder, 'test -n \\"$PYTHONPATH\\"', "true")
    with (folder / ".legato/workspace.toml").open("a", encoding="utf-8") as file:
        file.write('[environment]\nnames = ["PYTHONPATH"]\n')

    ran = stack.inside("--json", "run", "check-and-fix", "-w", str(folder))

    assert ran.code == 0, ran.out + ran.err
