"""What a verification is made of: its checks, what they share, and what it found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from ledger.anchors import Anchor

if TYPE_CHECKING:
    import asyncpg

    Connection: TypeAlias = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]

WHOLE = 3600.0
"""Seconds that one query over all events may take."""

RESTORE = (
    "stop writing (`legato down`), keep a copy of the database as it is, and restore it from "
    "the last backup for which `legato ledger verify` is green"
)


@dataclass(frozen=True)
class Problem:
    """The first bad place of one stream; what stands after it in the stream is not judged.

    `version` is that of the event; for a head row that of the stream's last event. For the
    stream `feed` it is a number of the feed.
    """

    stream: str
    version: int
    what: str
    next: str


@dataclass(frozen=True)
class VerifyReport:
    """What a verification found; `checked` counts what was looked at, by kind."""

    ok: bool
    checked: Mapping[str, int]
    problems: tuple[Problem, ...]


@dataclass(frozen=True)
class Pass:
    """One verification under way: the snapshot it reads, and what it has seen so far."""

    connection: Connection
    secret: bytes
    anchors: tuple[Anchor, ...] = ()
    checked: dict[str, int] = field(default_factory=dict[str, int])
    problems: list[Problem] = field(default_factory=list[Problem])

    def tell(self, stream: str, version: int, what: str, next_step: str = RESTORE) -> None:
        """Note a bad place."""
        self.problems.append(Problem(stream, version, what, next_step))


Check: TypeAlias = Callable[[Pass], Awaitable[None]]
"""One check: reads by the pass's connection, counts in `checked`, and tells what is wrong."""
