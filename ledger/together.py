"""Appends to single streams that wait at the same time go to the database in one statement."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

import asyncpg

from ledger.statement import Writing, together

if TYPE_CHECKING:
    from ledger.connections import Connections

AT_ONCE = 2
"""Statements on their way before an append waits for others: one is planned, one is on disk."""

LEAST, MOST = 4, 64
"""Appends that a statement is sent with at once, where there are many to come and at most."""

_LOST = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)


@dataclass(frozen=True)
class _Waiting:
    writing: Writing
    done: asyncio.Future[Head | None]


Head = tuple[int, bytes, datetime]
"""Where a stream stands after an append: version, head hash, and when that was recorded."""


@dataclass
class Together:
    """What one ledger's writers have on its way and what waits for it.

    With few writers nothing waits: each append is its own statement, at once. Whatever a
    statement of several cannot do (a head that is not as expected, an id that is there
    already, a connection that is lost) its writer does alone, so that one writer's error
    is never another's.
    """

    on_way: int = 0
    inside: int = 0
    waiting: deque[_Waiting] = field(default_factory=deque[_Waiting])
    tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])
    asked: bool = False

    def must_wait(self) -> bool:
        """Tell whether an append has others beside it, with which it goes."""
        return self.on_way > 0

    def begin(self) -> None:
        """Count a statement that goes on its way."""
        self.on_way += 1

    def end(self, pool: Connections) -> None:
        """Count a statement that came back, and send what has waited for it."""
        self.on_way -= 1
        if self.waiting:
            self._ask(pool)

    async def join(self, pool: Connections, writing: Writing) -> Head | None:
        """Wait until others took an append with them; None says that it has to go alone."""
        done: asyncio.Future[Head | None] = asyncio.get_running_loop().create_future()
        self.waiting.append(_Waiting(writing, done))
        self.inside += 1
        try:
            if len(self.waiting) >= self._enough():
                self._go(pool)
            else:
                self._ask(pool)
            return await done
        finally:
            self.inside -= 1

    def _enough(self) -> int:
        """Half of the appends that are in here: the server works on one half, we on the other."""
        return max(LEAST, min(MOST, self.inside // 2))

    def _ask(self, pool: Connections) -> None:
        """Send what waits once all who can go on just now have done so."""
        if not self.asked:
            self.asked = True
            asyncio.get_running_loop().call_soon(self._asked, pool)

    def _asked(self, pool: Connections) -> None:
        self.asked = False
        self._go(pool)

    def _go(self, pool: Connections) -> None:
        while self.waiting and self.on_way < AT_ONCE:
            group = self._next_group()
            if not group:
                return
            self.begin()
            task = asyncio.get_running_loop().create_task(self._send(pool, group))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    def _next_group(self) -> list[_Waiting]:
        """Take what waits, each stream once; the rest keeps its place."""
        group: list[_Waiting] = []
        later: list[_Waiting] = []
        streams: set[str] = set()
        enough = self._enough()
        while self.waiting and len(group) < enough:
            each = self.waiting.popleft()
            if each.done.done():
                continue
            if each.writing.stream in streams:
                later.append(each)
            else:
                streams.add(each.writing.stream)
                group.append(each)
        self.waiting.extendleft(reversed(later))
        return group

    async def _send(self, pool: Connections, group: list[_Waiting]) -> None:
        there: dict[str, Head] = {}
        try:
            sql, values = together([each.writing for each in group])
            there = {row[0]: (row[1], row[2], row[3]) for row in await pool.fetch(sql, *values)}
        except _LOST:
            pass  # each goes alone and finds out by id what is there
        finally:
            for each in group:
                if not each.done.done():
                    each.done.set_result(there.get(each.writing.stream))
            self.end(pool)
