"""The embedded stack in other places and as other users."""

from __future__ import annotations

import asyncio
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pytest

from legato.embedded.parts import CODE_ROOT
from legato.embedded.postgres_user import system_data
from legato.embedded.processes import having_arguments
from tests.support.embedded_stack import (
    bring_up,
    ended_after,
    process_of,
    remember,
    remembered,
    state_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_UP_AND_DOWN = """
import asyncio, json, os, sys
from pathlib import Path
from legato.embedded import down, ensure_up, read_state
from legato.embedded.processes import is_alive
from legato.settings import load_settings
from legato.embedded.postgres_user import system_data
from tests.support.embedded_stack import remember, remembered
settings = load_settings({"LEGATO_HOME": sys.argv[1]})
async def main():
    stack = await ensure_up(settings, progress=lambda _: None, with_worker=False)
    await remember(stack.database_url, "kept")
    killed = read_state(settings)
    os.kill(killed.supervisor.pid, 9)
    stack = await ensure_up(settings, progress=lambda _: None, with_worker=False)
    rows = await remembered(stack.database_url)
    state = read_state(settings)
    status = Path(f"/proc/{state.part('postgres').process.pid}/status").read_text()
    uid = next(line.split()[1] for line in status.splitlines() if line.startswith("Uid:"))
    gone = not any(is_alive(part.process) for part in killed.parts)
    print(json.dumps({"rows": rows, "uid": int(uid), "gone": gone, "down": await down(settings)}))
asyncio.run(main())
sys.stdout.flush()
os._exit(0)
"""


async def _keeps_a_row(home: Path) -> bool:
    stack = await bring_up(home)
    await remember(stack.database_url, home.name)
    return await remembered(stack.database_url) == [home.name]


async def test_two_homes_run_side_by_side(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    try:
        assert all(await asyncio.gather(_keeps_a_row(first), _keeps_a_row(second)))
        assert process_of(first, "postgres") != process_of(second, "postgres")
        assert state_of(first).temporal_address != state_of(second).temporal_address
    finally:
        await asyncio.to_thread(_end, first, second)


async def test_a_path_with_spaces_that_is_too_long_for_a_socket_serves(tmp_path: Path) -> None:
    home = tmp_path / ("a folder with spaces and a very long name " * 4).strip() / "ünïcode home"
    assert len(str(home)) > 150
    try:
        assert await _keeps_a_row(home)
        database = str(home / "temporal.db")
        assert having_arguments("--db-filename", database) == (process_of(home, "temporal"),)
    finally:
        await asyncio.to_thread(_end, home)


def _end(*homes: Path) -> None:
    with ended_after(*homes):
        pass


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, for the home of another user."""
    folder = Path(tempfile.mkdtemp(prefix="legato-test-"))
    folder.chmod(0o777)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(system_data(folder / "home"), ignore_errors=True)


_IN_NAMESPACE = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'


def _as_nobody(command: list[str]) -> subprocess.Popen[str]:
    nobody = pwd.getpwnam("nobody")
    become = ("setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups")
    return _started([*become, *command])


def _as_root_without_namespaces(command: list[str]) -> subprocess.Popen[str]:
    """Start a command as the root of a namespace in which no further one can be made."""
    again = ("sh", "-c", _IN_NAMESPACE, "sh")  # a new program, for the rights of the mapped root
    process = _started(
        ["unshare", "--user", "sh", "-c", 'echo; read go; exec "$@"', "sh", *again, *command]
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.readline()
    for name in ("uid_map", "gid_map"):
        Path(f"/proc/{process.pid}/{name}").write_text("0 0 65536\n", encoding="ascii")
    process.stdin.write("go\n")
    return process


def _started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


_Start: TypeAlias = Callable[[list[str]], "subprocess.Popen[str]"]


def _interpreter_behind(start: _Start, home: Path) -> list[str]:
    """Find an interpreter with our packages that this user can run; skip where none."""
    site = next(path for path in sys.path if path.endswith("site-packages"))
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{version}", f"/usr/local/bin/{version}"):
        command = ["env", f"HOME={home}", f"PYTHONPATH={CODE_ROOT}:{site}", python]
        with start([*command, "-c", "import asyncpg, psutil, tests.support"]) as tried:
            tried.communicate(timeout=30)
        if tried.returncode == 0:
            return command
    pytest.skip("no interpreter that this user can run reads our packages")


def _outcome(start: _Start, home: Path) -> dict[str, object]:
    command = [*_interpreter_behind(start, home), "-c", _UP_AND_DOWN, str(home)]
    with start(command) as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    outcome: dict[str, object] = json.loads(output)
    return outcome


_ONLY_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.mark.slow
@_ONLY_ROOT
def test_an_ordinary_user_runs_the_stack_too(open_folder: Path) -> None:
    outcome = _outcome(_as_nobody, open_folder / "home")
    uid = pwd.getpwnam("nobody").pw_uid
    assert outcome == {"rows": ["kept"], "uid": uid, "gone": True, "down": True}


@pytest.mark.slow
@_ONLY_ROOT
def test_root_without_user_namespaces_runs_postgres_as_nobody(open_folder: Path) -> None:
    outcome = _outcome(_as_root_without_namespaces, open_folder / "home")
    uid = pwd.getpwnam("nobody").pw_uid
    assert outcome == {"rows": ["kept"], "uid": uid, "gone": True, "down": True}
