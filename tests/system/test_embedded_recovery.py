"""What was left by a kill, a crash or a stranger is found and mended by the next command."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from legato.embedded import Status, down, stack_status
from legato.embedded.lock import is_locked
from legato.embedded.loopback import port_of
from legato.embedded.ports import free_port
from legato.embedded.processes import ProcessId, having_arguments, identify, is_alive
from legato.embedded.state import PartState, StackState, write_state
from legato.embedded.temporal import find_binary
from tests.support.embedded_stack import (
    all_gone,
    bring_up,
    client,
    ended_after,
    kill,
    process_of,
    remember,
    remembered,
    settings_of,
    state_of,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    home = tmp_path / "home"
    with ended_after(home):
        yield home


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that was up once, to be copied: making its data takes longest."""
    home = tmp_path_factory.mktemp("stopped") / "home"
    with ended_after(home):
        asyncio.run(bring_up(home))
        asyncio.run(down(settings_of(home)))
    return home


@pytest.fixture
def used(home: Path, stopped: Path) -> Path:
    """A home that was up before, on ports that are nobody's now."""
    shutil.copytree(stopped, home, symlinks=True)
    return home


@pytest.fixture
def foreign_server(home: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Temporal server on the home's file that no state file knows of."""
    home.mkdir()
    command = [
        str(find_binary()),
        "server",
        "start-dev",
        "--headless",
        "--port",
        str(free_port(None)),
    ]
    with subprocess.Popen([*command, "--db-filename", str(home / "temporal.db")]) as process:
        yield process
        process.kill()


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A live process that is none of ours."""
    with subprocess.Popen(["sleep", "600"]) as process:
        yield process
        process.kill()


async def test_down_ends_every_process_and_the_next_up_finds_the_data(used: Path) -> None:
    stack = await bring_up(used)
    await remember(stack.database_url, "kept")
    state = state_of(used)
    assert await down(settings_of(used))
    assert all_gone(state.supervisor, *(part.process for part in state.parts))()
    assert (await stack_status(settings_of(used))).status is Status.STOPPED
    assert not await down(settings_of(used))
    again = await bring_up(used)
    assert await remembered(again.database_url) == ["kept"]
    assert again == stack


async def test_the_parts_die_with_a_killed_supervisor_and_the_next_up_has_the_data(
    used: Path,
) -> None:
    stack = await bring_up(used)
    await remember(stack.database_url, "kept")
    state = state_of(used)
    kill(state.supervisor)
    assert await until(all_gone(*(part.process for part in state.parts)))
    status = await stack_status(settings_of(used))
    assert status.status is Status.FAILED
    assert status.reason is not None
    assert status.reason.code == "supervisor_gone"
    again = await bring_up(used)
    assert await remembered(again.database_url) == ["kept"]
    assert state_of(used).supervisor != state.supervisor


async def test_a_server_left_on_the_temporal_file_is_ended_before_another_starts(
    home: Path, foreign_server: subprocess.Popen[bytes]
) -> None:
    database = home / "temporal.db"
    assert await until(database.exists)
    await bring_up(home)
    assert await until(lambda: foreign_server.poll() is not None)
    assert having_arguments("--db-filename", str(database)) == (process_of(home, "temporal"),)


def _put_pid(pid_file: Path, pid: int) -> None:
    lines = pid_file.read_text().splitlines()
    pid_file.write_text("\n".join([str(pid), *lines[1:]]) + "\n")


async def test_a_postgres_pid_file_that_names_a_stranger_is_not_believed(
    used: Path, stranger: subprocess.Popen[bytes]
) -> None:
    await bring_up(used)
    state = state_of(used)
    kill(state.supervisor)
    kill(process_of(used, "postgres"))
    assert await until(all_gone(*(part.process for part in state.parts)))
    _put_pid(used / "postgres" / "postmaster.pid", stranger.pid)
    stack = await bring_up(used)
    await remember(stack.database_url, "served")
    assert stranger.poll() is None


def _write_first(home: Path, state: StackState) -> None:
    home.mkdir()
    write_state(home, state)


async def test_a_process_that_only_has_the_pid_of_a_part_is_left_alone(
    home: Path, stranger: subprocess.Popen[bytes]
) -> None:
    other_start = ProcessId(stranger.pid, "earlier")
    same_start = identify(stranger.pid)
    state = StackState(
        status=Status.READY,
        supervisor=other_start,
        parts=(PartState("temporal", process=other_start), PartState("worker", same_start)),
    )
    _write_first(home, state)
    assert not await down(settings_of(home))
    assert stranger.poll() is None


async def test_a_remembered_port_that_somebody_took_is_replaced(used: Path) -> None:
    before = await bring_up(used)
    await down(settings_of(used))
    port = port_of(before.temporal_address)
    assert port is not None
    with socket.create_server(("127.0.0.1", port)):
        after = await bring_up(used)
    assert after.temporal_address != before.temporal_address
    assert after.ui_address == before.ui_address


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting the supervisor", "starting Postgres and Temporal"])
async def test_an_up_killed_midway_leaves_a_home_that_the_next_one_brings_up(
    home: Path, moment: str
) -> None:
    with client(home) as first:
        assert first.stdout is not None
        assert any(line.strip() == moment for line in first.stdout)
        first.kill()
    stack = await bring_up(home)
    await remember(stack.database_url, "served")
    assert await remembered(stack.database_url) == ["served"]


def _drafts(home: Path) -> list[Path]:
    return list(home.glob("postgres.new-*"))


@pytest.mark.slow
async def test_a_supervisor_killed_while_it_makes_the_data_leaves_no_half_of_it(
    home: Path,
) -> None:
    with client(home) as first:
        assert await until(lambda: _drafts(home) != [])
        kill(state_of(home).supervisor)
        first.kill()
    stack = await bring_up(home)
    await remember(stack.database_url, "served")
    assert _drafts(home) == []


async def test_of_two_ups_at_once_one_starts_the_stack_and_both_return(home: Path) -> None:
    with client(home) as first, client(home) as second:
        first.communicate(timeout=40)
        second.communicate(timeout=40)
    assert {first.returncode, second.returncode} <= {0, -6}
    supervisors = having_arguments("--home", str(home))
    assert supervisors == (state_of(home).supervisor,)
    assert is_alive(process_of(home, "postgres"))


def _move_away(home: Path) -> None:
    home.rename(home.with_name("moved"))


async def test_a_supervisor_whose_home_was_removed_stops_everything(used: Path) -> None:
    await bring_up(used)
    state = state_of(used)
    _move_away(used)
    processes = (state.supervisor, *(part.process for part in state.parts))
    assert await until(all_gone(*processes))
    assert not is_locked(used)
