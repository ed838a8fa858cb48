"""Knows which activities this process carries out, and ends them where it must leave."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

LEAVES = "worker_leaves"
"""The code of an execution that its worker ended: the next worker begins the next attempt."""


@dataclass
class UnderWay:
    """The executions of one process; `leaving` once they were told to end."""

    tasks: set[asyncio.Task[object]] = field(default_factory=set[asyncio.Task[object]])
    leaving: bool = False

    @contextmanager
    def carried_out(self) -> Generator[None]:
        """Count the present task as an execution while it lasts."""
        task: asyncio.Task[object] | None = asyncio.current_task()
        if task is None:
            yield
            return
        self.tasks.add(task)
        try:
            yield
        finally:
            self.tasks.discard(task)

    async def end_after(self, seconds: float) -> None:
        """Give them time, then cancel those that are left; a stop it is not."""
        await asyncio.sleep(seconds)
        self.leaving = True
        for task in self.tasks:
            task.cancel()
