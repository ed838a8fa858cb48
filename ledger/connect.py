"""Opens the ledger: one place where connections, pool and keys are made."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from domain.errors import LegatoError
from ledger.connections import Connections

if TYPE_CHECKING:
    from collections.abc import Generator

UNREACHABLE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
)
"""What is raised where the database does not answer."""

OTHER_BUILD = (
    asyncpg.UndefinedTableError,
    asyncpg.UndefinedColumnError,
    asyncpg.UndefinedFunctionError,
)
"""What is raised where the ledger's tables are not those of this build."""

CONNECTING = 10.0
"""Seconds that making one connection may take: a server that hangs accepts and says nothing."""

ANSWERING = 30.0
"""Seconds that one statement may take, the longest of ours takes a fraction of it."""

_CLOSING = 5.0
_SILENT = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


@dataclass(frozen=True)
class Ledger:
    """An open ledger: its connections and the key under which content is compared."""

    pool: Connections
    secret: bytes


@contextmanager
def reaching() -> Generator[None]:
    """Read within this; the database's silence is raised as `ledger_unreachable`."""
    try:
        yield
    except UNREACHABLE as exc:
        raise LegatoError(
            "ledger_unreachable",
            "the ledger's database does not answer",
            cause=type(exc).__name__,
            next="run `legato status`; what was accepted goes on once it is back",
        ) from None


def sqlalchemy_url(database_url: str) -> str:
    """Turn a plain `postgresql://` address into the one SQLAlchemy's asyncpg dialect reads."""
    parts = urlsplit(database_url)
    return urlunsplit(parts._replace(scheme="postgresql+asyncpg"))


async def _keep_session(_connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Reset nothing: no code sets session state, and the default reset costs a third."""


@contextmanager
def connecting() -> Generator[None]:
    """Connect within this; whatever keeps from it is raised as `ledger_unreachable`."""
    try:
        yield
    except _SILENT as exc:
        raise LegatoError(
            "ledger_unreachable",
            "the ledger's database does not answer",
            cause=type(exc).__name__,
            next="run `legato status`, or check DATABASE_URL",
        ) from None


async def open_ledger(database_url: str, *, most: int = 10) -> Ledger:
    """Connect; raises `ledger_unreachable` where the database does not answer.

    Raises `ledger_not_migrated` where it holds no ledger. No statement takes longer than
    ANSWERING seconds, and no connection is waited for longer than CONNECTING.
    """
    with connecting():
        pool = await asyncpg.create_pool(
            database_url,
            min_size=1,
            max_size=most,
            reset=_keep_session,
            timeout=CONNECTING,
            command_timeout=ANSWERING,
        )
        try:
            secret = await pool.fetchval(
                "select secret from ledger.subject_key where key_id = 'default'"
            )
        except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
            pool.terminate()
            raise LegatoError(
                "ledger_not_migrated",
                "the database holds no ledger of this build",
                next="run `legato up`, which makes its tables, or start a worker",
            ) from None
        except _SILENT:
            pool.terminate()
            raise
    return Ledger(pool=Connections(pool), secret=bytes(secret))


async def close_ledger(ledger: Ledger) -> None:
    """Close all connections, at once those that do not end in time; safe to call twice."""
    try:
        await asyncio.wait_for(ledger.pool.close(), _CLOSING)
    except (TimeoutError, asyncpg.InterfaceError, OSError):
        ledger.pool.terminate()
