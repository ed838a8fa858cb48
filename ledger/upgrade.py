"""Runs the schema's missing revisions; only who needs them loads what runs them."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from ledger.connect import sqlalchemy_url

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
    """Create or upgrade the schema `ledger`; safe to call at once from several processes."""
    engine = create_async_engine(sqlalchemy_url(database_url), poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            await connection.run_sync(_upgrade)
    finally:
        await engine.dispose()
