"""A ledger that was dumped and restored on another server: whole, and runs begin on it."""

from __future__ import annotations

import asyncio
import subprocess
from typing import TYPE_CHECKING

import asyncpg
import pytest

from legato.embedded.postgres import find_binaries
from tests.support.embedded_stack import bring_up, ended_after
from tests.support.stack import call_inside, calls, clean_environment, live_stack, text
from tests.system.test_own_cluster import worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.stack import LiveStack

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

ROLES = "create role ledger_owner; create role ledger_append; create role ledger_read"


@pytest.fixture
def old(tmp_path: Path) -> Iterator[LiveStack]:
    """A stack with a past."""
    files = tmp_path / "files"
    files.mkdir()
    with live_stack(tmp_path / "old", files) as stack:
        yield stack


@pytest.fixture
def new(tmp_path: Path) -> Iterator[str]:
    """The address of an empty database on another server."""
    home = tmp_path / "new"
    with ended_after(home):
        yield asyncio.run(bring_up(home)).database_url


def program(name: str, *arguments: str) -> None:
    """Run one of Postgres's own programs, which comes with the server."""
    ran = subprocess.run(
        [find_binaries() / name, *arguments], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_dump_restored_on_another_server_is_whole_and_runs_begin_on_it(
    old: LiveStack, new: str, tmp_path: Path
) -> None:
    folder = old.workspace("before", a__txt="hello\n")
    model = old.script("before", calls(("read_file", {"path": "a.txt"})), text("done"))
    before = old.cli("--json", "run", "generic", "go", "-w", str(folder), "-m", model).json

    dump = str(tmp_path / "ledger.dump")
    program("pg_dump", "--format=custom", f"--file={dump}", old.database_url)
    asyncio.run(execute(new, ROLES))
    program("pg_restore", "--exit-on-error", f"--dbname={new}", dump)

    own = clean_environment(tmp_path / "own") | {
        "TEMPORAL_ADDRESS": old.temporal_address,
        "TEMPORAL_NAMESPACE": "legato",
        "DATABASE_URL": new,
    }
    assert call_inside(own, "--json", "ledger", "restored").code == 0
    verified = call_inside(own, "--json", "ledger", "verify")
    rebuilt = call_inside(own, "--json", "ledger", "rebuild").json
    assert verified.code == 0, verified.out
    assert "error" not in rebuilt, rebuilt
    assert (rebuilt["identical"], rebuilt["events"] > 10) == (True, True)
    with worker(own, tmp_path / "worker.log"):
        after = call_inside(own, "--json", "run", "generic", "again", "-m", model)
    listed = call_inside(own, "--json", "runs").json["runs"]
    assert after.code == 0, after.out + after.err + (tmp_path / "worker.log").read_text()
    assert {row["run_id"] for row in listed} == {before["run_id"], after.json["run_id"]}
    assert call_inside(own, "--json", "ledger", "verify").code == 0


async def execute(url: str, statements: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statements)
    finally:
        await connection.close()
