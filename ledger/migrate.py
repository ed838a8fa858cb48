"""Brings a database to this build's schema, once, whoever asks first."""

from __future__ import annotations

from importlib.resources import files

import asyncpg

from domain.errors import refused
from ledger.connect import ANSWERING, CONNECTING, connecting, no_member


def revisions() -> tuple[str, ...]:
    """Name this build's revisions, the oldest first: a file each, numbered."""
    folder = files("ledger").joinpath("migrations", "versions")
    names = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name[:-3] for name in names if name[:1].isdigit() and name[-3:] == ".py"))


async def revision_of(database_url: str) -> str:
    """Read which revision a database is at, "" where it holds no ledger.

    Raises `ledger_unreachable`, and `ledger_forbidden` where the login may not read it.
    """
    with connecting():
        connection = await asyncpg.connect(
            database_url, timeout=CONNECTING, command_timeout=ANSWERING
        )
        try:
            found = await connection.fetchval("select version_num from schema_revision")
        except asyncpg.UndefinedTableError:
            return ""
        except asyncpg.InsufficientPrivilegeError:
            raise no_member(str(await connection.fetchval("select session_user"))) from None
        finally:
            await connection.close(timeout=CONNECTING)
    return str(found or "")


async def migrate(database_url: str) -> None:
    """Create or upgrade the schema `ledger`; safe to call at once from several processes.

    A database that is where this build wants it costs one query. Raises
    `ledger_unreachable`, `ledger_newer` where a later build has been here, and
    `ledger_forbidden` where the login may not make the tables.
    """
    at, known = await revision_of(database_url), revisions()
    if at == known[-1]:
        return
    if at and at not in known:
        raise refused(
            "ledger_newer",
            f"the database's schema is at {at}, which this build does not know",
            cause=f"this build ends at {known[-1]}: a later one has been here",
            next="run the later build, or name another database in DATABASE_URL",
        )
    from ledger.upgrade import upgrade  # noqa: PLC0415 - loading it takes seconds, seldom needed

    await upgrade(database_url)
