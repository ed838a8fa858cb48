"""A database that hangs: whoever asks it is told so in time, and goes on once it is back."""

from __future__ import annotations

import asyncio
import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psutil
import pytest

import ledger.connect
from domain.errors import LegatoError
from ledger.append import Part, append
from ledger.connect import close_ledger, open_ledger, reaching
from ledger.migrate import migrate
from ledger.reads import read_head
from tests.support import facts
from tests.support.ledger import PERSON, connected

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ledger.connect import Ledger

LIMIT = 1.0
SOON = 20.0
"""Generous: without limits it would be for ever."""


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same limits, shorter."""
    for name in ("CONNECTING", "ANSWERING", "_CLOSING"):
        monkeypatch.setattr(ledger.connect, name, LIMIT)
    monkeypatch.setattr("ledger.migrate.CONNECTING", LIMIT)


async def processes(url: str) -> list[psutil.Process]:
    async with connected(url) as connection:
        backend = psutil.Process(await connection.fetchval("select pg_backend_pid()"))
        parent = backend.parent()
        assert parent is not None
        return [parent, *(one for one in parent.children() if one != backend)]


@contextmanager
def hung(stopped: Sequence[psutil.Process]) -> Generator[None]:
    """Stop the server's processes where they stand: connections are taken, nothing answers."""
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for process in reversed(stopped):
            process.send_signal(signal.SIGCONT)


FIRST = Part("incoming/hung", (facts.message("m1"),))


async def ask(what: str, url: str, made: Ledger) -> None:
    """Ask the database for one thing, in one of the ways there are."""
    match what:
        case "append":
            await append(made, PERSON, FIRST)
        case "read":
            with reaching():
                await read_head(made, "incoming/hung")
        case "open":
            await open_ledger(url)
        case _:
            await migrate(url)


@pytest.mark.parametrize("what", ["append", "read", "open", "migrate"])
async def test_a_hung_database_is_unreachable_in_time_and_serves_on_later(
    url: str, what: str
) -> None:
    made = await open_ledger(url)
    try:
        server = await processes(url)
        begun = time.monotonic()
        with hung(server), pytest.raises(LegatoError) as silence:
            await ask(what, url, made)
        assert silence.value.code == "ledger_unreachable"
        assert time.monotonic() - begun < SOON

        async with asyncio.timeout(SOON):
            await append(made, PERSON, FIRST)
            assert (await read_head(made, "incoming/hung")).version == 1
    finally:
        await close_ledger(made)


async def test_an_open_ledger_closes_though_the_database_hangs(url: str) -> None:
    made = await open_ledger(url)
    server = await processes(url)

    begun = time.monotonic()
    with hung(server):
        await close_ledger(made)

    assert time.monotonic() - begun < SOON
