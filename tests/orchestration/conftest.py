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

GRACE = 2
"""Seconds that a run must be quiet before the reconcilers of `watched` look at it."""

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
    """A rig that starts, and may kill, workers of its own."""
    async with rig_of(cluster, tmp_path) as opened:
        yield opened


@pytest.fixture(scope="session")
def serving(cluster: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """One worker for all tests that only need one to be there: its queue and its home."""
    folder = tmp_path_factory.mktemp("serving")

    async def start() -> Rig:
        async with rig_of(cluster, folder) as opened:
            opened.start_worker()
            opened.workers, kept = [], opened.workers
        opened.workers = kept
        return opened

    rig = asyncio.run(start())
    yield rig.host, rig.home
    rig.workers[0].terminate()


@pytest.fixture
async def served(cluster: Stack, serving: tuple[str, Path], tmp_path: Path) -> AsyncIterator[Rig]:
    """A rig on the worker that all share."""
    host, home = serving
    async with rig_of(cluster, tmp_path, host=host, home=home) as opened:
        yield opened


@pytest.fixture(scope="module")
def watching(
    cluster: Stack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """Two workers whose reconcilers wait two seconds only: their queue and their home."""
    folder = tmp_path_factory.mktemp("watching")

    async def start() -> Rig:
        async with rig_of(cluster, folder) as opened:
            for _ in range(2):
                opened.start_worker(LEGATO_GRACE=str(GRACE))
            opened.workers, kept = [], opened.workers
        opened.workers = kept
        return opened

    rig = asyncio.run(start())
    yield rig.host, rig.home
    for worker in rig.workers:
        worker.terminate()


@pytest.fixture
async def watched(cluster: Stack, watching: tuple[str, Path], tmp_path: Path) -> AsyncIterator[Rig]:
    """A rig on the workers that watch."""
    host, home = watching
    async with rig_of(cluster, tmp_path, host=host, home=home) as opened:
        yield opened
