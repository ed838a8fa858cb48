"""Real embedded stacks in temporary homes, and what the tests ask of them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import asyncpg

from legato.embedded import Stack, StackState, ensure_up, read_state
from legato.embedded.lock import is_locked
from legato.embedded.processes import ProcessId, is_alive
from legato.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

_LOOK = 0.02
_CLIENT = """
import asyncio, sys
from legato.embedded import ensure_up
from legato.settings import load_settings
def tell(step): print(step, flush=True)
settings = load_settings({"LEGATO_HOME": sys.argv[1]})
asyncio.run(ensure_up(settings, progress=tell, with_worker=False))
"""


def settings_of(home: Path) -> Settings:
    """Name a home as the environment would."""
    return load_settings({"LEGATO_HOME": str(home)})


async def bring_up(home: Path, **attributes: str) -> Stack:
    """Bring the servers of a home up, without a worker."""
    return await ensure_up(
        settings_of(home),
        progress=lambda _: None,
        search_attributes=attributes,
        with_worker=False,
    )


def client(home: Path) -> subprocess.Popen[str]:
    """Start another process that brings the same home up; it prints each step."""
    return subprocess.Popen(
        [sys.executable, "-c", _CLIENT, str(home)], stdout=subprocess.PIPE, text=True
    )


def state_of(home: Path) -> StackState:
    """Read a state that must be there."""
    state = read_state(settings_of(home))
    assert state is not None
    return state


def process_of(home: Path, part: str) -> ProcessId:
    """Name the process of a part that must run."""
    process = state_of(home).part(part).process
    assert process is not None
    return process


def kill(process: ProcessId) -> None:
    """End exactly this process, without warning."""
    assert is_alive(process)
    os.kill(process.pid, signal.SIGKILL)


async def until(fact: Callable[[], bool], *, seconds: float = 15.0) -> bool:
    """Wait until a fact holds; False where it does not in time."""
    end = time.monotonic() + seconds
    while not fact():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(_LOOK)
    return True


def all_gone(*processes: ProcessId | None) -> Callable[[], bool]:
    """State the fact that none of these lives."""
    return lambda: not any(is_alive(process) for process in processes)


@contextmanager
def ended_after(*homes: Path) -> Generator[None]:
    """End the supervisors of these homes at the end, without warning; their parts follow."""
    try:
        yield
    finally:
        for home in homes:
            state = read_state(settings_of(home)) if home.is_dir() else None
            if state is not None and is_alive(state.supervisor):
                with suppress(ProcessLookupError):
                    os.kill(state.supervisor.pid, signal.SIGKILL)
            if state is not None:
                processes = (state.supervisor, *(part.process for part in state.parts))
                asyncio.run(until(all_gone(*processes)))
            assert not home.is_dir() or not is_locked(home)


async def remember(url: str, text: str) -> None:
    """Write a row of a table of this test's own."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("create table if not exists noted (text text)")
        await connection.execute("insert into noted values ($1)", text)
    finally:
        await connection.close()


async def remembered(url: str) -> list[str]:
    """Read the rows back, in order."""
    connection = await asyncpg.connect(url)
    try:
        rows = await connection.fetch("select text from noted order by text")
    finally:
        await connection.close()
    return [str(row["text"]) for row in rows]
