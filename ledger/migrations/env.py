"""Alembic's entry: runs the revisions on the connection that `ledger.migrate` hands over."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from alembic import context

if TYPE_CHECKING:
    from sqlalchemy import Connection

connection = cast("Connection", context.config.attributes["connection"])
context.configure(connection=connection, version_table="schema_revision")
with context.begin_transaction():
    context.run_migrations()
