"""Limits, stops and locks: a command and all it started end in time, and never overlap."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from activities.tools import commands, runner
from activities.tools.commands import EndedBy, find_command, read_output, run_command
from activities.tools.confine import Level
from tests.support.commands import (
    command_in,
    eventually,
    folder_in,
    offered,
    processes_with,
    run_text,
)

_QUIET = 3.0
_ON_A_FULL_DISK = """
import sys
from pathlib import Path
from tests.support.commands import command_in, folder_in, run_text
place = Path(sys.argv[1])
command = command_in(place, "head -c 3000000 /dev/zero; exit 7")
end, output = run_text(command, folder_in(place))
print(end.exit_code, end.output_bytes, 0 < len(output) < 1000000)
"""


@pytest.fixture(params=list(Level))
def level(request: pytest.FixtureRequest) -> Level:
    """Each confinement level that this machine offers."""
    wanted = Level(request.param)
    if not offered(wanted):
        pytest.skip(f"confinement level {wanted} is not offered here")
    return wanted


def _stop_once_running(
    command: commands.Command, place: Path, *, mark: str = "", processes: int = 0
) -> commands.CommandEnd:
    """Run a command, stop it when it has printed `ready`, and hold it to the time for that.

    Until then `processes` of those that bear the `mark` must have come up.
    """
    stop = threading.Event()
    ends: list[commands.CommandEnd] = []
    folder = folder_in(place)
    caller = threading.Thread(
        target=lambda: ends.append(run_command(command, folder, stop)), daemon=True
    )
    caller.start()
    output = Path(folder, runner.OUTPUT)
    eventually(lambda: output.exists() and "ready" in output.read_text(), "the command is ready")
    eventually(lambda: len(processes_with(mark)) >= processes, "its children are up")
    asked = time.monotonic()
    stop.set()
    caller.join(20)
    assert time.monotonic() - asked < _QUIET
    return ends[0]


def test_a_stop_ends_children_that_left_the_session(tmp_path: Path, level: Level) -> None:
    mark = f"mark-{os.getpid()}-{level}-setsid"
    text = (
        f"setsid sh -c 'trap \"\" TERM HUP; sleep 300; : {mark}' & "
        f"(setsid setsid sh -c 'sleep 300; : {mark}' &) ; "
        f"echo ready; sleep 300; : {mark}"
    )
    end = _stop_once_running(
        command_in(tmp_path, text, level=level), tmp_path, mark=mark, processes=3
    )
    assert end.ended_by is EndedBy.STOP
    assert read_output(end) == b"ready\n"
    assert processes_with(mark) == []


def test_a_command_that_ends_leaves_nothing_behind(tmp_path: Path, level: Level) -> None:
    mark = f"mark-{os.getpid()}-{level}-left"
    text = f"setsid sh -c 'sleep 300; : {mark}' & sleep 0.2; echo done"
    started = time.monotonic()
    end, output = run_text(command_in(tmp_path, text, level=level), folder_in(tmp_path))
    assert (end.exit_code, output) == (0, "done\n")
    assert time.monotonic() - started < 10
    assert processes_with(mark) == []


def test_fifty_children_end_with_their_parent(tmp_path: Path, level: Level) -> None:
    mark = f"mark-{os.getpid()}-{level}-fifty"
    text = (
        f'for i in $(seq 50); do setsid sh -c \'trap "" TERM; while :; do sleep 1; done; '
        f": {mark}' & done; echo ready; wait"
    )
    end = _stop_once_running(
        command_in(tmp_path, text, level=level), tmp_path, mark=mark, processes=51
    )
    assert end.ended_by is EndedBy.STOP
    assert processes_with(mark) == []


def test_a_command_is_given_a_moment_to_clean_up(tmp_path: Path, level: Level) -> None:
    text = "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    end = _stop_once_running(command_in(tmp_path, text, level=level), tmp_path)
    assert read_output(end).endswith(b"cleaned\n")


def test_a_hanging_command_ends_at_its_limit(tmp_path: Path, level: Level) -> None:
    text = "trap '' TERM; echo partial; while :; do sleep 0.05; done"
    started = time.monotonic()
    command = command_in(tmp_path, text, limit=0.6, level=level)
    end, output = run_text(command, folder_in(tmp_path))
    assert (end.ended_by, output) == (EndedBy.LIMIT, "partial\n")
    assert time.monotonic() - started < 0.6 + _QUIET


def test_sigterm_to_the_runner_is_a_stop(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    ends: list[commands.CommandEnd] = []
    caller = threading.Thread(
        target=lambda: ends.append(run_text(command_in(tmp_path, "sleep 300"), folder)[0]),
        daemon=True,
    )
    caller.start()
    begun = Path(folder, runner.BEGUN)
    eventually(begun.exists, "the command begins")
    os.kill(int(json.loads(begun.read_text())["pid"]), signal.SIGTERM)
    caller.join(20)
    assert ends[0].ended_by is EndedBy.STOP


def test_a_stop_before_the_start_starts_nothing(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    end = run_command(command_in(tmp_path, "touch ran"), folder_in(tmp_path), stop)
    assert (end.ended_by, end.began, end.exit_code) == (EndedBy.STOP, False, None)
    assert not (tmp_path / "workspace" / "ran").exists()
    assert find_command(folder_in(tmp_path)) == commands.NeverBegun()


def test_twenty_megabytes_of_output_are_kept(tmp_path: Path) -> None:
    end, output = run_text(
        command_in(tmp_path, "head -c 20000000 /dev/zero | tr '\\0' x"), folder_in(tmp_path)
    )
    assert (end.output_bytes, len(output)) == (20_000_000, 20_000_000)


def test_output_over_the_limit_is_counted_and_not_kept(tmp_path: Path) -> None:
    size = commands.OUTPUT_LIMIT + 7_000_000
    end, output = run_text(
        command_in(tmp_path, f"head -c {size} /dev/zero | tr '\\0' x"), folder_in(tmp_path)
    )
    assert (end.exit_code, end.output_bytes, len(output)) == (0, size, commands.OUTPUT_LIMIT)


def test_a_full_disk_costs_output_and_not_the_end(tmp_path: Path) -> None:
    if not offered(Level.NAMESPACES):
        pytest.skip("needs a mount namespace for a small disk")
    mounted = 'mount -t tmpfs -o size=1m tmpfs "$4" && exec "$0" "$@"'
    (tmp_path / "home").mkdir()
    shell = ["/bin/sh", "-c", mounted, sys.executable, "-c", _ON_A_FULL_DISK, str(tmp_path)]
    done = subprocess.run(
        [
            "/usr/bin/unshare",
            "--user",
            "--map-root-user",
            "--mount",
            *shell,
            str(tmp_path / "home"),
        ],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert done.stdout == "7 3000000 True\n", done.stderr


def test_two_writing_commands_of_one_workspace_do_not_overlap(tmp_path: Path) -> None:
    text = "test -e busy && echo overlap; touch busy; sleep 0.3; rm busy"
    command = command_in(tmp_path, text)
    with ThreadPoolExecutor(3) as callers:
        begun = [
            callers.submit(run_text, command, folder_in(tmp_path, call)) for call in ("1", "2", "3")
        ]
    assert [run.result()[1] for run in begun] == ["", "", ""]


def test_reading_commands_of_one_workspace_run_together(tmp_path: Path) -> None:
    text = 'touch "$MEETING/$NAME"; while ! test -e "$MEETING/$OTHER"; do sleep 0.05; done'
    meeting = str(tmp_path)
    with ThreadPoolExecutor(2) as callers:
        begun = [
            callers.submit(
                run_text,
                command_in(
                    tmp_path,
                    text,
                    writable=False,
                    environment={"MEETING": meeting, "NAME": name, "OTHER": other},
                ),
                folder_in(tmp_path, name),
            )
            for name, other in (("a", "b"), ("b", "a"))
        ]
    assert [run.result()[0].exit_code for run in begun] == [0, 0]


def test_a_busy_workspace_is_waited_for_to_the_limit_and_the_command_is_not_begun(
    tmp_path: Path,
) -> None:
    stop = threading.Event()
    holder = threading.Thread(
        target=lambda: run_command(
            command_in(tmp_path, "sleep 300"), folder_in(tmp_path, "holder"), stop
        ),
        daemon=True,
    )
    holder.start()
    begun = Path(folder_in(tmp_path, "holder"), runner.BEGUN)
    eventually(begun.exists, "the first command begins")
    end, _ = run_text(command_in(tmp_path, "touch ran", limit=0.5), folder_in(tmp_path, "late"))
    stop.set()
    holder.join(20)
    assert (end.ended_by, end.began) == (EndedBy.LIMIT, False)
    assert not (tmp_path / "workspace" / "ran").exists()
