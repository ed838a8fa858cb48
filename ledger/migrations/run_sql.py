"""Runs one SQL file of many statements inside a revision."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Protocol, cast

from alembic import op
from sqlalchemy.util import await_only

if TYPE_CHECKING:
    from collections.abc import Coroutine


class _Driver(Protocol):
    """asyncpg's own connection: many statements in one simple query."""

    def execute(self, query: str) -> Coroutine[None, None, str]: ...


def run_sql(name: str) -> None:
    """Run `migrations/sql/<name>` whole, in the revision's transaction."""
    text = files("ledger").joinpath("migrations", "sql", name).read_text(encoding="utf-8")
    adapted = op.get_bind().connection
    driver = cast("_Driver", adapted.driver_connection)
    await_only(driver.execute(text))
