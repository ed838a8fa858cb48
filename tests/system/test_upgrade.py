"""Another build while runs wait: one that cannot replay them is refused before it works."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.embedded_stack import ended_after
from tests.support.stack import ROOT, call_program, clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.stack import Result

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

CODE = ("domain", "ledger", "workflows", "activities", "workers", "legato")
NEXT = '        """Do the one next thing; a stop turns to the end instead."""\n'
ASK = 'steps: [{calls: [{tool: ask_human, arguments: {question: "Which?"}}]}, {text: thanks}]'


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    home = tmp_path / "home"
    with ended_after(home):
        yield home


def build(tree: Path, file: str, old: str, new: str) -> Path:
    """Copy the whole code, and change one place of one file in the copy."""
    for folder in CODE:
        shutil.copytree(ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    text = (tree / file).read_text()
    assert old in text
    (tree / file).write_text(text.replace(old, new, 1))
    return tree


def legato(home: Path, tree: Path, *arguments: str) -> Result:
    """Run a build's program on a home."""
    variables = clean_environment(home) | {"PYTHONPATH": str(tree)}
    return call_program(variables, "--json", *arguments, cwd=tree, limit=120)


def shown(home: Path, run_id: str) -> object:
    return legato(home, ROOT, "show", run_id).json["status"]


def test_a_build_that_orders_commands_differently_is_refused_and_one_that_does_not_goes_on(
    home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "ask.yaml"
    script.write_text(ASK)
    began = legato(home, ROOT, "run", "generic", "ask", "-m", f"script:{script}")
    assert (began.code, began.json["status"]) == (5, "waiting"), began.out + began.err
    run_id = began.json["run_id"]
    legato(home, ROOT, "down")
    once_more = f"{NEXT}        await calls.look(LookInput(self._run))\n"
    other = build(tmp_path / "other", "workflows/agent_run.py", NEXT, once_more)
    same = build(tmp_path / "same", "domain/words.py", "\n", "\n# Nothing that a run could see.\n")

    refused = legato(home, other, "up")

    assert (refused.code, refused.error["code"]) == (3, "build_cannot_replay"), refused.out
    assert refused.error["details"]["runs"] == [run_id]
    assert run_id in refused.error["message"]
    assert "ondeterminism" in refused.error["cause"]
    assert "up --force`" in refused.error["next"]
    status = legato(home, other, "status").json
    assert (status["status"], status["reason"]["code"]) == ("failed", "build_cannot_replay")

    let_in = legato(home, same, "up")
    assert let_in.code == 0, let_in.out + let_in.err
    assert (let_in.json["tried"]["replayed"], let_in.json["tried"]["left"]) == (1, [])
    assert "replaying the open runs by this build" in let_in.err
    assert legato(home, same, "answer", run_id, "this one").code == 0
    followed = legato(home, same, "log", run_id, "--follow")
    assert '"run.ended"' in followed.out
    assert legato(home, same, "show", run_id).json["status"] == "completed"


def test_a_build_that_is_forced_in_works_and_the_runs_that_it_cannot_replay_stand_still(
    home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "ask.yaml"
    script.write_text(ASK)
    began = legato(home, ROOT, "run", "generic", "ask", "-m", f"script:{script}")
    run_id = began.json["run_id"]
    drained = legato(home, ROOT, "drain")
    assert drained.code == 0, drained.out
    legato(home, ROOT, "down")
    once_more = f"{NEXT}        await calls.look(LookInput(self._run))\n"
    other = build(tmp_path / "other", "workflows/agent_run.py", NEXT, once_more)

    assert legato(home, other, "up").error["code"] == "build_cannot_replay"
    assert (home / "drained").exists()
    forced = legato(home, other, "up", "--force")
    new = tmp_path / "new.yaml"
    new.write_text("steps: [{text: done}]")
    ran = legato(home, other, "run", "generic", "go", "-m", f"script:{new}")
    answered = legato(home, other, "answer", run_id, "this one")

    assert (forced.code, forced.json["drained"]) == (0, ""), forced.out
    assert (ran.code, ran.json["status"]) == (0, "completed"), ran.out + ran.err
    assert answered.code == 0
    assert legato(home, other, "show", run_id).json["ended_at"] == ""
    replayed = legato(home, other, "replay", run_id)
    assert (replayed.code, replayed.json["histories"][0]["ok"]) == (1, False)
    legato(home, other, "down")

    back = legato(home, ROOT, "up")
    assert back.code == 0, back.out
    followed = legato(home, ROOT, "log", run_id, "--follow")
    assert '"run.ended"' in followed.out
    assert shown(home, run_id) == "completed"
