"""Runs the schema's missing revisions; only who needs them loads what runs them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

import asyncpg
from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from ledger.connect import forbidden, sqlalchemy_url

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LOCK = 0x1E6A70


def _upgrade(connection: Connection) -> None:
    """Take the migration lock until commit, then run what is missing."""
    connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    config = Config()
    config.set_main_option("script_location", str(files("ledger").joinpath("migrations")))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


async def upgrade(database_url: str) -> None:
    """Create or upgrade the schema `ledger`; safe to call at once from several processes.

    Raises `ledger_forbidden` where the login may not.
    """
    engine = create_async_engine(sqlalchemy_url(database_url), poolclass=NullPool)
    try:
        async with engine.connect() as connection:
            asked = await connection.execute(text("select session_user, current_database()"))
            login, database = asked.one()
            try:
                await connection.run_sync(_upgrade)
                await connection.commit()
            except (DBAPIError, asyncpg.InsufficientPrivilegeError) as exc:
                if not _is_forbidden(exc):
                    raise
                step = f"run `alter database {database} owner to {login}`, or name its owner"
                raise forbidden("make the ledger's tables", login, step) from None
    finally:
        await engine.dispose()


def _is_forbidden(exc: BaseException | None) -> bool:
    """Tell whether a missing right is behind an error."""
    while exc is not None:
        if isinstance(exc, asyncpg.InsufficientPrivilegeError):
            return True
        exc = exc.__cause__ or exc.__context__
    return False
