"""A stack of the bench's own, in a temporary home, and what is needed to use it."""

from __future__ import annotations

import contextlib
import sys
import tempfile
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio.client import Client

from legato.client import connect
from legato.door import Door, open_door, search_attributes
from legato.embedded import Stack, down, ensure_up
from legato.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence

    from temporalio.api.history.v1 import HistoryEvent
    from temporalio.client import WorkflowHandle


PAD = "x" * 2000
"""The size of every message, result and answer: 2,000 characters."""


@dataclass(frozen=True)
class Cluster:
    """A running stack: its settings, where it is, a client, and a folder for work."""

    settings: Settings
    stack: Stack
    client: Client
    folder: Path

    @property
    def workspace(self) -> Path:
        """The folder that runs work in."""
        return self.folder / "workspace"

    @asynccontextmanager
    async def door(self) -> AsyncGenerator[Door]:
        """Open the front door of Legato on this stack."""
        async with open_door(self.settings, "bench", progress=progress) as door:
            yield door


@asynccontextmanager
async def cluster(*, with_worker: bool) -> AsyncGenerator[Cluster]:
    """Start Postgres and Temporal, with Legato's worker if asked, and end them after."""
    with tempfile.TemporaryDirectory(
        prefix="legato-bench-", ignore_cleanup_errors=True
    ) as temporary:
        folder = Path(temporary)
        (folder / "workspace").mkdir()
        settings = load_settings({"LEGATO_HOME": str(folder / "home")})
        try:
            stack = await ensure_up(
                settings,
                progress=progress,
                search_attributes=search_attributes(),
                with_worker=with_worker,
            )
            client = await connect(stack.temporal_address, stack.temporal_namespace)
            yield Cluster(settings, stack, client, folder)
        finally:
            await down(settings)


def progress(step: str) -> None:
    """Say what is going on, beside the results."""
    with contextlib.suppress(OSError):
        sys.stderr.write(f"bench: {step}\n")
        sys.stderr.flush()


async def chain_of(
    client: Client, handle: WorkflowHandle[object, object]
) -> AsyncIterator[Sequence[HistoryEvent]]:
    """Read a run's histories, from its first Temporal run on through each continue-as-new."""
    run_id = (await handle.describe()).raw_description.workflow_execution_info.first_run_id
    while run_id:
        link = await client.get_workflow_handle(handle.id, run_id=run_id).fetch_history()
        yield link.events
        last = link.events[-1].workflow_execution_continued_as_new_event_attributes
        run_id = last.new_execution_run_id


@dataclass(frozen=True)
class History:
    """The size of all of a run's histories together."""

    events: int
    kib: float


async def history_of(client: Client, handle: WorkflowHandle[object, object]) -> History:
    """Measure the whole chain of a run."""
    events = [event async for link in chain_of(client, handle) for event in link]
    return History(len(events), sum(event.ByteSize() for event in events) / 1024)
