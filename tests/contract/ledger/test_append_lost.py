"""An append whose answer was lost: it is found by its ids, or said to be absent, truly."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import asyncpg
import pytest

from domain.errors import Kind, LegatoError
from domain.tools.results import ok
from ledger.append import Appended, Part, TakenError, append
from ledger.connect import Ledger, close_ledger, open_ledger
from ledger.connections import Connections
from ledger.reads import read_head
from ledger.statement import MOST
from ledger.verify import verify
from tests.support import facts
from tests.support.ledger import PERSON, connected
from tests.support.swallow import Swallow, swallow

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from domain.events import Fact

    Connection = asyncpg.Connection[asyncpg.Record]

STREAM = "incoming/s"
LOTS = tuple(facts.message(f"m{n}") for n in range(MOST + 1))
MANY = LOTS[:3]
BEFORE = tuple(
    tuple(facts.message(f"before{count}-{n}") for n in range(count)) for count in (1, 3, MOST + 1)
)
THERE = sum(map(len, BEFORE))
SHAPES = pytest.mark.parametrize(
    "given",
    [MANY[:1], MANY, LOTS],
    ids=["one event", "three events", "more than a statement takes"],
)


@asynccontextmanager
async def held(url: str) -> AsyncGenerator[Connection]:
    """Hold the stream's head row in another transaction, so that an append must wait."""
    async with connected(url) as connection, connection.transaction():
        await connection.execute(
            "select from ledger.stream where stream_id = $1 for update", STREAM
        )
        yield connection


async def waiting_backend(connection: Connection) -> int:
    """Wait until another backend waits for our lock; gives its process id."""
    found = await until_true(
        connection,
        "select pid from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))",
    )
    assert isinstance(found, int)
    return found


async def committed(connection: Connection, version: int) -> None:
    """Wait until the stream has come to a version."""
    await until_true(
        connection,
        "select version >= $2 from ledger.stream where stream_id = $1",
        STREAM,
        version,
    )


async def until_true(connection: Connection, query: str, *values: object) -> object:
    """Ask again and again, for 20 s at most, until the answer is true."""
    async with asyncio.timeout(20):
        while not (found := await connection.fetchval(query, *values)):  # noqa: ASYNC110 - polled
            await asyncio.sleep(0.01)
    return found


@SHAPES
async def test_a_killed_connection_leaves_nothing_and_the_repeat_works(
    url: str, ledger: Ledger, given: tuple[Fact, ...]
) -> None:
    """The backend is terminated while it waits for the head row."""
    await append(ledger, PERSON, Part(STREAM, (facts.message("before"),)))
    async with held(url) as other:
        task = asyncio.create_task(append(ledger, PERSON, Part(STREAM, given)))
        await other.execute("select pg_terminate_backend($1)", await waiting_backend(other))
        with pytest.raises(LegatoError) as caught:
            await task

    assert (caught.value.code, caught.value.kind) == ("ledger_unreachable", Kind.WORLD)
    assert "not there" in caught.value.message
    assert not (await append(ledger, PERSON, Part(STREAM, given))).repeated
    assert (await verify(ledger)).ok


@asynccontextmanager
async def through(
    url: str, *, command_timeout: float | None = None
) -> AsyncGenerator[tuple[Ledger, Swallow, Connection]]:
    """Open a ledger through a socket that can lose replies, and a connection beside it.

    All statements have been used before, so that a lost reply is that of an append.
    `command_timeout` is the connection's own limit in seconds.
    """
    async with line_to(url) as line, connected(url) as beside:
        made = await asyncpg.create_pool(
            line.url, min_size=1, max_size=1, command_timeout=command_timeout
        )
        ledger = Ledger(
            Connections(made), await beside.fetchval("select secret from ledger.subject_key")
        )
        try:
            for given in BEFORE:
                await append(ledger, PERSON, Part(STREAM, given))
            yield ledger, line, beside
        finally:
            ledger.pool.terminate()


@asynccontextmanager
async def line_to(url: str) -> AsyncGenerator[Swallow]:
    """Put a socket before the server; a short path is all that a socket may have."""
    with TemporaryDirectory(prefix="lg", dir="/tmp") as folder:
        async with swallow(url, Path(folder)) as line:
            yield line


@SHAPES
async def test_an_append_whose_reply_was_lost_is_found_by_its_ids(
    url: str, given: tuple[Fact, ...]
) -> None:
    """It was committed: the writer is given its result and not told to repeat."""
    async with through(url) as (ledger, line, beside):
        line.swallowing = True
        task = asyncio.create_task(append(ledger, PERSON, Part(STREAM, given)))
        await committed(beside, THERE + len(given))
        line.swallowing = False
        line.cut()
        done = await task

        assert done.repeated
        assert done.heads[STREAM][0] == THERE + len(given)
        assert (await verify(ledger)).ok


async def test_an_append_that_timed_out_after_it_happened_is_found(url: str) -> None:
    """The reply does not come in time; the ledger is asked on another connection."""
    async with through(url, command_timeout=1.0) as (ledger, line, beside):
        line.swallowing = True
        task = asyncio.create_task(append(ledger, PERSON, Part(STREAM, MANY)))
        await committed(beside, THERE + 3)
        line.swallowing = False
        done = await task

    assert isinstance(done, Appended)
    assert done.repeated


async def test_an_append_that_timed_out_waiting_is_absent_and_says_so(url: str) -> None:
    """The server gave it up with the timeout; repeating it is safe."""
    async with through(url, command_timeout=0.5) as (ledger, _, _):
        async with held(url):
            with pytest.raises(LegatoError) as caught:
                await append(ledger, PERSON, Part(STREAM, MANY))
        again = await append(ledger, PERSON, Part(STREAM, MANY))

    assert (caught.value.code, caught.value.cause) == ("ledger_unreachable", "TimeoutError")
    assert (again.heads[STREAM][0], again.repeated) == (THERE + 3, False)


async def test_what_another_writer_put_there_is_not_taken_for_ours(url: str) -> None:
    """The refusal was lost; what stands under the id is another's."""
    async with through(url) as (ledger, line, _):
        await append(ledger, PERSON, Part(STREAM, (facts.settled(outcome=ok("theirs")),)))
        line.swallowing = True
        task = asyncio.create_task(append(ledger, PERSON, Part(STREAM, (facts.settled(),))))
        await line.spoke.wait()
        line.swallowing = False
        line.cut()
        with pytest.raises(TakenError):
            await task

        assert (await read_head(ledger, STREAM)).version == THERE + 1


async def test_a_database_that_is_gone_is_said_to_be_unreachable(postgres_gone: Ledger) -> None:
    """Nobody can tell whether the append is there, and that is what is said."""
    with pytest.raises(LegatoError) as caught:
        await append(postgres_gone, PERSON, Part(STREAM, MANY))

    assert caught.value.code == "ledger_unreachable"
    assert "nor the question" in caught.value.message
    assert "safe to repeat" in caught.value.next


@pytest.fixture
async def postgres_gone(url: str) -> AsyncGenerator[Ledger]:
    """A ledger whose database answered when it was opened and does not any more."""
    async with line_to(url) as line:
        ledger = await open_ledger(line.url, most=1)
    yield ledger
    await close_ledger(ledger)
