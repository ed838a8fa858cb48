"""The worker is a part of the stack like the servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

from legato.embedded import ensure_up
from legato.embedded.processes import command_line, is_alive
from tests.support.embedded_stack import (
    all_gone,
    ended_after,
    kill,
    process_of,
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


async def test_up_makes_the_tables_and_keeps_a_worker_that_dies_with_the_supervisor(
    home: Path,
) -> None:
    told: list[str] = []
    stack = await ensure_up(settings_of(home), progress=told.append)
    assert "bringing the ledger's tables up to date" in told
    connection = await asyncpg.connect(stack.database_url)
    assert await connection.fetchval("select to_regclass('ledger.event') is not null")
    await connection.close()
    first = process_of(home, "worker")
    assert "workers" in command_line(first.pid)
    kill(first)
    assert await until(lambda: state_of(home).part("worker").restarts == 1)
    second = process_of(home, "worker")
    assert is_alive(second)
    kill(state_of(home).supervisor)
    assert await until(all_gone(second))
