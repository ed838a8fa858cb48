"""Opens the ledger: one place where connections, pool and keys are made."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from domain.errors import LegatoError, problems, refused
from ledger.connections import Connections
from ledger.together import Together

if TYPE_CHECKING:
    from collections.abc import Generator

UNREACHABLE = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.PostgresSystemError,
)
"""What is raised where the database does not answer, or cannot do what it is asked now."""

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

_SESSION = """select set_config('idle_in_transaction_session_timeout', '5s', false);
  select set_config('role', rolname, false) from pg_roles
    where rolname = 'ledger_append' and pg_has_role(oid, 'set')
      and exists (select from pg_namespace n where n.nspname = 'ledger'
        and pg_get_userbyid(n.nspowner) = 'ledger_owner')"""
"""Only where the roles guard this very database: they may be there for another's sake."""

_FIRST = """select secret, current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    pg_is_in_recovery() as standby
  from ledger.subject_key where key_id = 'default'"""
_CLOSING = 5.0
_SILENT = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, TimeoutError)


@dataclass(frozen=True)
class Ledger:
    """An open ledger: its connections, the key under which content is compared, what waits."""

    pool: Connections
    secret: bytes
    together: Together = field(default_factory=Together)


def when_back(exc: BaseException, otherwise: str) -> str:
    """Say what to do about a database that cannot do what it is asked now."""
    if isinstance(exc, asyncpg.DiskFullError):
        return "make room on the disk of the ledger's database: what waits goes on by itself"
    return otherwise


def forbidden(what: str, login: str, step: str) -> LegatoError:
    """Refuse a login that lacks a right."""
    return refused("ledger_forbidden", f"the login {login} may not {what}", next=step)


def no_member(login: str) -> LegatoError:
    """Refuse a login that may not even read the ledger."""
    step = f"run `grant ledger_append to {login}` as the ledger's owner"
    return forbidden("use the ledger", login, step)


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
            next=when_back(exc, "run `legato status`; what was accepted goes on once it is back"),
        ) from None


def sqlalchemy_url(database_url: str) -> str:
    """Turn a plain `postgresql://` address into the one SQLAlchemy's asyncpg dialect reads."""
    parts = urlsplit(database_url)
    return urlunsplit(parts._replace(scheme="postgresql+asyncpg"))


async def _begin_session(connection: asyncpg.Connection[asyncpg.Record]) -> None:
    """Give up the rights that appending needs none of, and stop in no transaction for long."""
    await connection.execute(_SESSION)


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

    Raises `ledger_not_migrated` where it holds no ledger, `ledger_forbidden` where the login
    has no right to it, and `ledger_unsafe` where it could lose what it has confirmed, naming
    all that is wrong. No statement takes longer than
    ANSWERING seconds, and no connection is waited for longer than CONNECTING.
    """
    with connecting():
        pool = await asyncpg.create_pool(
            database_url,
            min_size=0,  # the pool would log each failure to keep one open while nobody asks
            max_size=most,
            init=_begin_session,
            reset=_keep_session,
            timeout=CONNECTING,
            command_timeout=ANSWERING,
        )
        try:
            found = await pool.fetchrow(_FIRST)
        except (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError):
            pool.terminate()
            raise LegatoError(
                "ledger_not_migrated",
                "the database holds no ledger of this build",
                next="run `legato up`, which makes its tables, or start a worker",
            ) from None
        except asyncpg.InsufficientPrivilegeError:
            login = str(await pool.fetchval("select session_user"))
            pool.terminate()
            raise no_member(login) from None
        except _SILENT:
            pool.terminate()
            raise
    if found is None or _wrong(found):
        pool.terminate()
        raise problems(
            "ledger_unsafe",
            "The database cannot be trusted to keep what it has confirmed",
            ["its key is missing"] if found is None else _wrong(found),
            next="correct these in the server's configuration, or name another in DATABASE_URL",
        )
    return Ledger(pool=Connections(pool), secret=bytes(found["secret"]))


def _wrong(found: asyncpg.Record) -> list[str]:
    """Name everything by which a confirmed append could be lost, or cannot be made."""
    wrong = [f"{name} is off" for name in ("fsync", "full_page_writes") if found[name] == "off"]
    if found["synchronous_commit"] in {"off", "local"}:
        wrong.append(f"synchronous_commit is {found['synchronous_commit']}")
    if found["standby"]:
        wrong.append("it is a standby or still recovering: the ledger needs the primary")
    return wrong


async def close_ledger(ledger: Ledger) -> None:
    """Close all connections, at once those that do not end in time; safe to call twice."""
    try:
        await asyncio.wait_for(ledger.pool.close(), _CLOSING)
    except (TimeoutError, asyncpg.InterfaceError, OSError):
        ledger.pool.terminate()
