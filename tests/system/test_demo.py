"""The demo from an empty home: two kills, nothing lost, everything left to be looked at."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from legato.demo.repository import lay_down
from tests.support.repositories import git
from tests.support.stack import call_program, clean_environment

if TYPE_CHECKING:
    from pathlib import Path

KILL = re.compile(r"KILL -9 at \d\d:\d\d:\d\d UTC: worker (\d+), (inside a .*|inside the .*)")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_demo_survives_two_kills_and_leaves_its_run_to_be_looked_at(tmp_path: Path) -> None:
    variables = clean_environment(tmp_path / "empty home")
    try:
        demo = call_program(variables, "demo", limit=240)
        runs = call_program(variables, "--json", "runs")
        verified = call_program(variables, "--json", "ledger", "verify")
    finally:
        down = call_program(variables, "--json", "down", limit=90)

    assert demo.code == 0, demo.out + demo.err
    assert [where for _, where in KILL.findall(demo.out)] == [
        "inside a model call",
        "inside the test command",
    ]
    assert len({pid for pid, _ in KILL.findall(demo.out)}) == 2
    assert demo.out.count("the run goes on where it was") == 2
    for said in ("no model", "everything held", "completed (done, by system)", "0 questions"):
        assert said in demo.out
    assert re.search(r"http://127\.0\.0\.1:\d+/namespaces/legato/workflows/run%2F", demo.out)
    (row,) = runs.json["runs"]
    assert (row["status"], row["cost"]) == ("completed", "0")
    assert f"legato show {row['run_id']}" in demo.out
    assert verified.json["ok"] is True
    assert down.code == 0


def test_the_repository_of_the_demo_has_a_real_defect_that_its_tests_tell(tmp_path: Path) -> None:
    folder = tmp_path / "till"
    folder.mkdir()
    lay_down(folder)
    slow = folder / "tests/test_bill.py"
    slow.write_text(slow.read_text().replace("SECONDS = 4", "SECONDS = 0"), encoding="utf-8")

    tests = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True, check=False
    )

    assert git(folder, "log", "--format=%s") == "Split bills, add tips, print receipts"
    assert tests.returncode == 1
    assert "FAILED (failures=1)" in tests.stderr
    assert "test_the_shares_add_up_to_the_total" in tests.stderr
    assert (folder / "test-runs.log").read_text().count("\n") == 1


def test_the_demo_refuses_servers_of_ones_own(tmp_path: Path) -> None:
    variables = clean_environment(tmp_path / "home")
    variables |= {"TEMPORAL_ADDRESS": "127.0.0.1:1", "DATABASE_URL": "postgresql://127.0.0.1:1/x"}

    demo = call_program(variables, "--json", "demo")

    assert demo.code == 3
    assert demo.error["code"] == "demo_needs_embedded"
