"""Compares the rows that are in use with those that the events give, and names what differs."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ledger.projections.tables import SCHEMA, TABLES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable

    from ledger.projections.catch_up import Connection
    from ledger.projections.tables import Table

MOST_NAMED = 20
"""So many differing rows of a table are named; all are counted."""

_PREFETCH = 500
_WHOLE = 3600.0
"""Seconds that reading a whole table may take."""


@dataclass(frozen=True)
class Difference:
    """One row that is not what the events give: its table, its key, and which columns.

    `what` is `differs`, `missing` (the events give it) or `surplus` (they do not).
    """

    table: str
    key: tuple[object, ...]
    what: str
    columns: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = ", ".join(str(part) for part in self.key)
        which = f" in {', '.join(self.columns)}" if self.columns else ""
        return f"{self.table} ({where}) {self.what}{which}"


@dataclass
class Differences:
    """What differs: the first rows by name, all by count."""

    named: list[Difference]
    count: int = 0

    def add(self, found: Iterable[Difference]) -> None:
        """Count differences and name the first of each table."""
        for one in found:
            self.count += 1
            if sum(one.table == named.table for named in self.named) < MOST_NAMED:
                self.named.append(one)


def differing(table: Table, stands: Any, wanted: Any) -> Difference | None:  # noqa: ANN401 - rows of any table
    """Compare two rows of one key, each a sequence of its columns."""
    if stands == wanted:
        return None
    wrong = [
        one.name
        for one, left, right in zip(fields(table.row), stands, wanted, strict=True)
        if left != right and not (one.type == "JsonText" and _same_json(left, right))
    ]
    if not wrong:
        return None
    return Difference(table.name, tuple(wanted[: table.keys]), "differs", tuple(wrong))


def _same_json(left: object, right: object) -> bool:
    return bool(json.loads(str(left)) == json.loads(str(right)))


async def compare_schemas(in_use: Connection, other: Connection, schema: str) -> Differences:
    """Compare the tables in use with those of another schema, each through its connection.

    Both are inside of a transaction. Tables with the same sum over their rows are not read.
    """
    found = Differences([])
    for table in TABLES:
        if await _sum(in_use, SCHEMA, table) != await _sum(other, schema, table):
            async for one in _merged(
                table, _rows(in_use, SCHEMA, table), _rows(other, schema, table)
            ):
                found.add([one])
    return found


async def _sum(connection: Connection, schema: str, table: Table) -> tuple[int, int]:
    row = await connection.fetchrow(
        f"select count(*), coalesce(sum(hashtextextended(t::text, 0)::numeric), 0)"
        f" from {schema}.{table.name} t",
        timeout=_WHOLE,
    )
    return (0, 0) if row is None else (row[0], int(row[1]))


async def _rows(
    connection: Connection, schema: str, table: Table
) -> AsyncIterator[tuple[object, ...]]:
    """Read a table in the order of its key."""
    statement = (
        f"select {table.selected('t')} from {schema}.{table.name} t order by {', '.join(table.key)}"
    )
    async for row in connection.cursor(statement, prefetch=_PREFETCH, timeout=_WHOLE):
        yield tuple(row)


async def _merged(
    table: Table, stands: AsyncIterator[tuple[Any, ...]], wanted: AsyncIterator[tuple[Any, ...]]
) -> AsyncIterator[Difference]:
    """Walk two tables in the order of their key, and give what differs."""
    left, right = await anext(stands, None), await anext(wanted, None)
    while left is not None or right is not None:
        left_key = None if left is None else left[: table.keys]
        right_key = None if right is None else right[: table.keys]
        if right_key is None or (left_key is not None and left_key < right_key):
            yield Difference(table.name, left_key or (), "surplus")
            left = await anext(stands, None)
        elif left_key is None or right_key < left_key:
            yield Difference(table.name, right_key, "missing")
            right = await anext(wanted, None)
        else:
            one = differing(table, left, right)
            if one is not None:
                yield one
            left, right = await anext(stands, None), await anext(wanted, None)
