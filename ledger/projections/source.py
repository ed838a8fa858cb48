"""What rows and feed are read through: a ledger's connections, or one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import asyncpg


class Source(Protocol):
    """Runs statements; one connection where what is read must be of one moment."""

    async def fetch(self, query: str, *args: Any) -> list[asyncpg.Record]:  # noqa: ANN401 - the driver's own
        """Run a statement and give its rows."""
        ...

    async def fetchrow(self, query: str, *args: Any) -> asyncpg.Record | None:  # noqa: ANN401 - the driver's own
        """Run a statement and give its first row."""
        ...

    async def fetchval(self, query: str, *args: Any) -> Any:  # noqa: ANN401 - the column's type
        """Run a statement and give the first column of its first row."""
        ...
