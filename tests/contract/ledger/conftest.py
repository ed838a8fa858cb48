"""A real Postgres for the session, an empty ledger for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.ledger import Server, opened, put_back, server, wipe

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from ledger.connect import Ledger


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server in a home of its own, with an empty ledger and one with a past."""
    with server(tmp_path_factory.mktemp("home")) as made:
        yield made


@pytest.fixture
async def url(postgres: Server) -> str:
    """The address of an empty ledger."""
    await wipe(postgres.empty)
    return postgres.empty


@pytest.fixture
async def ledger(url: str) -> AsyncIterator[Ledger]:
    """An empty ledger."""
    async with opened(url, most=20) as made:
        yield made


@pytest.fixture
async def lived_in_url(postgres: Server) -> str:
    """The address of a ledger with a past."""
    await put_back(postgres.lived_in)
    return postgres.lived_in


@pytest.fixture
async def lived_in(lived_in_url: str) -> AsyncIterator[Ledger]:
    """A ledger with a past."""
    async with opened(lived_in_url) as made:
        yield made
