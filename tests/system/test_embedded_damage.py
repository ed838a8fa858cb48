"""What somebody damages or removes under a live stack is put right, or at worst needs `down`."""

from __future__ import annotations

import asyncio
import stat
import time
from typing import TYPE_CHECKING

import pytest

from legato.embedded import Status, down, stack_status
from legato.embedded.lock import is_locked
from legato.embedded.state import state_file
from tests.support.embedded_stack import (
    all_gone,
    bring_up,
    ended_after,
    settings_of,
    state_of,
    until,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from legato.embedded import StackState

REMOVED = None
DAMAGES = [REMOVED, "{", "", "[" * 100_000, '{"schema": 99}', "null"]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose servers run; starting them takes longest."""
    home = tmp_path_factory.mktemp("served") / "home"
    with ended_after(home):
        asyncio.run(bring_up(home))
        yield home
        asyncio.run(down(settings_of(home)))


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An empty home; whatever runs in it is ended."""
    home = tmp_path / "home"
    with ended_after(home):
        yield home


def damage(home: Path, text: str | None) -> None:
    """Remove the state file or put something else in its place."""
    state_file(home).unlink()
    if text is not None:
        state_file(home).write_text(text, encoding="utf-8")


def processes_gone(state: StackState) -> bool:
    """Tell whether nothing runs of what a state names."""
    return all_gone(state.supervisor, *(part.process for part in state.parts))()


def modes(home: Path) -> set[int]:
    """Tell how Temporal's files may be used, at least one of which there is."""
    return {stat.S_IMODE(file.stat().st_mode) for file in home.glob("temporal.db*")}


@pytest.mark.parametrize("text", DAMAGES, ids=["removed", "half", "empty", "deep", "other", "null"])
async def test_a_lost_or_damaged_state_is_written_anew_while_the_stack_runs(
    served: Path, text: str | None
) -> None:
    before = state_of(served)
    damage(served, text)
    began = time.monotonic()
    status = await stack_status(settings_of(served))

    assert time.monotonic() - began < 3
    assert status.status is Status.READY
    assert state_of(served) == before


async def test_an_up_finds_the_stack_whose_state_was_lost(served: Path) -> None:
    damage(served, REMOVED)

    stack = await bring_up(served)

    assert stack.database_url == state_of(served).database_url


@pytest.mark.parametrize("file", ["state.json", "supervisor.lock"])
async def test_what_another_process_wrote_over_them_is_put_right(served: Path, file: str) -> None:
    before = (served / file).read_bytes()
    (served / file).write_bytes(b"1" + before)

    assert await until(lambda: (served / file).read_bytes() == before, seconds=3)


async def test_down_works_at_once_where_the_state_is_lost(home: Path) -> None:
    await bring_up(home)
    state = state_of(home)
    damage(home, "{")

    assert await down(settings_of(home))

    assert processes_gone(state)
    assert (await stack_status(settings_of(home))).status is Status.STOPPED


async def test_down_needs_no_state_that_can_be_written(home: Path) -> None:
    await bring_up(home)
    state = state_of(home)
    damage(home, REMOVED)
    state_file(home).mkdir()

    assert (await stack_status(settings_of(home))).status is Status.STARTING
    assert await down(settings_of(home))

    assert processes_gone(state)


async def test_a_stack_whose_lock_was_removed_ends_and_the_next_up_starts_another(
    home: Path,
) -> None:
    await bring_up(home)
    state = state_of(home)
    (home / "running.lock").unlink()

    assert await until(lambda: processes_gone(state))
    assert not is_locked(home)
    assert (await bring_up(home)).database_url
    assert state_of(home).supervisor != state.supervisor


async def test_what_temporal_keeps_is_its_users_alone(served: Path) -> None:
    assert modes(served) == {0o600}


async def test_a_temporal_file_that_others_could_read_is_closed_at_the_next_start(
    home: Path,
) -> None:
    await bring_up(home)
    await down(settings_of(home))
    (home / "temporal.db").chmod(0o644)
    await bring_up(home)

    assert modes(home) == {0o600}
