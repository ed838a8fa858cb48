"""One cluster without a worker for all tests of this folder, and a rig for each."""

from __future__ import annotations

import asyncio
import tempfile
from typing import TYPE_CHECKING

import pytest

from domain.runs.attributes import KEYWORDS
from ledger.migrate import migrate
from legato.embedded import Stack, down, ensure_up
from legato.settings import load_settings
from tests.support.rig import Rig, rig_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def cluster() -> Iterator[Stack]:
    """Postgres and Temporal, started and stopped once."""
    with tempfile.TemporaryDirectory(prefix="legato-") as home:
        settings = load_settings({"LEGATO_HOME": home})
        attributes: dict[str, str] = dict.fromkeys(KEYWORDS, "Keyword")
        stack = asyncio.run(
            ensure_up(
                settings,
                progress=lambda _: None,
                search_attributes=attributes,
                with_worker=False,
            )
        )
        asyncio.run(migrate(stack.database_url))
        yield stack
        asyncio.run(down(settings))


@pytest.fixture
async def rig(cluster: Stack, tmp_path: Path) -> AsyncIterator[Rig]:
    """A rig of its own on the shared cluster."""
    async with rig_of(cluster, tmp_path) as opened:
        yield opened
