"""A Postgres of the bench's own, as Legato embeds it, with a ledger and nothing else running."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from domain.errors import LegatoError
from ledger.migrate import migrate
from legato.embedded.parts import NotReadyError, tethered
from legato.embedded.postgres import Postgres, find_binaries
from legato.embedded.postgres_user import postgres_user
from legato.embedded.processes import end, identify

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from legato.embedded.parts import Start

STARTING = 60.0
CONNECTIONS = 300
"""Every contender holds its own."""

_LOOK = 0.05


@asynccontextmanager
async def postgres() -> AsyncGenerator[str]:
    """Start one in a temporary home, its data on the disk that homes lie on; gives its address.

    Raises:
        LegatoError: `stack_not_ready`.

    """
    with tempfile.TemporaryDirectory(
        prefix="legato-bench-", ignore_cleanup_errors=True
    ) as temporary:
        home = Path(temporary) / "home"
        home.mkdir(mode=0o700)
        part = Postgres(home, dict(os.environ))
        try:
            start = await part.prepare()
            with (home / "postgres.log").open("wb") as log:
                process = await asyncio.create_subprocess_exec(
                    *(*tethered(start), "-c", f"max_connections={CONNECTIONS}"),
                    env=dict(start.environment),
                    stdout=log,
                    stderr=log,
                )
            try:
                await _serves(start, home / "postgres.log")
                await migrate(start.address)
                yield start.address
            finally:
                running = identify(process.pid)
                if running is not None:
                    await end(running, part.stop_signals)
                await process.wait()
        finally:
            await _forget(home)


async def beside(url: str, name: str) -> str:
    """Make another ledger on the same server; gives its address."""
    await as_owner(urlunsplit(urlsplit(url)._replace(path="/postgres")), f"create database {name}")
    other = urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
    await migrate(other)
    return other


async def as_owner(url: str, statements: str) -> None:
    """Run what a ledger's own connections may not: they append and read."""
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(statements)
    finally:
        await connection.close()


async def _serves(start: Start, log: Path) -> None:
    """Wait until it serves, and hold it to be as sure of its disk as a ledger's must be."""
    try:
        async with asyncio.timeout(STARTING):
            while not await _answers(start):  # noqa: ASYNC110 - nothing tells when it serves
                await asyncio.sleep(_LOOK)
    except TimeoutError:
        said = await asyncio.to_thread(log.read_text, errors="replace")
        raise LegatoError(
            "stack_not_ready",
            f"the bench's Postgres did not serve within {STARTING:.0f} s",
            cause=said[-400:],
            next="run the bench again once the machine is calmer",
        ) from None
    connection = await asyncpg.connect(start.address)
    try:
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            if await connection.fetchval(f"show {setting}") != "on":
                message = f"{setting} is not on: figures of it would say nothing"
                raise RuntimeError(message)
    finally:
        await connection.close()


async def _answers(start: Start) -> bool:
    try:
        await start.probe()
    except NotReadyError:
        return False
    return True


async def _forget(home: Path) -> None:
    """Drop the data; as root it may lie outside the home."""
    user = await postgres_user(home, find_binaries())
    if user.data != home:
        shutil.rmtree(user.data, ignore_errors=True)
