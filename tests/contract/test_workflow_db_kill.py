"""Processes that die or collide in the middle of a change leave all of it or nothing."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from activities.tools.workflow_db import WORKFLOW_DB_TOOLS
from domain.ports import Absent, Executed, Unclear
from domain.tools.results import Tag
from tests.support.tool_context import by_name, outcome_of, tool_context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from domain.codec import Json
    from domain.tools.results import Outcome

MUTATE = by_name(WORKFLOW_DB_TOOLS)["mutate_workflow_db"]
ROOT = Path(__file__).resolve().parents[2]
INSERT = (
    "insert into note with recursive c(x) as (select 1 union all select x + 1 from c limit 40000) "
    "select x, hex(randomblob(20)) from c"
)
CREATE: list[Json] = [{"sql": "create table note (x, body)"}]
SLOW: list[Json] = [{"sql": INSERT} for _ in range(12)]
ALL_ROWS = len(SLOW) * 40000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose database holds one empty table."""
    context = tool_context(tmp_path, call_id="setup")
    outcome_of(MUTATE, context, statements=CREATE)
    return tmp_path


def start(folder: Path, call_ids: str, statements: list[Json]) -> subprocess.Popen[bytes]:
    arguments = [str(folder), call_ids, json.dumps(statements)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.support.mutate_process", *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )


def database(folder: Path) -> Path:
    return folder / "home" / "stores" / "workflow.db"


def count(folder: Path) -> int:
    with closing(sqlite3.connect(database(folder), timeout=10)) as connection:
        (rows,) = connection.execute("select count(*) from note").fetchone()
        assert isinstance(rows, int)
        return rows


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def is_writing(folder: Path) -> bool:
    """Tell whether uncommitted pages of the slow call are on their way to the disk."""
    wal = database(folder).with_name("workflow.db-wal")
    return wal.exists() and wal.stat().st_size > 100_000


def probe(folder: Path, call_id: str, limit: float = 20.0) -> object:
    assert MUTATE.probe is not None
    return MUTATE.probe({}, tool_context(folder, call_id=call_id, limit=limit))


def test_a_worker_killed_while_it_writes_leaves_nothing(folder: Path) -> None:
    worker = start(folder, "slow", SLOW)
    until(lambda: is_writing(folder))
    worker.kill()
    worker.communicate()
    assert probe(folder, "slow") == Absent()
    assert count(folder) == 0


def test_a_kill_at_any_moment_leaves_all_or_nothing_and_the_receipt_tells(folder: Path) -> None:
    seen = [killed_after(folder, f"at-{share}", 0.03 * share) for share in range(1, 5)]
    whole = [rows for applied, rows in seen if applied]
    assert [rows for applied, rows in seen if not applied] == [0] * (len(seen) - len(whole))
    assert whole == [8000] * len(whole)


def killed_after(folder: Path, call_id: str, seconds: float) -> tuple[bool, int]:
    """Kill a worker so long after its call began; tell what the receipt says and what is there."""
    before = count(folder)
    worker = start(folder, call_id, [{"sql": INSERT.replace("40000", "2000")}] * 4)
    until((folder / "home" / "calls" / call_id).exists)
    try:
        worker.wait(seconds)
    except subprocess.TimeoutExpired:
        worker.kill()
    worker.communicate()
    probed = probe(folder, call_id)
    return isinstance(probed, Executed), count(folder) - before


@pytest.fixture
def frozen(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker that was stopped in its tracks while the change it asked for goes on."""
    worker = start(folder, "slow", SLOW)
    until(lambda: is_writing(folder))
    worker.send_signal(signal.SIGSTOP)
    yield worker
    worker.kill()
    worker.communicate()


def test_a_probe_waits_for_an_execution_that_outlives_its_worker(
    folder: Path, frozen: subprocess.Popen[bytes]
) -> None:
    assert frozen.poll() is None
    probed = probe(folder, "slow")
    assert isinstance(probed, Executed)
    assert len(json.loads(probed.outcome.text)["statements"]) == 12
    assert count(folder) == ALL_ROWS


def test_a_probe_that_cannot_wait_longer_says_unclear(
    folder: Path, frozen: subprocess.Popen[bytes]
) -> None:
    (child,) = psutil.Process(frozen.pid).children()
    child.suspend()
    assert isinstance(probe(folder, "slow", limit=0.2), Unclear)
    child.kill()
    assert probe(folder, "slow") == Absent()


def in_thread(folder: Path, stop: threading.Event) -> tuple[threading.Thread, list[Outcome]]:
    context = tool_context(folder, call_id="slow", limit=20.0, stop=stop)
    outcomes: list[Outcome] = []
    thread = threading.Thread(
        target=lambda: outcomes.append(outcome_of(MUTATE, context, statements=SLOW))
    )
    thread.start()
    until(lambda: is_writing(folder))
    return thread, outcomes


def test_a_stop_ends_the_change_at_once_and_undoes_it(folder: Path) -> None:
    stop = threading.Event()
    thread, outcomes = in_thread(folder, stop)
    stop.set()
    thread.join(10)
    assert not thread.is_alive()
    assert (outcomes[0].tag, outcomes[0].code) == (Tag.ERROR, "stopped")
    assert count(folder) == 0


def is_sql(process: psutil.Process) -> bool:
    """Tell whether a process is the one that runs SQL; one that has ended is none."""
    try:
        return "activities.tools.sqlite_child" in " ".join(process.cmdline())
    except (psutil.ZombieProcess, psutil.NoSuchProcess):
        return False


def test_a_killed_sql_process_is_an_error_that_changed_nothing(folder: Path) -> None:
    thread, outcomes = in_thread(folder, threading.Event())
    (child,) = [one for one in psutil.Process().children() if is_sql(one)]
    child.kill()
    thread.join(10)
    assert (outcomes[0].tag, outcomes[0].code) == (Tag.ERROR, "sql_crashed")
    assert count(folder) == 0


def test_processes_that_change_a_new_database_at_once_all_land(tmp_path: Path) -> None:
    create: list[Json] = [
        {"sql": "create table if not exists note (x, body)"},
        {"sql": "insert into note values (1, 'x')"},
    ]
    workers = [start(tmp_path, f"{name}-1,{name}-2,{name}-3", create) for name in "abc"]
    answers = [worker.communicate(timeout=30)[0].splitlines() for worker in workers]
    assert [json.loads(line)["tag"] for lines in answers for line in lines] == ["ok"] * 9
    assert count(tmp_path) == 9
