"""One call folder, one execution: commands run, end, are stopped, adopted and told apart."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from activities.tools import commands, runner
from activities.tools.commands import EndedBy, run_command
from activities.tools.confine import Level
from domain.errors import LegatoError
from tests.support.commands import (
    command_in,
    eventually,
    folder_in,
    offered,
    processes_with,
    run_text,
)

_ROOT = Path(__file__).parents[2]
_STARTER = """
import json, sys, threading
from pathlib import Path
from activities.tools.commands import run_command
from tests.support.commands import command_in, folder_in
place = Path(sys.argv[1])
run_command(command_in(place, sys.argv[2]), folder_in(place), threading.Event())
"""


def _starter(place: Path, text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _STARTER, str(place), text], cwd=_ROOT)


def _runner_pid(folder: str) -> int:
    began = Path(folder, runner.BEGUN)
    eventually(began.exists, "the command begins")
    return int(json.loads(began.read_text())["pid"])


def test_a_command_tells_its_exit_code_and_both_streams_in_order(tmp_path: Path) -> None:
    end, output = run_text(
        command_in(tmp_path, "echo one; echo two >&2; echo three; exit 3"), folder_in(tmp_path)
    )
    assert (end.exit_code, end.signal, end.ended_by) == (3, None, EndedBy.EXIT)
    assert output == "one\ntwo\nthree\n"
    assert end.output_bytes == len(output)


def test_a_command_ended_by_a_signal_tells_which(tmp_path: Path) -> None:
    end, _ = run_text(command_in(tmp_path, "kill -9 $$"), folder_in(tmp_path))
    assert (end.exit_code, end.signal) == (137, 9)


@pytest.mark.parametrize("level", list(Level))
def test_a_program_that_does_not_exist_is_127(tmp_path: Path, level: Level) -> None:
    if not offered(level):
        pytest.skip(f"confinement level {level} is not offered here")
    command = command_in(tmp_path, "", level=level)
    missing = replace(command, argv=("no-such-program", "x"))
    end, output = run_text(missing, folder_in(tmp_path))
    assert end.exit_code == 127
    assert "no-such-program" in output


def test_a_folder_with_a_space_works(tmp_path: Path) -> None:
    place = tmp_path / "a place"
    end, output = run_text(command_in(place, "pwd"), folder_in(place))
    assert (end.exit_code, output.strip()) == (0, str(place / "workspace"))


def test_a_second_call_with_the_same_folder_returns_the_first_end(tmp_path: Path) -> None:
    command = command_in(tmp_path, "echo x >> count; echo done")
    first = run_text(command, folder_in(tmp_path))
    assert run_text(command, folder_in(tmp_path)) == first
    assert (tmp_path / "workspace" / "count").read_text() == "x\n"


def test_callers_at_once_share_one_execution(tmp_path: Path) -> None:
    command = command_in(tmp_path, "echo x >> count; sleep 0.3")
    with ThreadPoolExecutor(6) as callers:
        ends = [
            begun.result()[0]
            for begun in [callers.submit(run_text, command, folder_in(tmp_path)) for _ in range(6)]
        ]
    assert len(set(ends)) == 1
    assert (tmp_path / "workspace" / "count").read_text() == "x\n"


def test_a_command_survives_the_kill_of_its_starter_and_is_adopted(tmp_path: Path) -> None:
    text = "echo x >> count; echo before; while ! test -e go; do sleep 0.05; done; echo after"
    starter = _starter(tmp_path, text)
    counter = tmp_path / "workspace" / "count"
    eventually(counter.exists, "the command runs")
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    folder = folder_in(tmp_path)
    assert commands.find_command(folder) == commands.Running()
    adopter = _starter(tmp_path, text)
    (tmp_path / "workspace" / "go").touch()
    assert adopter.wait(20) == 0
    found = commands.find_command(folder)
    assert isinstance(found, commands.Ended)
    assert commands.read_output(found.end) == b"before\nafter\n"
    assert counter.read_text() == "x\n"


@pytest.mark.parametrize("pause", [0.0, 0.02, 0.06, 0.12])
def test_a_kill_at_any_moment_of_the_start_leaves_one_execution(
    tmp_path: Path, pause: float
) -> None:
    starter = _starter(tmp_path, "echo x >> count")
    eventually(Path(folder_in(tmp_path)).exists, "the starter makes the call folder")
    time.sleep(pause)  # the moment is the parameter, not a synchronisation
    starter.kill()
    starter.wait()
    before = commands.find_command(folder_in(tmp_path))
    if isinstance(before, commands.NeverBegun):
        assert not (tmp_path / "workspace" / "count").exists()
    end, _ = run_text(command_in(tmp_path, "echo x >> count"), folder_in(tmp_path))
    assert end.exit_code == 0
    assert (tmp_path / "workspace" / "count").read_text() == "x\n"


def test_a_folder_without_a_begin_is_never_begun(tmp_path: Path) -> None:
    assert commands.find_command(str(tmp_path / "nowhere")) == commands.NeverBegun()
    (tmp_path / runner.SPEC).write_text("{}")
    (tmp_path / runner.ALIVE).touch()
    assert commands.find_command(str(tmp_path)) == commands.NeverBegun()


@pytest.mark.parametrize("pause", [0.0, 0.05])
@pytest.mark.parametrize("level", list(Level))
def test_a_killed_runner_takes_its_command_along_which_is_lost_and_not_run_again(
    tmp_path: Path, level: Level, pause: float
) -> None:
    if not offered(level):
        pytest.skip(f"confinement level {level} is not offered here")
    mark = f"mark-{os.getpid()}-{level}-{pause}-lost"
    text = f"echo x >> count; setsid sh -c 'sleep 300; : {mark}' & sleep 300; : {mark}"
    command, folder = command_in(tmp_path, text, level=level), folder_in(tmp_path)
    with ThreadPoolExecutor(1) as caller:
        running = caller.submit(run_text, command, folder)
        pid = _runner_pid(folder)
        time.sleep(pause)  # the moment is the parameter, not a synchronisation
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(LegatoError) as caught:
            running.result(20)
    assert caught.value.code == "command_lost"
    assert processes_with(mark) == []
    assert isinstance(commands.find_command(folder), commands.Lost)
    with pytest.raises(LegatoError):
        run_text(command, folder)
    count = tmp_path / "workspace" / "count"
    assert not count.exists() or count.read_text() == "x\n"


def test_everything_wrong_with_a_command_is_said_at_once(tmp_path: Path) -> None:
    command = command_in(tmp_path, "true")
    wrong = replace(command, argv=("a\0b",), cwd=str(tmp_path / "nowhere"), limit=0.0)
    with pytest.raises(LegatoError) as caught:
        run_command(wrong, folder_in(tmp_path), threading.Event())
    assert caught.value.code == "command_invalid"
    assert caught.value.message.count(";") == 2


def test_only_declared_names_reach_the_command_and_no_value_reaches_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROVIDER_API_KEY", "canary-of-the-worker")
    declared = {"DECLARED": "canary-of-the-call", "PATH": os.environ["PATH"]}
    command = command_in(tmp_path, "cat /proc/self/environ", environment=declared)
    _, output = run_text(command, folder_in(tmp_path))
    names = {entry.partition("=")[0] for entry in output.split("\0") if entry}
    own = {"PATH", "HOME", "TMPDIR", "LANG", "TZ", "PYTHONDONTWRITEBYTECODE", "DECLARED"}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == own
    assert "canary-of-the-worker" not in output
    (Path(folder_in(tmp_path)) / runner.OUTPUT).unlink()
    kept = b"".join(file.read_bytes() for file in Path(folder_in(tmp_path)).iterdir())
    assert b"canary" not in kept


def test_the_private_tmp_is_gone_after_the_command(tmp_path: Path) -> None:
    _, output = run_text(
        command_in(tmp_path, 'touch "$TMPDIR/x" "$HOME/y"; echo "$TMPDIR"'), folder_in(tmp_path)
    )
    assert Path(output.strip()).is_absolute()
    assert not Path(output.strip()).exists()
