"""Ledgers of a test's own on a real Postgres, written by the real code, and tampered with."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from domain.agents.request import AgentRequest
from domain.codec import canonical
from domain.events import Entry, Fact
from domain.ids import incoming_stream, run_stream
from domain.tools.results import ok
from ledger.append import Part, append
from ledger.blobs import put_blob
from ledger.connect import Ledger, close_ledger, open_ledger
from ledger.dispatch import Launch, dispatch
from ledger.encode import Author
from ledger.migrate import migrate
from ledger.reads import read_stream
from legato.embedded import down, ensure_up
from tests.support import facts
from tests.support.embedded_stack import settings_of

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from pathlib import Path

PERSON = Author("person:a", "person:a", "cli", correlation="r")
EMPTY = "ledger_empty"


@dataclass
class Server:
    """A Postgres server whose databases are copies of prepared ones."""

    url: str
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def url_of(self, database: str) -> str:
        """Name one database."""
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{database}"))

    async def copy(self, template: str = EMPTY, name: str = "") -> str:
        """Make a database of a prepared one's content; gives its address."""
        name = name or f"ledger_{next(self._numbers)}"
        async with connected(self.url) as connection:
            await connection.execute(f"create database {name} template {template}")
        return self.url_of(name)


@contextmanager
def server(home: Path) -> Generator[Server]:
    """Start the embedded servers without a worker, with one migrated, empty ledger."""
    settings = settings_of(home)
    stack = asyncio.run(ensure_up(settings, progress=lambda _: None, with_worker=False))
    try:
        made = Server(stack.database_url)
        asyncio.run(_migrated(made))
        yield made
    finally:
        asyncio.run(down(settings))


async def _migrated(made: Server) -> None:
    async with connected(made.url) as connection:
        await connection.execute(f"create database {EMPTY}")
    await migrate(made.url_of(EMPTY))


@asynccontextmanager
async def connected(url: str) -> AsyncGenerator[asyncpg.Connection[asyncpg.Record]]:
    """Connect as the superuser that owns the server."""
    connection = await asyncpg.connect(url)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def opened(url: str, *, most: int = 10) -> AsyncGenerator[Ledger]:
    """Open a ledger and close it at the end."""
    ledger = await open_ledger(url, most=most)
    try:
        yield ledger
    finally:
        await close_ledger(ledger)


def on_connection(ledger: Ledger, connection: object) -> Ledger:
    """Give the same ledger through one connection, so that a test can hold a transaction."""
    return Ledger(cast("asyncpg.Pool[asyncpg.Record]", connection), ledger.secret)


async def put(ledger: Ledger, stream: str, *given: Fact) -> None:
    """Append facts to one stream."""
    await append(ledger, PERSON, Part(stream, given))


async def begin_run(ledger: Ledger, run_id: str, *given: Fact) -> str:
    """Dispatch a run and append facts to it; gives its stream."""
    request = AgentRequest(role="generic", message="look after it", workspace="/ws")
    await dispatch(ledger, PERSON, Launch(run_id, Entry.HAND, request, "home/test"))
    stream = run_stream(run_id)
    if given:
        await put(ledger, stream, *given)
    return stream


LIVED_IN = ("run-one-aaaa1111", "run-two-bbbb2222", "run-big-cccc3333")


async def live_in(ledger: Ledger) -> None:
    """Write a small past: ended and open runs, large bodies, messages, repeats, refusals."""
    ended, still_open, large = LIVED_IN
    bundle = await put_blob(ledger, canonical({"definition": "x" * 2000}))
    for run_id in LIVED_IN:
        stream = await begin_run(ledger, run_id, facts.attached())
        await append(ledger, PERSON, Part(stream, (facts.defined(bundle),), refs=(bundle,)))
        session = incoming_stream(run_id)
        first = (facts.turn_started(), facts.requested())
        await append(ledger, PERSON, Part(stream, first, 3), Part(session, (), 0))
    stream = run_stream(ended)
    await put(ledger, stream, facts.responded(calls=2))
    for fact in (facts.intended(), facts.settled(), facts.settled(), facts.settled(position=1)):
        await put(ledger, stream, fact)
    await put(ledger, incoming_stream(ended), facts.message("m1", run_id=ended))
    await put(ledger, stream, facts.asked(), facts.answered(), facts.run_ended())
    await put(ledger, run_stream(still_open), facts.responded(text="middling " * 300))
    await put(ledger, run_stream(large), facts.responded(calls=2, text="big " * 3000))
    await put(ledger, run_stream(large), facts.settled(outcome=ok("line\n" * 600_000)))


async def events_of(ledger: Ledger, stream: str) -> list[Fact]:
    """Read a stream's facts."""
    return [stored.fact for stored in await read_stream(ledger, stream)]
