"""Temporal or the ledger put back to an older copy: runs go on or are said, nothing is repeated."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.stack import call_program, calls, live_stack, text, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.stack import LiveStack, Result

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE = 120.0


@pytest.fixture
def home(tmp_path: Path) -> Iterator[LiveStack]:
    """A stack of its own, whose reconcilers look at runs that are quiet for two seconds."""
    files = tmp_path / "files"
    files.mkdir()
    with live_stack(tmp_path / "home", files, LEGATO_GRACE="2") as stack:
        yield stack


def legato(stack: LiveStack, *arguments: str) -> Result:
    return call_program(stack.environment, "--json", *arguments, limit=120)


def started(stack: LiveStack, name: str) -> str:
    """Begin a run that asks two questions, and wait until it waits for the first answer."""
    model = stack.script(
        name,
        calls(("ask_human", {"question": "Which colour?"})),
        calls(("ask_human", {"question": "Which size?"})),
        text("done"),
    )
    ran = legato(stack, "run", "generic", "ask", "-m", model)
    assert (ran.code, ran.json["status"]) == (5, "waiting")
    return str(ran.json["run_id"])


def shown(stack: LiveStack, run_id: str) -> dict[str, Any]:
    return legato(stack, "show", run_id).json


def asks(stack: LiveStack, run_id: str, input_id: str) -> bool:
    return [one["input_id"] for one in shown(stack, run_id)["open_questions"]] == [input_id]


def answer(stack: LiveStack, run_id: str, input_id: str) -> None:
    assert legato(stack, "answer", run_id, input_id, "so").code == 0


def becomes(stack: LiveStack, run_id: str, status: str) -> bool:
    return until(lambda: shown(stack, run_id)["status"] == status, seconds=PATIENCE)


def copied(source: Path, target: Path) -> None:
    """Put a folder or the files of a database in the place of what is there."""
    if source.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)
        return
    for end in ("", "-wal", "-shm"):
        old = target.with_name(target.name + end)
        old.unlink(missing_ok=True)
        if source.with_name(source.name + end).exists():
            shutil.copy2(source.with_name(source.name + end), old)


def swapped(stack: LiveStack, source: Path | None, target: Path, keep: Path | None = None) -> None:
    """Stop the stack, keep what is there, put something else in its place, and start again."""
    assert legato(stack, "down").code == 0
    if keep is not None:
        copied(target, keep)
    if source is not None:
        copied(source, target)
    assert legato(stack, "up").code == 0


def types(stack: LiveStack, run_id: str) -> list[str]:
    out = legato(stack, "log", run_id, "--raw").json["events"]
    return [str(event["type"]) for event in out]


def all_once(stack: LiveStack, run_id: str, links: int) -> None:
    """Each answer of the model and each question is there once."""
    found = types(stack, run_id)
    assert found.count("model.responded") == 3
    assert found.count("input.asked") == 2
    assert found.count("run.attached") == links
    assert found.count("run.ended") == 1


def test_runs_go_on_where_temporal_is_an_older_copy_or_empty(
    home: LiveStack, tmp_path: Path
) -> None:
    database, older = home.home / "temporal.db", tmp_path / "older.db"
    known = started(home, "known")
    swapped(home, None, database, keep=older)
    answer(home, known, "ask-1.1.0")
    assert until(lambda: asks(home, known, "ask-1.2.0"), seconds=PATIENCE)
    unknown = started(home, "unknown")

    swapped(home, older, database)
    answer(home, known, "ask-1.2.0")
    answer(home, unknown, "ask-1.1.0")
    assert becomes(home, known, "completed")
    assert until(lambda: asks(home, unknown, "ask-1.2.0"), seconds=PATIENCE)
    assert legato(home, "down").code == 0
    for file in home.home.glob("temporal.db*"):
        file.unlink()
    assert legato(home, "up").code == 0
    answer(home, unknown, "ask-1.2.0")

    assert becomes(home, unknown, "completed")
    all_once(home, known, 1)
    all_once(home, unknown, 3)


def test_a_run_of_which_temporal_saw_more_than_the_ledger_holds_is_said_and_not_written_over(
    home: LiveStack, tmp_path: Path
) -> None:
    database, older, newer = home.home / "postgres", tmp_path / "older", tmp_path / "newer"
    run_id = started(home, "run")
    swapped(home, None, database, keep=older)
    answer(home, run_id, "ask-1.1.0")
    assert until(lambda: asks(home, run_id, "ask-1.2.0"), seconds=PATIENCE)
    ended = started(home, "ended")
    assert legato(home, "stop", ended).code == 0
    assert becomes(home, ended, "stopped")

    swapped(home, older, database, keep=newer)
    assert until(lambda: shown(home, run_id)["stuck"] == "ledger_behind", seconds=PATIENCE)
    behind = legato(home, "doctor").json["checks"]
    verified = legato(home, "ledger", "verify")

    assert "fail" in [one["grade"] for one in behind if one["name"] == f"run {run_id}"]
    assert verified.code == 1
    said = {one["stream"]: one["what"] for one in verified.json["problems"]}
    assert "which the ledger does not hold" in said[f"run/{run_id}"]
    assert "of which the ledger holds no run" in said["temporal"]
    assert types(home, run_id).count("model.responded") == 1

    swapped(home, newer, database)
    answer(home, run_id, "ask-1.2.0")
    assert becomes(home, run_id, "completed")
    assert shown(home, run_id)["stuck"] == ""
    all_once(home, run_id, 1)


def test_a_run_that_the_ledger_has_forgotten_half_can_be_stopped(
    home: LiveStack, tmp_path: Path
) -> None:
    database, older = home.home / "postgres", tmp_path / "older"
    run_id = started(home, "run")
    swapped(home, None, database, keep=older)
    answer(home, run_id, "ask-1.1.0")
    assert until(lambda: asks(home, run_id, "ask-1.2.0"), seconds=PATIENCE)

    swapped(home, older, database)
    assert until(lambda: shown(home, run_id)["stuck"] == "ledger_behind", seconds=PATIENCE)
    assert legato(home, "stop", run_id).code == 0

    assert becomes(home, run_id, "stopped")
