"""A real Postgres for the session, an empty ledger for each test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.support.ledger import Server, live_in, opened, server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ledger.connect import Ledger

LIVED_IN = "ledger_lived_in"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server in a home of its own, with an empty ledger and a lived-in one to copy."""
    with server(tmp_path_factory.mktemp("home")) as made:
        asyncio.run(_live_in(made))
        yield made


async def _live_in(made: Server) -> None:
    async with opened(await made.copy(name=LIVED_IN)) as ledger:
        await live_in(ledger)


@pytest.fixture
async def url(postgres: Server) -> str:
    """The address of an empty ledger."""
    return await postgres.copy()


@pytest.fixture
async def ledger(url: str) -> AsyncIterator[Ledger]:
    """An empty ledger."""
    async with opened(url, most=20) as made:
        yield made


@pytest.fixture
async def lived_in_url(postgres: Server) -> str:
    """The address of a ledger with a past."""
    return await postgres.copy(LIVED_IN)


@pytest.fixture
async def lived_in(lived_in_url: str) -> AsyncIterator[Ledger]:
    """A ledger with a past."""
    async with opened(lived_in_url) as made:
        yield made
