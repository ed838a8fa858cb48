"""What is said of runs whose home has no worker, and the files by which a home is drained."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from domain.runs.home import absent, needs_home, status_at_home
from domain.runs.run import OPEN, TERMINAL, Status
from legato.build import Tried, is_tried, last_tried, remember, this_build
from legato.drained import drain, drained_since, is_worked_for, undrain, working

if TYPE_CHECKING:
    from pathlib import Path

    from domain.runs.home import Place

WORKS = """
import sys, time, pathlib
from legato.drained import working
with working(pathlib.Path(sys.argv[1])):
    print('works', flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("status", sorted(Status))
def test_an_open_run_needs_its_home_and_an_ended_one_does_not(status: Status) -> None:
    assert needs_home(status.value, "") is (status in OPEN)
    assert {True, False} == {one in TERMINAL for one in Status}


def test_a_run_in_line_needs_no_worker_yet() -> None:
    assert not needs_home("queued", "slot")
    assert needs_home("queued", None)


@pytest.mark.parametrize(
    ("status", "waiting_on", "said"),
    [
        ("running", "", ("waiting", "home")),
        ("queued", "", ("waiting", "home")),
        ("stopping", "", ("stopping", "home")),
        ("waiting", "input", ("waiting", "input, home")),
    ],
)
def test_a_run_without_its_home_waits_for_it_beside_what_it_waits_for_anyway(
    status: str, waiting_on: str, said: tuple[str, str]
) -> None:
    assert status_at_home(status, waiting_on) == said


@pytest.mark.parametrize(
    ("place", "step"),
    [
        ("embedded", "logs/worker.log"),
        ("own", "`legato-worker` here"),
        ("elsewhere", "LEGATO_HOST is far"),
    ],
)
def test_an_absent_home_is_told_with_what_to_do_where_it_is(place: Place, step: str) -> None:
    told = absent("home/far", ["one", "two"], place=place, drained="")

    assert (told.code, told.runs) == ("home_absent", ("one", "two"))
    assert step in told.next


def test_a_drained_home_is_told_with_since_when_and_the_way_back() -> None:
    told = absent("home/far", ["one"], place="own", drained="2030-01-01T00:00:00+00:00")

    assert told.code == "home_drained"
    assert "2030-01-01" in told.cause
    assert "`legato up`" in told.next


def test_draining_twice_keeps_since_when_and_up_ends_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert drained_since(home) == ""
    since = drain(home)

    assert drain(home) == since == drained_since(home)
    assert [one.name for one in home.iterdir()] == ["drained"]
    assert (undrain(home), undrain(home), drained_since(home)) == (True, False, "")


def test_a_damaged_mark_still_drains(tmp_path: Path) -> None:
    (tmp_path / "drained").write_text("{")

    assert drained_since(tmp_path) == "an unknown time"


def test_whoever_works_for_a_home_is_seen_and_not_seen_once_it_is_gone(tmp_path: Path) -> None:
    assert not is_worked_for(tmp_path)
    with working(tmp_path), working(tmp_path):
        assert is_worked_for(tmp_path)
    assert not is_worked_for(tmp_path)


def test_a_killed_worker_works_no_more(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WORKS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "works\n"
        assert is_worked_for(tmp_path)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait(10)
    assert not is_worked_for(tmp_path)


def test_a_home_remembers_which_build_proved_itself(tmp_path: Path) -> None:
    assert last_tried(tmp_path) is None
    assert not is_tried(tmp_path)
    remember(tmp_path, Tried("another"))
    assert not is_tried(tmp_path)
    tried = Tried(this_build(), 3, ("left",))
    remember(tmp_path, tried)

    assert last_tried(tmp_path) == tried
    assert is_tried(tmp_path)


def test_a_damaged_memory_of_builds_is_none(tmp_path: Path) -> None:
    (tmp_path / "build.json").write_text('{"build": "x"}')

    assert last_tried(tmp_path) is None


@pytest.mark.parametrize("text", ["[" * 100_000, '{"since": ' + "9" * 5000 + "}", "[]", ""])
def test_a_mark_that_cannot_be_read_still_says_that_the_home_is_drained(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "drained").write_text(text)

    assert drained_since(tmp_path) == "an unknown time"
