"""The embedded stack at work: one stack for the whole file."""

from __future__ import annotations

import asyncio
import json
import stat
import subprocess
import sys
import urllib.request
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from legato.embedded import Stack, Status, stack_status
from legato.embedded.lock import HELD
from legato.embedded.processes import is_alive
from legato.embedded.state import state_file
from tests.support.embedded_stack import (
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


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home whose servers run."""
    home = tmp_path_factory.mktemp("embedded") / "home"
    with ended_after(home):
        asyncio.run(bring_up(home, LegatoRun="Keyword", LegatoCost="Double"))
        yield home


async def _answered(home: Path) -> Stack:
    """Return the running stack once it answers again."""
    return await bring_up(home)


def _page(stack: Stack, path: str) -> Any:  # noqa: ANN401 - parsed JSON
    with urllib.request.urlopen(f"{stack.ui_address}{path}", timeout=5) as answer:  # noqa: S310 - loopback
        return json.load(answer)


async def test_up_again_returns_the_same_stack(home: Path) -> None:
    before = state_of(home).supervisor
    first, second = await bring_up(home), await bring_up(home)
    assert first == second
    assert state_of(home).supervisor == before


async def test_the_status_names_each_part_with_its_process(home: Path) -> None:
    status = await stack_status(settings_of(home))
    assert status.status is Status.READY
    assert {part.name for part in status.parts} == {"supervisor", "postgres", "temporal"}
    assert all(part.alive and part.pid for part in status.parts)
    assert set(status.versions) == {"legato", "python", "postgres", "temporal"}
    assert status.versions["postgres"].startswith("18")


async def test_no_address_of_a_part_shows_the_password(home: Path) -> None:
    password = (home / "postgres.password").read_text()
    status = await stack_status(settings_of(home))
    assert password in status.database_url
    assert not any(password in part.address for part in status.parts)
    assert password not in repr(status)


def test_what_holds_the_password_is_private(home: Path) -> None:
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in (state_file(home), home / "postgres.password")
    }
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((home / "postgres").stat().st_mode) == 0o700


async def test_postgres_refuses_a_wrong_password(home: Path) -> None:
    url = (await bring_up(home)).database_url
    password = (home / "postgres.password").read_text()
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(url.replace(password, "wrong"))


async def test_temporal_keeps_closed_runs_for_ninety_days(home: Path) -> None:
    stack = await bring_up(home)
    namespace = _page(stack, "/api/v1/namespaces/legato")
    assert namespace["config"]["workflowExecutionRetentionTtl"] == f"{90 * 24 * 3600}s"


async def test_the_search_attributes_asked_for_are_there(home: Path) -> None:
    stack = await bring_up(home)
    found = _page(stack, "/api/v1/namespaces/legato/search-attributes")["customAttributes"]
    assert found["LegatoRun"] == "INDEXED_VALUE_TYPE_KEYWORD"
    assert found["LegatoCost"] == "INDEXED_VALUE_TYPE_DOUBLE"


async def test_a_killed_postgres_comes_back_with_its_rows_at_the_same_address(home: Path) -> None:
    before = await bring_up(home)
    await remember(before.database_url, "before the kill")
    killed = process_of(home, "postgres")
    kill(killed)
    assert await until(lambda: state_of(home).part("postgres").restarts == 1)
    assert await _answered(home) == before
    assert await remembered(before.database_url) == ["before the kill"]
    assert process_of(home, "postgres") != killed


async def test_a_killed_temporal_comes_back_at_the_same_address(home: Path) -> None:
    before = await bring_up(home)
    killed = process_of(home, "temporal")
    kill(killed)
    assert await until(lambda: state_of(home).part("temporal").restarts == 1)
    assert await _answered(home) == before
    assert is_alive(process_of(home, "temporal"))


def test_a_second_supervisor_leaves_a_home_that_is_owned(home: Path) -> None:
    before = state_of(home)
    second = subprocess.run(
        [
            *(sys.executable, "-m", "legato.embedded.supervisor"),
            *("--home", str(home), "--namespace", "legato", "--no-worker"),
        ],
        check=False,
        timeout=20,
    )
    assert second.returncode == HELD
    assert state_of(home) == before


def test_a_command_of_another_process_finds_the_stack_without_a_step(home: Path) -> None:
    before = state_of(home).supervisor
    other = client(home)
    output, _ = other.communicate(timeout=20)
    assert other.returncode in {0, -6}  # the library sometimes aborts at the interpreter's end
    assert output == ""
    assert state_of(home).supervisor == before
