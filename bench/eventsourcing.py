"""The rival ledger: pyeventsourcing's default recorder for Postgres, in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs, unquote, urlsplit

import asyncpg

from bench.rivals import SCRIPTS, installed
from domain.errors import LegatoError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from bench.contest import Slice

NAME = "pyeventsourcing"
PACKAGES = ("eventsourcing[postgres]",)
DATABASE = "rival"
_ANSWERING = 120.0
_SAID = 400


@asynccontextmanager
async def eventsourcing(url: str, size: int) -> AsyncGenerator[Slice]:
    """Start the rival on a database of its own on this server; its events are `size` bytes.

    Raises:
        LegatoError: `rival_not_installed`, `rival_failed`.

    """
    python = await installed("eventsourcing", PACKAGES)
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(f"create database {DATABASE}")
    finally:
        await connection.close()
    process = await asyncio.create_subprocess_exec(
        *(python, str(SCRIPTS / "eventsourcing_appends.py"), str(size)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **_environment(url)},
    )

    async def work(writers: int, seconds: float) -> float:
        return await asyncio.wait_for(_asked(process, writers, seconds), seconds + _ANSWERING)

    try:
        yield work
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _environment(url: str) -> dict[str, str]:
    """Name the server as the rival's own settings do; the socket's folder is the host."""
    parts = urlsplit(url)
    place = parse_qs(parts.query)
    return {
        "POSTGRES_DBNAME": DATABASE,
        "POSTGRES_HOST": place["host"][0],
        "POSTGRES_PORT": place["port"][0],
        "POSTGRES_USER": parts.username or "",
        "POSTGRES_PASSWORD": unquote(parts.password or ""),
    }


async def _asked(process: asyncio.subprocess.Process, writers: int, seconds: float) -> float:
    """Have a slice done; gives events a second, by the rival's own clock."""
    if process.stdin is None or process.stdout is None or process.stderr is None:
        message = "the rival was started without pipes"
        raise RuntimeError(message)
    process.stdin.write(json.dumps({"writers": writers, "seconds": seconds}).encode() + b"\n")
    line = await process.stdout.readline()
    if not line:
        said = (await process.stderr.read()).decode("utf-8", "replace").strip()
        raise LegatoError(
            "rival_failed",
            f"{NAME} ended before it was done",
            cause=said[-_SAID:] or "it said nothing",
            next="measure the other figures: name them with --figure",
        )
    return cast("float", json.loads(line)["per_second"])
